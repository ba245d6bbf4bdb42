#include "gui/views/line_view.h"

#include <algorithm>

namespace gui {

void LineView::setPoints(std::vector<QPointF> points) {
  points_ = std::move(points);
  update();
}

void LineView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  Extent x{0, 1}, y{0, 1};
  if (!points_.empty()) {
    const auto [low, high] =
        std::minmax_element(points_.begin(), points_.end(), [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); });
    x = {points_.front().x(), std::max(points_.back().x(), points_.front().x() + 1)};
    y = padded({low->y(), high->y()});
  }
  const auto number = [](double value) { return QStringLiteral("%L1").arg(value, 0, 'g', 5); };
  const ChartArea chart = paintAxes(painter, QRectF(QPointF(0, 0), size), {{tr("Step"), x, number}, {title_, y, number}}, theme);
  if (points_.empty()) {
    painter.drawText(chart.plot, Qt::AlignCenter, tr("Waiting for the first step"));
    return;
  }
  QPolygonF line;
  for (const QPointF& point : points_) line << chart.at(point);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.accent, 2));
  painter.drawPolyline(line);
  painter.setBrush(theme.accent);
  painter.drawEllipse(line.back(), 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.drawText(QRectF(size.width() - 220, 6, 200, 18), Qt::AlignRight | Qt::AlignVCenter, number(points_.back().y()));
}

}  // namespace gui
