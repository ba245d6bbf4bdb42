#include "planner/host_space.h"

#include <gtest/gtest.h>

#include "tests/planner/problems.h"

namespace planner {
namespace {

struct OnHost {
  std::vector<PlanCandidate> of(const PlanCandidate& sharded) {
    const FixedAxes fixed = read_fixed_axes(request.fixed);
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    UnsayableFamilies unsayable(excluded);
    ShardingSpace sharding(request, fixed, model, unsayable);
    std::vector<PlanCandidate> all{sharded};
    HostSpace(request, fixed, sharding).vary_all(all);
    return all;
  }
  SearchRequest request = small_request({.devices = 8});
  std::vector<Exclusion> excluded;
};

constexpr sim::DeviceMesh kData{.data = 8};

TEST(HostSpace, HoldsNothingUnlessItIsAsked) {
  OnHost host;
  EXPECT_EQ(host.of({.mesh = kData, .zero_stage = 3}).size(), 1u);
  host.request.offload = true;
  EXPECT_EQ(host.of({.mesh = kData, .zero_stage = 1}).size(), 2u);  // the optimizer stays, or goes
}

// Weights go where they are sharded and the optimizer is there; inputs of what is computed again go behind it.
TEST(HostSpace, TheOptimizerGoesFirst) {
  OnHost host;
  host.request.offload = true;
  bool weights = false, inputs = false;
  for (const PlanCandidate& at : host.of({.mesh = kData, .zero_stage = 3, .recompute = sim::Recompute::Full})) {
    EXPECT_TRUE(at.offload_optimizer || (!at.offload_parameters && !at.offload_activations));
    weights = weights || at.offload_parameters, inputs = inputs || at.offload_activations;
  }
  EXPECT_TRUE(weights && inputs);
}

TEST(HostSpace, WhatIsFixedAndImpossibleLeavesNothing) {
  OnHost host;
  host.request.fixed = {{"offload_parameters", "true"}};
  EXPECT_TRUE(host.of({.mesh = kData, .zero_stage = 1}).empty());
  EXPECT_TRUE(asks_for_weights_on_host(read_fixed_axes(host.request.fixed)));
}

}  // namespace
}  // namespace planner
