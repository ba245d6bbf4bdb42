#include "gui/memory_page.h"

#include <gmock/gmock.h>

#include "gui/table_panel.h"
#include "gui/views/memory_view.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(MemoryPage, BeginsAtThePeakOfTheFirstDevice) {
  MemoryPage page;
  const SharedPlan simulated = test::exampleSimulation();
  page.setPlan(simulated);
  EXPECT_EQ(page.devices()->count(), 2);
  sim::Bytes sum{};
  for (const auto& row : page.alive()->table().rows) sum += sim::Bytes(row[2].sort.toLongLong());
  EXPECT_EQ(sum, simulated->result.devices[0].peak_memory);
}

TEST(MemoryPage, AnotherDeviceAnotherCurve) {
  MemoryPage page;
  page.setPlan(test::exampleSimulation());
  const auto before = page.alive()->table().rows.size();
  page.devices()->setCurrentIndex(1);
  EXPECT_TRUE(page.view()->moment().has_value());
  EXPECT_GT(before, 0u);
}

}  // namespace
}  // namespace gui
