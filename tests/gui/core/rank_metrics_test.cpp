#include "gui/core/rank_metrics.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(RankMetrics, EachHasAValueOfEveryRankAndANameOfItsOwn) {
  const SharedPlan simulated = test::exampleSimulation();
  const ClusterLoad load = clusterLoad(*simulated);
  std::set<std::string_view> names;
  for (const RankMetric& metric : allRankMetrics()) {
    EXPECT_TRUE(names.insert(metric.name).second);
    const std::vector<double> values = valuesOf(metric, *simulated, load);
    ASSERT_EQ(values.size(), 4u);
    for (const double value : values) EXPECT_GE(value, 0);
    EXPECT_FALSE(metric.text(values[0]).empty());
  }
}

TEST(RankMetrics, ComputingAndIdleAreTheStep) {
  const SharedPlan simulated = test::exampleSimulation();
  const ClusterLoad load = clusterLoad(*simulated);
  const std::vector<double> computing = valuesOf(allRankMetrics()[0], *simulated, load),
                            idle = valuesOf(allRankMetrics()[1], *simulated, load);
  for (std::size_t rank = 0; rank < 4; ++rank) EXPECT_NEAR(computing[rank] + idle[rank], 1, 1e-12);
}

}  // namespace
}  // namespace gui
