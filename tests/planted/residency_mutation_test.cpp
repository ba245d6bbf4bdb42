// Planted bugs of what waits for a backward: on the host, or behind the last one.
#include "tests/planted/mutations.h"

namespace parity {
namespace {

using ResidencyMutations = OnTwoRanks;

TEST_F(ResidencyMutations, ForgottenWeightsOfTheHead) {
  sim::ParallelPlan plan = pipeline_;
  plan.delay_head_wgrad = 2;
  expect_caught_in_fp64(plan, PlantedBug::ForgottenWeights);
}

TEST_F(ResidencyMutations, OneHostBuffer) {
  for (sim::ParallelPlan plan : {data_, pipeline_, tiny_plan(tiny_mixtral(), {.data = 2})}) {
    plan.offload_least = 0;
    for (const sim::Module module : {sim::Module::QkvProduct, sim::Module::CoreAttention}) {
      plan.offload_modules = module;
      expect_caught_bitwise(plan, PlantedBug::OneHostBuffer);
    }
  }
}

}  // namespace
}  // namespace parity
