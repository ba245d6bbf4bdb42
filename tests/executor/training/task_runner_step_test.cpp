#include <ATen/ops/equal.h>

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

sim::ParallelPlan without_clipping() {
  sim::ParallelPlan plan = tiny_plan();
  plan.training.gradient_clip = 0;
  plan.zero_stage = 3;  // of one rank no other than 0, but a bucket a layer, as sums by priority have
  return plan;
}

sim::ParallelPlan by_priority() {
  sim::ParallelPlan plan = without_clipping();
  plan.zero_stage = 0;
  plan.partition_size = sim::Bytes(4096);
  plan.credit_size = sim::Bytes(8192);
  return plan;
}

// A layer is stepped in front of its next forward, or when the state is asked for.
TEST(TaskRunnerStep, WhatAStepLeavesIsSettled) {
  Training plain(without_clipping()), parts(by_priority());
  const at::Tensor initial = parts.weights();
  ASSERT_TRUE(at::equal(plain.weights(), initial));
  EXPECT_EQ(parts.step(0).loss, plain.step(0).loss);
  EXPECT_TRUE(at::equal(parts.weights(), initial)) << "the next forward has not come";
  parts.runner.settle();
  EXPECT_TRUE(at::equal(parts.weights(), plain.weights()));
  EXPECT_EQ(parts.step(1).loss, plain.step(1).loss);
  EXPECT_EQ(parts.step(2).loss, plain.step(2).loss);
  parts.runner.settle();
  parts.runner.settle();  // nothing is left
  EXPECT_TRUE(at::equal(parts.weights(), plain.weights()));
}

// A step that began with nothing left by another one lacks what it leaves itself.
TEST(TaskRunnerStep, StepsThatGoOnHaveEachTaskOnce) {
  Training parts(by_priority());
  for (const std::int64_t step : {0, 1, 2}) parts.step(step);
  std::vector<sim::TaskKey> slice, spans;
  for (const sim::Task& task : parts.runner.slice()) slice.push_back(task.key);
  ASSERT_EQ(parts.recorder.steps().size(), 2U) << "the first is none of the trace";
  for (const sim::MeasuredStep& step : parts.recorder.steps()) {
    spans.clear();
    for (const sim::Span& span : step.spans) spans.push_back(span.key);
    EXPECT_THAT(spans, testing::UnorderedElementsAreArray(slice));
  }
}

}  // namespace
}  // namespace executor
