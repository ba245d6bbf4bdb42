#include "gui/views/view.h"

#include <QAccessible>
#include <QElapsedTimer>
#include <QLoggingCategory>
#include <QPainter>

#include "gui/views/theme.h"

namespace gui {
namespace {

Q_LOGGING_CATEGORY(kFrames, "meshwright.frames", QtWarningMsg)

void paintFrameTime(QPainter& painter, const QWidget& view, qint64 nanoseconds) {
  const Theme theme = themeOf(view.palette());
  const QString text = QStringLiteral("%1 ms").arg(static_cast<double>(nanoseconds) / 1e6, 0, 'f', 1);
  const QRect area(4, view.height() - 22, 64, 18);
  painter.setClipping(false);
  painter.fillRect(area, theme.band);
  painter.setPen(theme.text);
  painter.drawText(area, Qt::AlignCenter, text);
  qCDebug(kFrames).noquote() << view.accessibleName() << text;
}

void paintFocusRing(QPainter& painter, const QWidget& view) {
  painter.setClipping(false);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.setPen(QPen(themeOf(view.palette()).accent, 2));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(view.rect().adjusted(1, 1, -1, -1));
}

}  // namespace

View::View(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void View::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  QElapsedTimer time;
  time.start();
  paintPicture(painter, size());
  if (hasFocus()) paintFocusRing(painter, *this);
  if (kFrames().isDebugEnabled()) paintFrameTime(painter, *this, time.nsecsElapsed());
}

void View::tellCurrent() {
  QAccessibleEvent chosen(this, QAccessible::Focus);
  if (!current().isEmpty()) chosen.setChild(0);
  QAccessible::updateAccessibility(&chosen);
  QAccessibleValueChangeEvent value(this, current());
  QAccessible::updateAccessibility(&value);
}

}  // namespace gui
