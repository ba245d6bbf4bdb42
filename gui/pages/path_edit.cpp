#include "gui/pages/path_edit.h"

#include <QDir>
#include <QPainter>
#include <QStyleOptionFrame>

namespace gui {

QString pathFromHere(const QString& path) {
  const QString here = QDir::currentPath() + '/';
  return path.startsWith(here) && path.size() > here.size() && here.size() > 1 ? path.mid(here.size()) : path;
}

QString shortenedPath(const QString& path, const QFontMetrics& metrics, int width) {
  if (metrics.horizontalAdvance(path) <= width) return path;
  for (auto slash = path.indexOf('/', 1); slash >= 0; slash = path.indexOf('/', slash + 1))
    if (const QString end = QStringLiteral("…") + path.mid(slash); metrics.horizontalAdvance(end) <= width) return end;
  return metrics.elidedText(path.section('/', -1), Qt::ElideMiddle, width);
}

PathEdit::PathEdit(QWidget* parent) : QLineEdit(parent) {
  connect(this, &QLineEdit::textChanged, this, [this](const QString& path) { setToolTip(path); });
}

void PathEdit::paintEvent(QPaintEvent* event) {
  constexpr int kMargin = 2;  // of the text, as QLineEdit has it
  QStyleOptionFrame frame;
  initStyleOption(&frame);
  const QRect inside = style()->subElementRect(QStyle::SE_LineEditContents, &frame, this).adjusted(kMargin, 0, -kMargin, 0);
  const QString shown = shortenedPath(pathFromHere(text()), fontMetrics(), inside.width());
  if (hasFocus() || shown == text()) return QLineEdit::paintEvent(event);
  QPainter painter(this);
  style()->drawPrimitive(QStyle::PE_PanelLineEdit, &frame, &painter, this);
  painter.setPen(palette().color(isEnabled() ? QPalette::Active : QPalette::Disabled, QPalette::Text));
  painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, shown);
}

}  // namespace gui
