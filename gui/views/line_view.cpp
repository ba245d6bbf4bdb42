#include "gui/views/line_view.h"

#include <algorithm>

namespace gui {
namespace {

QString numberText(double value) { return QStringLiteral("%L1").arg(value, 0, 'g', 5); }

}  // namespace

void LineView::setPoints(std::vector<QPointF> points) {
  points_ = std::move(points);
  update();
}

void LineView::setExpected(std::optional<double> value) {
  expected_ = value;
  update();
}

QString LineView::current() const {
  if (points_.empty()) return {};
  const QString now = tr("%1 after step %2").arg(numberText(points_.back().y()), numberText(points_.back().x()));
  return expected_ ? now + QStringLiteral(", ") + tr("predicted %1").arg(numberText(*expected_)) : now;
}

void LineView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  if (points_.empty()) {  // no axes: there is nothing yet that they could measure
    painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
    painter.setPen(theme.faint);
    painter.drawText(QRectF(8, 6, size.width() - 16, 18), Qt::AlignLeft | Qt::AlignVCenter, title_);
    painter.drawText(QRect(QPoint(0, 0), size), Qt::AlignCenter | Qt::TextWordWrap, tr("A point a step"));
    return;
  }
  const auto [low, high] =
      std::minmax_element(points_.begin(), points_.end(), [](const QPointF& a, const QPointF& b) { return a.y() < b.y(); });
  const Extent x{points_.front().x(), std::max(points_.back().x(), points_.front().x() + 1)},
      y = padded({std::min(low->y(), expected_.value_or(low->y())), std::max(high->y(), expected_.value_or(high->y()))});
  const ChartArea chart = paintAxes(painter, QRectF(QPointF(0, 0), size), {{tr("Step"), x, numberText}, {title_, y, numberText}}, theme);
  if (expected_) {
    const double at = chart.at({x.least, *expected_}).y();
    painter.setPen(QPen(theme.warning, 1.5, Qt::DashLine));
    painter.drawLine(QPointF(chart.plot.left(), at), QPointF(chart.plot.right(), at));
    const double below = at < chart.plot.top() + 20 ? at + 1 : at - 19;
    painter.drawText(QRectF(chart.plot.left() + 4, below, chart.plot.width() - 8, 18), Qt::AlignLeft,
                     tr("predicted %1").arg(numberText(*expected_)));
  }
  QPolygonF line;
  for (const QPointF& point : points_) line << chart.at(point);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.accent, 2));
  painter.drawPolyline(line);
  painter.setBrush(theme.accent);
  painter.drawEllipse(line.back(), 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  painter.drawText(QRectF(size.width() - 220, 6, 200, 18), Qt::AlignRight | Qt::AlignVCenter, numberText(points_.back().y()));
}

}  // namespace gui
