// The rules on what waits on the host or for the last backward, each shown able to fail.
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using testing::says;

ParallelPlan sending() {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 32};
  plan.offload_modules = kSentToHost;
  plan.offload_least = 0;
  return plan;
}

TEST(ExpectedHost, SoundGraphs) {
  ParallelPlan delayed = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
  delayed.delay_head_wgrad = 3;
  ParallelPlan again = sending();
  again.recompute = Recompute::Selective;
  again.recompute_scope.modules = Modules(Module::Moe) | Module::LayerNorm;
  ParallelPlan plain = sending(), first = sending();
  plain.model.experts.reset();
  first.offload_blocks = 1;
  for (const ParallelPlan& plan : {sending(), delayed, again, plain, first})
    for (const Fold& fold : {Fold::Symmetric, Fold::None}) EXPECT_THAT(GraphParts(plan, fold).findings(), ::testing::IsEmpty());
}

TEST(ExpectedHost, WhatStaysAndWhatDoesNotComeBack) {
  GraphParts parts(sending());
  parts.drop(parts.find("copy_to_host"));
  EXPECT_THAT(parts.findings(), says("is missing"));
  parts = GraphParts(sending());
  parts.task("copy_to_device").payload = Bytes(7);
  EXPECT_THAT(parts.findings(), says("carries 7 B instead of"));
}

TEST(ExpectedHost, BlocksBehindTheFirstSendNothing) {
  ParallelPlan all = sending(), first = sending();
  first.offload_blocks = 1;
  GraphParts parts(all);
  parts.plan = first;
  EXPECT_THAT(parts.findings(), says("copy_to_host"));
}

TEST(ExpectedHost, ABackwardThatDoesNotWait) {
  GraphParts parts(sending());
  const std::size_t copy = parts.find("copy_to_device");
  std::erase_if(parts.edges, [&](const auto& edge) { return edge.first == copy; });
  EXPECT_THAT(parts.findings(), says("does not wait for"));
}

TEST(ExpectedHost, WeightsOfTheHeadThatNobodyMakes) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  plan.delay_head_wgrad = 1;
  GraphParts parts(plan);
  parts.drop(parts.find("weight.head"));
  EXPECT_THAT(parts.findings(), says("is missing"));
}

}  // namespace
}  // namespace sim
