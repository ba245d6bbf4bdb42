#include "gui/views/chart_axes.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(ChartAxes, TicksAreRound) { EXPECT_THAT(roundTicks({0, 10}, 5), testing::ElementsAre(0, 2, 4, 6, 8, 10)); }

TEST(ChartAxes, TicksOfNothing) {
  EXPECT_TRUE(roundTicks({1, 1}, 5).empty());
  EXPECT_FALSE(roundTicks(padded({1, 1}), 5).empty());
}

TEST(ChartAxes, PaddingDoesNotCrossZero) { EXPECT_GE(padded({0, 10}).least, 0); }

TEST(ChartAxes, ValuesFallIntoThePlot) {
  const ChartArea chart{QRectF(10, 20, 100, 200), {0, 1}, {0, 2}};
  EXPECT_EQ(chart.at({0, 0}), QPointF(10, 220));
  EXPECT_EQ(chart.at({1, 2}), QPointF(110, 20));
}

TEST(ChartAxes, PlotLeavesRoomForLabels) {
  QImage image(400, 300, QImage::Format_RGB32);
  QPainter painter(&image);
  const auto label = [](double value) { return QString::number(value); };
  const ChartArea chart = paintAxes(painter, QRectF(0, 0, 400, 300), {{"x", {0, 1}, label}, {"y", {0, 1}, label}}, themeOf(QPalette()));
  EXPECT_GT(chart.plot.left(), 50);
  EXPECT_LT(chart.plot.bottom(), 270);
}

}  // namespace
}  // namespace gui
