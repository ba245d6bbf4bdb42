#include "gui/core/busy_time.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

SliceRow row(const char* device, SliceColumns slices, bool opens) {
  return {.device = device, .opens_device = opens, .slices = std::make_shared<SliceColumns>(std::move(slices))};
}

// compute       |0 ------- 40|      |60 - 70|
// communication       |30 --- 50|                    of 100
TEST(BusyTime, OverlapIsCountedOnceAndHostsAreLeftOut) {
  const TimelineCore core({row("python", {{0}, {90}, {WorkKind::Host}, {0}}, true),
                           row("GPU", {{0, 20, 60}, {20, 40, 70}, {WorkKind::Product, WorkKind::Norm, WorkKind::Kernel}, {1, 2, 3}}, true),
                           row("GPU", {{30}, {50}, {WorkKind::Data}, {4}}, false)});
  const std::vector<BusyTime> all = busyTimes(core, {sim::SimTime(0), sim::SimTime(100)});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].device, "GPU");
  EXPECT_EQ(all[0].computing, sim::SimTime(50));
  EXPECT_EQ(all[0].communicating, sim::SimTime(20));
  EXPECT_EQ(all[0].both, sim::SimTime(10));
  EXPECT_EQ(all[0].idle, sim::SimTime(40));
  const std::vector<BusyTime> part = busyTimes(core, {sim::SimTime(35), sim::SimTime(65)});
  EXPECT_EQ(part[0].both, sim::SimTime(5));
  EXPECT_EQ(part[0].idle, sim::SimTime(10));
}

}  // namespace
}  // namespace gui
