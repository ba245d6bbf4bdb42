#include "planner/sharding_space.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/planner/problems.h"

namespace planner {
namespace {

struct Sharded {
  std::vector<PlanCandidate> of(const PlanCandidate& shape) {
    const FixedAxes fixed = read_fixed_axes(request.fixed);
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    UnsayableFamilies unsayable(excluded);
    std::vector<PlanCandidate> all{shape};
    ShardingSpace(request, fixed, model, unsayable).vary_all(all);
    return all;
  }
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 4});
  std::vector<Exclusion> excluded;
};

std::set<std::int32_t> stages(const std::vector<PlanCandidate>& all) {
  std::set<std::int32_t> found;
  for (const PlanCandidate& at : all) found.insert(at.zero_stage);
  return found;
}

TEST(ShardingSpace, NobodySharesAlone) {
  EXPECT_EQ(stages(Sharded().of({.mesh = {.tensor = 8}})), std::set<std::int32_t>({0}));
  EXPECT_EQ(stages(Sharded().of({.mesh = {.data = 8}})), std::set<std::int32_t>({0, 1, 2, 3}));
}

// Two nodes of four: after forward weights stay with all shards, or with those of a node.
TEST(ShardingSpace, WhoReshardsKeepsWeightsWithAllOrANode) {
  std::set<std::int32_t> ranks;
  for (const PlanCandidate& at : Sharded().of({.mesh = {.data = 8}})) {
    if (at.zero_stage == 3 && at.reshard) ranks.insert(at.reshard_ranks);
    EXPECT_TRUE(at.zero_stage == 3 || (at.reshard && at.reshard_ranks == 1 && at.layers_per_unit == 1));
  }
  EXPECT_EQ(ranks, std::set<std::int32_t>({1, 4}));
}

// A word that was asked for leaves out plans in which it would mean nothing.
TEST(ShardingSpace, WhatWasAskedForIsNotLeftUnused) {
  Sharded near, wide;
  near.request.fixed = {{"reshard_ranks", "4"}};
  wide.request.fixed = {{"layers_per_unit", "2"}};
  const std::vector<PlanCandidate> kept = near.of({.mesh = {.data = 8}}), joined = wide.of({.mesh = {.data = 8}});
  EXPECT_EQ(stages(kept), std::set<std::int32_t>({3}));
  EXPECT_EQ(stages(joined), std::set<std::int32_t>({3}));
  for (const PlanCandidate& at : kept) EXPECT_TRUE(at.reshard && at.reshard_ranks == 4);
}

TEST(ShardingSpace, WhatTheProgramHasNoWordsForIsToldOnce) {
  Sharded sharded;
  sharded.request.why_not = [](const sim::ParallelPlan& plan) {
    return plan.zero_stage == 3 ? std::vector<sim::Violation>{{"/zero_stage", "is 3", "use 2"}} : std::vector<sim::Violation>{};
  };
  EXPECT_EQ(stages(sharded.of({.mesh = {.data = 8}})), std::set<std::int32_t>({0, 1, 2}));
  ASSERT_FALSE(sharded.excluded.empty());
  std::set<std::string> families;
  for (const Exclusion& out : sharded.excluded) EXPECT_TRUE(families.insert(out.family).second) << out.family;
}

}  // namespace
}  // namespace planner
