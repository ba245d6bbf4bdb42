#include "gui/pages/memory_page.h"

#include <gmock/gmock.h>

#include "gui/pages/memory_source.h"
#include "gui/pages/table_panel.h"
#include "gui/views/memory_view.h"
#include "tests/cli/simulated_run.h"
#include "tests/gui/example_plans.h"
#include "tests/gui/idle.h"

namespace gui {
namespace {

TEST(MemoryPage, BeginsAtThePeakOfTheFirstDevice) {
  MemoryPage page;
  const SharedPlan simulated = test::exampleSimulation();
  page.setPlan(simulated);
  EXPECT_EQ(page.devices()->count(), 2);
  ASSERT_TRUE(test::waitUntilIdle(page));
  sim::Bytes sum{};
  for (const auto& row : page.alive()->table().rows) sum += sim::Bytes(row[2].sort.toLongLong());
  EXPECT_EQ(sum, simulated->result.devices[0].peak_memory);
}

// The same memory, by layer and kind of tensor: at the peak it is the peak.
TEST(MemoryPage, ByLayerItIsTheSameMemory) {
  MemoryPage page;
  const SharedPlan simulated = test::exampleSimulation();
  page.setPlan(simulated);
  page.order()->setCurrentIndex(1);
  ASSERT_TRUE(test::waitUntilIdle(page));
  sim::Bytes sum{};
  for (const auto& row : page.alive()->table().rows) sum += sim::Bytes(row[3].sort.toLongLong());
  EXPECT_EQ(sum, simulated->result.devices[0].peak_memory);
  QStringList layers;
  for (const auto& row : page.alive()->table().rows) layers << row[0].text;
  EXPECT_TRUE(layers.contains("layer 1")) << layers.join('|').toStdString();
}

// The picture shows them, too; what was looked at stays.
TEST(MemoryPage, ByLayerThePictureHasStripes) {
  MemoryPage page;
  page.setPlan(test::exampleSimulation());
  ASSERT_TRUE(test::waitUntilIdle(page));
  EXPECT_EQ(page.view()->numStripes(), 0u);
  const sim::SimTime early = page.view()->all().end / 20;
  page.view()->setShown({sim::SimTime(0), page.view()->all().end / 2});
  const TimeRange shown = page.view()->shown();
  page.view()->chooseMoment(early);
  page.order()->setCurrentIndex(1);
  ASSERT_TRUE(test::waitUntilIdle(page));
  EXPECT_GT(page.view()->numStripes(), 8u);
  EXPECT_EQ(page.view()->moment(), early);
  EXPECT_EQ(page.view()->shown(), shown);
}

TEST(MemoryPage, ARunOfThePlanStandsBesideIt) {
  const SharedRun run = loadRun(cli::test::write_simulated_run(cli::test::simulated_plan(), "gui_memory"));
  MemoryPage page;
  page.setRun(run);
  page.setPlan(test::exampleSimulation());  // another plan: nothing measured
  EXPECT_EQ(page.sources()->currentIndex(), 0);
  page.setPlan(simulatePlan(cli::test::simulated_plan()));
  EXPECT_EQ(page.sources()->currentIndex(), 2);
  const MeasuredMemory measured = measuredBy(run);
  EXPECT_EQ(measured.curve(sim::Rank(0)).peak().memory, run->traces[0].steps.back().peak_memory);
  EXPECT_TRUE(measured.curve(sim::Rank(9)).empty());
}

TEST(MemoryPage, AnotherDeviceAnotherCurve) {
  MemoryPage page;
  page.setPlan(test::exampleSimulation());
  ASSERT_TRUE(test::waitUntilIdle(page));
  const auto before = page.alive()->table().rows.size();
  page.devices()->setCurrentIndex(1);
  ASSERT_TRUE(test::waitUntilIdle(page));
  EXPECT_TRUE(page.view()->moment().has_value());
  EXPECT_GT(before, 0u);
}

}  // namespace
}  // namespace gui
