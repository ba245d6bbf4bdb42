#include "gui/views/duration_view.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

TEST(DurationView, PaintsItsBarsAndSaysTheFullest) {
  DurationView view;
  view.resize(400, 200);
  const QImage none = view.grab().toImage();
  view.setBins({{sim::SimTime(1'000'000), sim::SimTime(2'000'000), 3}, {sim::SimTime(2'000'000), sim::SimTime(4'000'000), 40}}, "gemm");
  EXPECT_NE(none, view.grab().toImage());
  EXPECT_TRUE(view.current().startsWith("gemm: most of them 2.00")) << view.current().toStdString();
  EXPECT_TRUE(view.current().endsWith("(40)"));
  view.setBins({}, {});
  EXPECT_EQ(view.current(), "");
}

}  // namespace
}  // namespace gui
