#include "gui/core/estimate.h"

#include <gmock/gmock.h>

#include <fstream>

namespace gui {
namespace {

PlanQuestion onSixteen() {
  return {.model = "profiles/models/gpt2-xl.json", .cluster = "a100-80gb-sxm", .devices = 16, .global_batch = 64, .sequence = 1024};
}

std::string encoder() {
  const std::string path = testing::TempDir() + "encoder.json";
  std::ofstream(path)
      << R"({"model_type": "bert", "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 1024,
                             "vocab_size": 1000, "max_position_embeddings": 512, "hidden_act": "gelu"})";
  return path;
}

TEST(Estimate, RanksLayoutsWithTheirIntervals) {
  const SharedEstimate estimate = estimateOf(onSixteen());
  const std::vector<planner::EstimatedLayout>& ranked = estimate->result.ranked;
  ASSERT_GT(ranked.size(), 5u);
  for (const planner::EstimatedLayout& layout : ranked)
    EXPECT_TRUE(layout.step.low < layout.step.time && layout.step.time < layout.step.high);
  EXPECT_EQ(estimate->request.format, sim::NumberFormat::Bf16);
}

TEST(Estimate, OnTheFrontMemoryFallsAsTimeGrows) {
  const SharedEstimate estimate = estimateOf(onSixteen());
  double least = 1e300;
  for (std::size_t at = 0; at < estimate->on_front.size(); ++at) {
    const double memory = estimate->result.ranked[at].memory.total_gib;
    EXPECT_EQ(estimate->on_front[at], memory < least);
    least = std::min(least, memory);
  }
}

TEST(Estimate, AMemoryLimitAndAPrecisionHold) {
  PlanQuestion question = onSixteen();
  question.memory_limit = "20 GiB";
  for (const planner::EstimatedLayout& layout : estimateOf(question)->result.ranked) EXPECT_LE(layout.memory.total_gib, 20);
  const sim::Seconds plain = estimateOf(onSixteen())->result.ranked.front().step.time;
  question = onSixteen();
  question.precision = "fp32";
  EXPECT_GT(estimateOf(question)->result.ranked.front().step.time, plain * 2);
  question.precision = "int3";
  EXPECT_THROW(estimateOf(question), sim::InputError);
}

TEST(Estimate, ALayoutIsAPlanAndThePlanThatLayout) {
  const SharedEstimate estimate = estimateOf(onSixteen());
  for (std::size_t at = 0; at < estimate->result.ranked.size(); ++at) {
    const sim::ParallelPlan plan = planOf(*estimate, at);
    EXPECT_TRUE(sim::violations(plan).empty());
    EXPECT_EQ(plan.mesh.ranks(), 16);
    EXPECT_EQ(plan.mesh.tensor, estimate->result.ranked[at].run.layout.tensor);
    EXPECT_EQ(plan.num_microbatches(), estimate->result.ranked[at].run.layout.microbatches);
    EXPECT_EQ(layoutOf(*estimate, plan), at);
  }
  sim::ParallelPlan other = planOf(*estimate, 0);
  other.workload.sequence = 512;
  EXPECT_FALSE(layoutOf(*estimate, other).has_value());
}

// What plans cannot say is said with its numbers, or the model's and precision's own reasons are.
TEST(Estimate, WhatNoPlanSaysIsSaid) {
  PlanQuestion question = onSixteen();
  question.precision = "fp8";
  EXPECT_THROW(planOf(*estimateOf(question), 0), sim::InputError);
  Estimate experts = *estimateOf(onSixteen());
  sim::Layout& layout = experts.result.ranked[0].run.layout;
  layout.tensor = 2;
  layout.expert = 4;
  layout.expert_tensor = false;
  try {
    planOf(experts, 0);
    FAIL();
  } catch (const sim::InputError& error) {
    EXPECT_THAT(std::string(error.what()), testing::HasSubstr("experts over 4 ranks, tensor groups of 2"));
  }
}

TEST(Estimate, AnEncoderIsAModelThatPlansSayToo) {
  EXPECT_NO_THROW(sim::load_model_config(encoder()));
  EXPECT_NO_THROW(requireModel(encoder()));
  EXPECT_NO_THROW(requireModel("profiles/models/gpt2.json"));
  EXPECT_THROW(requireModel("profiles/hardware/a100-80gb-sxm.json"), sim::InputError);
}

}  // namespace
}  // namespace gui
