#include "gui/views/line_view.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(LineView, PaintsNoneOneAndManyPoints) {
  LineView view("Loss");
  view.resize(400, 300);
  const QImage none = view.grab().toImage();
  view.setPoints({{1, 2.5}});
  const QImage one = view.grab().toImage();
  view.setPoints({{1, 2.5}, {2, 2.0}, {3, 1.5}});
  EXPECT_NE(none, one);
  EXPECT_NE(one, view.grab().toImage());
  EXPECT_EQ(view.numPoints(), 3u);
}

TEST(LineView, WhatIsPredictedStandsInIt) {
  LineView view("Tokens/s");
  view.resize(400, 300);
  view.setPoints({{1, 100}, {2, 110}});
  const QImage without = view.grab().toImage();
  view.setExpected(500);
  EXPECT_NE(without, view.grab().toImage());
  EXPECT_TRUE(view.current().endsWith("predicted 500")) << view.current().toStdString();
}

}  // namespace
}  // namespace gui
