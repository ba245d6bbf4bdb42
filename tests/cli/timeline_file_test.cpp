#include "cli/timeline_file.h"

#include <gtest/gtest.h>

#include "sim/engine/simulate.h"
#include "tests/cli/simulated_run.h"

namespace cli {
namespace {

TEST(TimelineFile, HasWhatTheLinksCarry) {
  const sim::ParallelPlan plan = test::simulated_plan();
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const sim::TaskGraph graph = sim::lower(model, plan, sim::Fold::None);
  const sim::Timeline timeline = sim::simulate(model, plan, graph, sim::Detail::Timeline).timeline;
  const sim::NamedTimeline named = simulated_timeline("a", model, plan, graph, timeline);
  EXPECT_EQ(named.name, "a");
  EXPECT_EQ(&named.timeline, &timeline);
  ASSERT_FALSE(named.link_load.empty());
  EXPECT_EQ(named.link_load.back().device, sim::DeviceId(plan.mesh.ranks() - 1));
}

}  // namespace
}  // namespace cli
