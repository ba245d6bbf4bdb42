#include "gui/pages/message_bar.h"

#include <QApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>

#include "gui/pages/actions.h"

namespace gui {

MessageBar::MessageBar(QWidget* parent) : QFrame(parent), text_(new QLabel(this)), close_(new QToolButton(this)) {
  setObjectName(QStringLiteral("message"));
  paintFor(QApplication::palette());
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::RichText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  close_->setText(tr("Close"));
  close_->setToolTip(tr("Close this message (Shift+Esc)"));
  auto* line = new QHBoxLayout(this);
  line->setContentsMargins(14, 8, 8, 8);
  line->addWidget(text_, 1);
  line->addWidget(close_, 0, Qt::AlignTop);
  connect(close_, &QToolButton::clicked, this, &QWidget::hide);
  hide();
}

void MessageBar::paintFor(const QPalette& palette) {
  const bool dark = palette.color(QPalette::Window).lightness() < 128;
  if (dark_ == dark) return;
  dark_ = dark;
  setStyleSheet(
      dark ? QStringLiteral("#message { background: #4e1d1b; border-bottom: 1px solid #b3403a; } #message QLabel { color: #ffe3e0; }")
           : QStringLiteral("#message { background: #fdecea; border-bottom: 1px solid #f2b8b5; } #message QLabel { color: #601410; }"));
}

void MessageBar::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) paintFor(QApplication::palette());
}

void MessageBar::tell(const Message& message) {
  QString html = QStringLiteral("<b>%1</b>").arg(message.problem.toHtmlEscaped());
  if (!message.remedy.isEmpty()) html += QStringLiteral("<br>%1 %2").arg(tr("What helps:"), message.remedy.toHtmlEscaped());
  text_->setText(html);
  show();
}

QString MessageBar::text() const { return isHidden() ? QString() : text_->text(); }

void MessageBar::addActions(Actions& actions) {
  actions.add({tr("&View"), tr("&Close the message"), tr("Shift+Esc")}, [this] { hide(); });
}

}  // namespace gui
