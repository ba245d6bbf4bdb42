#include <ATen/ops/equal.h>

#include <algorithm>

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

std::int64_t copies_to_host(const Training& training) {
  return std::ranges::count(training.runner.slice(), sim::Operation::CopyToHost, [](const sim::Task& task) { return task.key.operation; });
}

void expect_no_other_bit(const sim::ParallelPlan& there, const sim::ParallelPlan& here) {
  Training away(there), plain(here);
  EXPECT_GT(copies_to_host(away), 0);
  for (const std::int64_t step : {0, 1}) EXPECT_EQ(away.step(step).loss, plain.step(step).loss);
  EXPECT_TRUE(at::equal(away.weights(), plain.weights()));
}

TEST(TaskRunnerHost, WhatModulesHaveSavedComesBack) {
  sim::ParallelPlan plan = tiny_plan();
  const sim::ParallelPlan here = plan;
  plan.offload_modules = sim::Module::QkvProduct | sim::Module::CoreAttention | sim::Module::AttentionProjection;
  plan.offload_least = 0;
  expect_no_other_bit(plan, here);
  plan.offload_least = 1 << 20;
  EXPECT_EQ(copies_to_host(Training(plan)), 0) << "none is so large";
}

TEST(TaskRunnerHost, InputsOfRecomputedBlocksComeBack) {
  sim::ParallelPlan plan = tiny_plan();
  plan.recompute = sim::Recompute::Full;
  const sim::ParallelPlan here = plan;
  plan.offload_activations = true;
  expect_no_other_bit(plan, here);
}

}  // namespace
}  // namespace executor
