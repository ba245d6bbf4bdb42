#include "gui/views/timeline_overlays.h"

#include <QPainterPath>
#include <algorithm>

namespace gui {

void paintCounter(QPainter& painter, const QRect& area, const Counter& counter, const TimeAxis& axis, const Theme& theme) {
  painter.fillRect(area, theme.band);
  if (counter.most <= 0) return;
  QColor fill = theme.accent;
  fill.setAlpha(110);
  const int width = std::min(area.width(), axis.width().value);
  for (int x = 0; x < width;) {  // equal heights beside each other are one rectangle
    const auto tall = [&](int at) {
      const double value = counter.highest({axis.toTime(at), axis.toTime(at + 1)});
      return static_cast<int>(value / counter.most * area.height() + 0.5);
    };
    const int height = tall(x);
    int right = x + 1;
    while (right < width && tall(right) == height) ++right;
    if (height > 0) painter.fillRect(QRect(area.left() + x, area.bottom() + 1 - height, right - x, height), fill);
    x = right;
  }
}

void paintArrow(QPainter& painter, const QLineF& from_to, const QColor& color) {
  constexpr double kHead = 5;
  const double bend = std::max(12.0, std::abs(from_to.dx()) / 2);
  QPainterPath path(from_to.p1());
  path.cubicTo(from_to.p1() + QPointF(bend, 0), from_to.p2() - QPointF(bend, 0), from_to.p2());
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, 1.2));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
  painter.setBrush(color);
  const QPointF tip = from_to.p2();
  painter.drawPolygon(QPolygonF({tip, tip + QPointF(-kHead, -kHead / 2), tip + QPointF(-kHead, kHead / 2)}));
  painter.setRenderHint(QPainter::Antialiasing, false);
}

}  // namespace gui
