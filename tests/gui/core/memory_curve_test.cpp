#include "gui/core/memory_curve.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

using sim::SimTime;

sim::MemorySample sample(std::int32_t device, std::int64_t time, std::int64_t activations) {
  sim::MemorySample made{sim::DeviceId(device), SimTime(time), {}};
  made.alive[static_cast<std::size_t>(sim::MemoryCategory::Activations)] = sim::Bytes(activations);
  return made;
}

MemoryCurve exampleCurve() {
  sim::Timeline timeline;
  timeline.memory = {sample(0, 0, 10), sample(0, 100, 50), sample(0, 110, 20), sample(1, 0, 99)};
  return {timeline, sim::DeviceId(0)};
}

TEST(MemoryCurve, HoldsOneDevice) {
  EXPECT_EQ(exampleCurve().peak().memory, sim::Bytes(50));
  EXPECT_EQ(exampleCurve().peak().time, SimTime(100));
  EXPECT_TRUE(MemoryCurve().empty());
}

TEST(MemoryCurve, LastsUntilTheNextSample) {
  EXPECT_EQ(sim::total(exampleCurve().at(SimTime(99))), sim::Bytes(10));
  EXPECT_EQ(sim::total(exampleCurve().at(SimTime(100))), sim::Bytes(50));
  EXPECT_EQ(sim::total(exampleCurve().at(SimTime(5000))), sim::Bytes(20));
}

TEST(MemoryCurve, AShortPeakIsNotLostBetweenPixels) {
  EXPECT_EQ(sim::total(exampleCurve().highest({SimTime(0), SimTime(1000)})), sim::Bytes(50));
  EXPECT_EQ(sim::total(exampleCurve().highest({SimTime(105), SimTime(108)})), sim::Bytes(50));
  EXPECT_EQ(sim::total(exampleCurve().highest({SimTime(200), SimTime(300)})), sim::Bytes(20));
}

}  // namespace
}  // namespace gui
