#include "planner/why_not_best.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

sim::SimulationResult result(std::int64_t milliseconds, double bubble, double exposed) {
  const sim::SimTime step(milliseconds * 1'000'000'000);
  sim::SimulationResult result;
  result.step_time = step;
  result.bubble = bubble;
  result.exposed_communication = exposed;
  result.peak_memory = sim::Bytes(milliseconds << 20);
  sim::DeviceResult device;
  device.multiplicity = 4;
  device.busy = sim::SimTime(static_cast<std::int64_t>(static_cast<double>(step.count()) * (1 - bubble - exposed)));
  result.devices = {device};
  return result;
}

TEST(WhyNotBest, NamesTheTermsThatCostTime) {
  const std::vector<Reason> reasons = why_not_best(result(1100, 0.2, 0.1), result(1000, 0.05, 0.1));
  EXPECT_EQ(to_sentence(reasons), "10.0 % slower: bubble 20.0 % against 5.0 %, memory 1.07 GiB against 1000 MiB");
}

TEST(WhyNotBest, EqualTimesDifferInMemoryIfInAnything) {
  const sim::SimulationResult best = result(1000, 0.1, 0.1);
  EXPECT_EQ(to_sentence(why_not_best(best, best)), "as fast");
  sim::SimulationResult larger = best;
  larger.peak_memory = 2 * best.peak_memory;
  EXPECT_EQ(to_sentence(why_not_best(larger, best)), "as fast: memory 1.95 GiB against 1000 MiB");
}

}  // namespace
}  // namespace planner
