#include "gui/core/critical_row.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(CriticalRow, FillsTheStepAndFindsItsSlicesBelow) {
  const SharedPlan simulated = test::exampleSimulation();
  const sim::Timeline& timeline = simulated->result.timeline;
  TimelineCore core(timeline);
  core.setTopRow(criticalRow(timeline, simulated->critical));
  const SliceRow& row = core.row({0});
  std::vector<sim::CriticalLink> links = simulated->critical.links;
  std::erase_if(links, [](const sim::CriticalLink& link) { return link.end <= link.begin; });
  ASSERT_FALSE(row.slices->start.empty());
  ASSERT_EQ(links.size(), row.size());
  EXPECT_EQ(row.slices->start.front(), 0);
  EXPECT_EQ(row.slices->end.back(), simulated->result.step_time.count());
  for (std::size_t at = 0; at < row.size(); ++at) {
    const sim::SimTime waits = at > 0 ? links[at].delay : sim::SimTime(0);  // for its host
    EXPECT_EQ(row.slices->start[at], (at > 0 ? row.slices->end[at - 1] : 0) + waits.count());
    const std::optional<Slice> below = core.find(row.spanOf(at));
    ASSERT_TRUE(below.has_value());
    EXPECT_GT(below->row.value, 0u);
  }
}

}  // namespace
}  // namespace gui
