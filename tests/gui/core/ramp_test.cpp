#include "gui/core/ramp.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

int brightness(Rgb color) { return static_cast<int>((color.value >> 16 & 255) + (color.value >> 8 & 255) + (color.value & 255)); }

TEST(Ramp, GrowsDarkerAllTheWay) {
  for (int at = 1; at <= 100; ++at) EXPECT_LT(brightness(rampColor(at / 100.0)), brightness(rampColor((at - 1) / 100.0))) << at;
}

TEST(Ramp, StopsAtItsEnds) {
  EXPECT_EQ(rampColor(-1).value, rampColor(0).value);
  EXPECT_EQ(rampColor(7).value, 0xff662506u);
}

}  // namespace
}  // namespace gui
