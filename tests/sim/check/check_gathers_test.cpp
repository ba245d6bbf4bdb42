// The rules on ZeRO-3's gathers, each shown able to fail.
#include "sim/check/graph_rules.h"
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using testing::says;
using testing::zero3_plan;

TEST(CheckGathers, WeightsThatAreNotThere) {
  GraphParts parts(zero3_plan());
  parts.drop(parts.find("m0.l2.forward.all_gather.data"));
  EXPECT_THAT(parts.findings(), says("m0.l2.forward.attention.none.0 of rank 0 needs the weights of bucket"));
}

TEST(CheckGathers, WeightsNotWaitedFor) {
  GraphParts parts(zero3_plan());
  parts.cut_edges_to(parts.find("m0.l2.forward.attention"));
  EXPECT_THAT(parts.findings(), says("m0.l2.forward.attention.none.0 of rank 0 does not wait for s0.c0.m0.l2.forward.all_gather.data"));
}

TEST(CheckGathers, WeightsGatheredTwice) {
  GraphParts parts(zero3_plan());
  parts.drop(parts.find("m0.l2.forward.reshard"));
  EXPECT_THAT(parts.findings(), says("gathers what is there already"));
}

TEST(CheckGathers, WeightsFreedTwice) {
  GraphParts parts(zero3_plan());
  Task copy = parts.task("m0.l2.forward.reshard");
  parts.tasks.push_back(copy);
  EXPECT_THAT(parts.findings(), says("frees what is not gathered"));
}

TEST(CheckGathers, WeightsNeverFreed) {
  GraphParts parts(zero3_plan());
  parts.drop(parts.find("m3.l0.backward.reshard"));
  EXPECT_THAT(parts.findings(), says("is never freed"));
}

TEST(CheckGathers, HalfTheWeights) {
  GraphParts parts(zero3_plan());
  Task& gather = parts.task("m0.l2.forward.all_gather.data");
  gather.payload = gather.payload / std::int64_t{2};
  EXPECT_THAT(parts.findings(), says("m0.l2.forward.all_gather.data"));
}

TEST(CheckGathers, NeighboursDoNotHaveTheWeights) {
  GraphParts parts(zero3_plan());
  parts.task("m0.l2.backward.all_gather.data").key.group = MeshAxis::Reshard;
  EXPECT_THAT(parts.findings(), says("gathers what its neighbours do not have"));
  GraphParts kept(zero3_plan());
  kept.plan.mesh.reshard = 2;
  EXPECT_THAT(kept.findings(), says("gathers from everybody what its neighbours have"));
}

ParallelPlan with_second_copy() {
  ParallelPlan plan = testing::tiny_plan({.data = 4, .reshard = 2});
  plan.zero_stage = 3, plan.kept_until = KeptUntil::Step;
  return plan;
}

TEST(CheckGathers, ASecondCopyLastsUntilTheStep) {
  EXPECT_THAT(GraphParts(with_second_copy()).findings(), ::testing::IsEmpty());
  GraphParts given_up(with_second_copy());
  given_up.plan.kept_until = KeptUntil::Backward;
  EXPECT_THAT(given_up.findings(), says("gathers what its neighbours do not have"));
  GraphParts twice(with_second_copy());
  Task& reshard = twice.task("m1.l2.forward.reshard");
  reshard.payload = Bytes(8);
  EXPECT_THAT(twice.findings(), says("keeps 8 B instead of 0 B"));
}

ParallelPlan with_small_ones_whole() {
  ParallelPlan plan = zero3_plan();
  plan.persistence_threshold = 1'000;
  return plan;
}

TEST(CheckGathers, WhatStaysWholeIsGatheredBehindTheStepAlone) {
  GraphParts parts(with_small_ones_whole());
  EXPECT_THAT(parts.findings(), ::testing::IsEmpty());
  parts.drop(parts.find("step.all_gather.data"));
  EXPECT_THAT(parts.findings(), says("step.all_gather.data"));
}

TEST(CheckGathers, WhatStaysWholeIsNotMoved) {
  GraphParts parts(with_small_ones_whole());
  const BucketIndex kept = parts.task("step.all_gather.data").bucket;
  parts.task("m0.l2.forward.all_gather.data").bucket = kept;
  EXPECT_THAT(parts.findings(), says("moves weights that stay whole"));
}

// Whole experts beside tensor ranks: they alone have sharers.
TEST(CheckGathers, OfExpertsAlone) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 1, .tensor = 2, .expert_tensor = 1});
  plan.model.model_type = "mixtral";
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32, .renormalised = true};
  plan.sequence_parallel = true;
  plan.zero_stage = 3;
  ASSERT_TRUE(gathers_weights(plan));
  GraphParts parts(plan);
  EXPECT_THAT(parts.findings(), ::testing::IsEmpty());
  parts.drop(parts.find("m0.l2.forward.all_gather.expert_data"));
  EXPECT_THAT(parts.findings(), says("needs the weights of bucket"));
}

TEST(CheckGathers, KeptWeightsAreGatheredOnce) {
  GraphParts parts(zero3_plan());
  parts.plan.reshard_after_forward = false;
  EXPECT_THAT(parts.findings(), says("times in a step instead of 1"));
}

TEST(CheckGathers, OtherStrategiesDoNotGather) {
  GraphParts parts(zero3_plan());
  parts.plan.zero_stage = 2;
  EXPECT_THAT(parts.findings(), says("all_gather.data"));
}

}  // namespace
}  // namespace sim
