#include "gui/views/device_line.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(DeviceLine, WhatIsComputedLiesOverWhatIsSent) {
  const SharedPlan plan = test::exampleSimulation();
  const TimelineCore core(plan->result.timeline);
  const std::vector<DeviceRows> devices = rowsByDevice(core);
  ASSERT_EQ(devices.size(), 2u);
  ASSERT_GT(devices[0].size(), 1u);
  const TimeAxis axis(core.range(), {500});
  int drawn = 0;
  DeviceLines lines(
      core, axis, [&](const SliceRow& row, const gui::Run&) { return ++drawn, row.opens_device ? 1u : 2u; }, 0);
  const std::vector<std::uint32_t> line = lines.line(devices[0]);
  ASSERT_EQ(line.size(), 500u);
  core.visit(devices[0].front(), axis, [&](const gui::Run& run) {
    for (std::int32_t x = run.left; x < run.right; ++x) EXPECT_EQ(line[static_cast<std::size_t>(x)], 1u);
  });
  EXPECT_THAT(line, testing::Contains(2u));
  const int before = std::exchange(drawn, 0);
  EXPECT_GT(before, 0);
  lines.line(devices[0]);
  EXPECT_EQ(drawn, 0) << "a device that does the same is drawn once";
}

}  // namespace
}  // namespace gui
