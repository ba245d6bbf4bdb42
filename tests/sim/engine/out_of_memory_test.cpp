#include "sim/engine/out_of_memory.h"

#include <gtest/gtest.h>

#include "sim/cost/memory_interval.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

TEST(OutOfMemory, IsTheChanceOfTheDeviceThatIsMostLikelyTo) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.cluster.hardware = testing::small_gpu();
  const SimulationResult result = simulate(make_model_graph(plan), plan);
  double most = 0;
  for (const DeviceResult& device : result.devices) {
    const double chance = memory_interval(plan, device.at_peak).chance_above(device.peak_memory, result.peak_memory);
    EXPECT_LE(chance, out_of_memory_chance(plan, result, result.peak_memory));
    most = std::max(most, chance);
  }
  EXPECT_EQ(out_of_memory_chance(plan, result, result.peak_memory), most);
  EXPECT_GE(most, 0.5);
  EXPECT_LT(out_of_memory_chance(plan, result, Bytes(std::int64_t{1} << 45)), 1e-6);
  EXPECT_EQ(out_of_memory_chance(plan, result), out_of_memory_chance(plan, result, usable_memory(plan.cluster)));
}

}  // namespace
}  // namespace sim
