#include "gui/core/counter.h"

#include <gmock/gmock.h>

#include "gui/core/cluster_load.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(Counter, ShowsTheHighestOfARange) {
  const Counter counter{.name = "a", .time = {10, 20, 30}, .value = {1, 5, 2}, .most = 5};
  const auto at = [&](std::int64_t begin, std::int64_t end) { return counter.highest({sim::SimTime(begin), sim::SimTime(end)}); };
  EXPECT_EQ(at(0, 10), 0);
  EXPECT_EQ(at(0, 11), 1);
  EXPECT_EQ(at(12, 15), 1);
  EXPECT_EQ(at(12, 25), 5);
  EXPECT_EQ(at(35, 90), 2);
}

TEST(Counter, MemoryPeaksWhereTheSimulationSays) {
  const SharedPlan simulated = test::exampleSimulation();
  for (const auto& [device, shared] : simulated->picture.counters) {
    const Counter& counter = *shared;
    if (counter.name != "memory") continue;
    EXPECT_EQ(counter.most, static_cast<double>(simulated->result.devices[device.position()].peak_memory.value()));
  }
}

TEST(Counter, UtilizationAddsUpToTheBusyTime) {
  const SharedPlan simulated = test::exampleSimulation();
  for (const auto& [device, shared] : simulated->picture.counters) {
    const Counter& counter = *shared;
    if (counter.name != "utilization") continue;
    double area = 0;
    for (std::size_t at = 0; at < counter.time.size(); ++at) area += counter.value[at] * static_cast<double>(counter.time[1]);
    const sim::SimTime busy = simulated->result.devices[device.position()].busy;
    EXPECT_NEAR(area, static_cast<double>(busy.count()), 1e-6 * static_cast<double>(busy.count()));
  }
}

// The link's load over the step, integrated, is what the Cluster page says of the port.
TEST(Counter, LinkLoadAddsUp) {
  const SharedPlan simulated = test::exampleSimulation();
  const ClusterLoad load = clusterLoad(*simulated);
  int seen = 0;
  for (const auto& [device, shared] : simulated->picture.counters) {
    const Counter& counter = *shared;
    if (counter.name != "link load") continue;
    ++seen;
    double area = 0;
    for (std::size_t at = 0; at + 1 < counter.time.size(); ++at)
      area += counter.value[at] * static_cast<double>(counter.time[at + 1] - counter.time[at]);
    const auto rank = simulated->graph.devices()[device.position()].representative.position();
    EXPECT_NEAR(area / static_cast<double>(simulated->result.step_time.count()), load.port[rank], 0.05 * load.port[rank]);
  }
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace gui
