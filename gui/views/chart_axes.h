// Two axes with round ticks and a grid, and the way from values to pixels.
#pragma once

#include <QPainter>
#include <QString>
#include <functional>
#include <vector>

#include "gui/views/theme.h"

namespace gui {

struct Extent {
  double least = 0, most = 1;
  double length() const { return most - least; }
};
Extent padded(Extent extent);                              // a little room; never empty
std::vector<double> roundTicks(Extent extent, int about);  // multiples of 1, 2 or 5 times a power of ten

struct Axis {
  QString title;
  Extent extent;
  std::function<QString(double)> label;
  std::vector<double> ticks{};  // empty: round ones
};

struct ChartArea {
  QRectF plot;
  Extent x, y;
  QPointF at(const QPointF& value) const;
};
// Paints background, grid, labels and titles; returns where the data goes.
struct Axes {
  Axis x, y;
};
Axis logarithmic(Axis axis);  // of powers of ten: values in place of their logarithms are for `label` alone
ChartArea paintAxes(QPainter& painter, const QRectF& area, const Axes& axes, const Theme& theme);
void paintVerticalScale(QPainter& painter, const QRectF& plot, const Axis& axis, const Theme& theme);

struct LegendEntry {
  QString name;
  QColor color;
  QBrush pattern = Qt::NoBrush;
};
inline constexpr int kLegendLine = 20;
// On as many lines as the room is wide for; what lies below the first may be painted over the room's lower edge.
void paintLegend(QPainter& painter, const QRectF& room, const std::vector<LegendEntry>& entries, const Theme& theme);
int legendLines(const QFontMetricsF& metrics, double width, const std::vector<LegendEntry>& entries);

}  // namespace gui
