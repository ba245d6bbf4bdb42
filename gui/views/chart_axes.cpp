#include "gui/views/chart_axes.h"

#include <algorithm>
#include <cmath>

namespace gui {
namespace {

constexpr double kLeft = 78, kBottom = 46, kTop = 34, kRight = 18;

void paintTitles(QPainter& painter, const QRectF& area, const Axes& axes, const Theme& theme) {
  painter.setPen(theme.faint);
  painter.drawText(QRectF(area.left() + kLeft, area.bottom() - 20, area.width() - kLeft - kRight, 18), Qt::AlignCenter, axes.x.title);
  painter.drawText(QRectF(area.left() + 8, area.top() + 6, area.width() - 16, 18), Qt::AlignLeft | Qt::AlignVCenter, axes.y.title);
}

}  // namespace

Extent padded(Extent extent) {
  const double room = std::max(extent.length() * 0.06, std::abs(extent.most) * 0.01 + 1e-12);
  return {std::max(extent.least >= 0 ? 0.0 : -1e300, extent.least - room), extent.most + room};
}

// One tick is no scale: then more than were asked for.
std::vector<double> roundTicks(Extent extent, int about) {
  constexpr std::size_t kFewest = 3;
  const double raw = extent.length() / std::max(about, 1);
  if (!(raw > 0) || !std::isfinite(raw)) return {};
  const double power = std::pow(10, std::floor(std::log10(raw)));
  const double step = raw / power > 5 ? power * 10 : raw / power > 2 ? power * 5 : raw / power > 1 ? power * 2 : power;
  std::vector<double> ticks;
  for (double at = std::ceil(extent.least / step - 1e-9) * step; at <= extent.most + step * 1e-9; at += step) ticks.push_back(at);
  return ticks.size() < kFewest && about < 2 * static_cast<int>(kFewest) ? roundTicks(extent, about + 1) : ticks;
}

namespace {

std::vector<double> ticksOf(const Axis& axis, int about) { return axis.ticks.empty() ? roundTicks(axis.extent, about) : axis.ticks; }

}  // namespace

// 1, 2 and 5 times a power of ten; where these are few, the values between round ones.
Axis logarithmic(Axis axis) {
  constexpr std::size_t kFewest = 3;
  const Extent values{std::pow(10, axis.extent.least), std::pow(10, axis.extent.most)};
  for (double power = std::floor(axis.extent.least); power <= axis.extent.most; ++power)
    for (const double factor : {1.0, 2.0, 5.0})
      if (const double tick = power + std::log10(factor); tick >= axis.extent.least && tick <= axis.extent.most) axis.ticks.push_back(tick);
  if (axis.ticks.size() < kFewest) {
    axis.ticks.clear();
    for (const double value : roundTicks(values, 5))
      if (value > 0) axis.ticks.push_back(std::log10(value));
  }
  axis.label = [label = std::move(axis.label)](double power) { return label(std::pow(10, power)); };
  return axis;
}

QPointF ChartArea::at(const QPointF& value) const {
  return {plot.left() + (value.x() - x.least) / x.length() * plot.width(),
          plot.bottom() - (value.y() - y.least) / y.length() * plot.height()};
}

void paintVerticalScale(QPainter& painter, const QRectF& plot, const Axis& axis, const Theme& theme) {
  for (const double tick : ticksOf(axis, static_cast<int>(plot.height() / 48))) {
    const double y = plot.bottom() - (tick - axis.extent.least) / axis.extent.length() * plot.height();
    painter.setPen(theme.grid);
    painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    painter.setPen(theme.faint);
    painter.drawText(QRectF(plot.left() - 200, y - 9, 193, 18), Qt::AlignRight | Qt::AlignVCenter, axis.label(tick));
  }
}

ChartArea paintAxes(QPainter& painter, const QRectF& area, const Axes& axes, const Theme& theme) {
  painter.fillRect(area, theme.background);
  const ChartArea chart{area.adjusted(kLeft, kTop, -kRight, -kBottom), axes.x.extent, axes.y.extent};
  paintVerticalScale(painter, chart.plot, axes.y, theme);
  double free = area.left();  // where the label before ends
  for (const double tick : ticksOf(axes.x, static_cast<int>(chart.plot.width() / 90))) {
    const double x = chart.at({tick, 0}).x(), half = painter.fontMetrics().horizontalAdvance(axes.x.label(tick)) / 2.0;
    painter.setPen(theme.grid);
    painter.drawLine(QPointF(x, chart.plot.top()), QPointF(x, chart.plot.bottom()));
    painter.setPen(theme.faint);
    const double middle = std::min(x, area.right() - half - 1);
    if (middle - half < free + 6) continue;
    painter.drawText(QRectF(middle - half - 1, chart.plot.bottom() + 5, 2 * half + 2, 18), Qt::AlignCenter, axes.x.label(tick));
    free = middle + half;
  }
  painter.setPen(theme.faint);
  painter.drawLine(chart.plot.bottomLeft(), chart.plot.bottomRight());
  paintTitles(painter, area, axes, theme);
  return chart;
}

namespace {

// Calls `place` with each entry's left edge and line.
template <class Place>
int placeEntries(const QFontMetricsF& metrics, double width, const std::vector<LegendEntry>& entries, Place&& place) {
  constexpr double kBox = 17, kBetween = 27;
  double x = 0;
  int line = 0;
  for (const LegendEntry& entry : entries) {
    const double own = metrics.horizontalAdvance(entry.name);
    if (x > 0 && x + kBox + own > width) {
      x = 0;
      ++line;
    }
    place(entry, x, line);
    x += own + kBetween;
  }
  return line + 1;
}

}  // namespace

int legendLines(const QFontMetricsF& metrics, double width, const std::vector<LegendEntry>& entries) {
  return placeEntries(metrics, width, entries, [](const LegendEntry&, double, int) {});
}

void paintLegend(QPainter& painter, const QRectF& room, const std::vector<LegendEntry>& entries, const Theme& theme) {
  const QFontMetricsF metrics(painter.font(), painter.device());
  placeEntries(metrics, room.width(), entries, [&](const LegendEntry& entry, double x, int line) {
    const QPointF at = room.topLeft() + QPointF(x, line * kLegendLine);
    const QRectF box(at + QPointF(0, 3), QSizeF(12, 12));
    painter.fillRect(box, entry.color);
    if (entry.pattern.style() != Qt::NoBrush) painter.fillRect(box, entry.pattern);
    painter.setPen(theme.text);
    painter.drawText(QRectF(at + QPointF(17, 0), QSizeF(metrics.horizontalAdvance(entry.name) + 4, 18)), Qt::AlignLeft | Qt::AlignVCenter,
                     entry.name);
  });
}

}  // namespace gui
