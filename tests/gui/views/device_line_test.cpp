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

TEST(DeviceLine, OfSeveralItIsTheMean) {
  const SharedPlan plan = test::exampleSimulation();
  const TimelineCore core(plan->result.timeline);
  const std::vector<DeviceRows> devices = rowsByDevice(core);
  const TimeAxis axis(core.range(), {500});
  DeviceLines lines(
      core, axis, [&](const SliceRow&, const gui::Run&) { return 0xff808080; }, 0xff000000);
  const std::vector<std::uint32_t> first = lines.line(devices[0]), second = lines.line(devices[1]);
  const DeviceRows* const both[] = {&devices[0], &devices[1]};
  const DeviceRows* const twice[] = {&devices[0], &devices[0]};
  EXPECT_EQ(lines.mean(twice), first);
  const std::vector<std::uint32_t> mean = lines.mean(both);
  int half = 0;
  for (std::size_t x = 0; x < mean.size(); ++x) {
    EXPECT_EQ(mean[x] & 255, ((first[x] & 255) + (second[x] & 255)) / 2) << x;
    half += (mean[x] & 255) == 0x40;
  }
  EXPECT_GT(half, 0) << "one of them is idle where the other works";
}

}  // namespace
}  // namespace gui
