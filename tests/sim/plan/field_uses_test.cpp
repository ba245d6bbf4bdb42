#include "sim/plan/field_uses.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

bool is_used(std::string_view name, const ParallelPlan& plan) { return has_use(plan_field(name), plan); }

TEST(FieldUses, WhatBelongsToAWordHasItsUseWithIt) {
  ParallelPlan plan;
  plan.mesh = {.data = 2, .pipeline = 2};
  EXPECT_TRUE(is_used("bucket_size", plan));
  EXPECT_TRUE(is_used("schedule", plan));
  EXPECT_FALSE(is_used("reshard", plan));
  EXPECT_FALSE(is_used("sequence_parallel", plan));
  EXPECT_FALSE(is_used("expert", plan)) << "a model without experts";
  EXPECT_FALSE(is_used("kept_until", plan));
  plan.zero_stage = 3;
  plan.mesh = {.tensor = 2, .reshard = 2};
  EXPECT_FALSE(is_used("bucket_size", plan));
  EXPECT_FALSE(is_used("chunks", plan));
  EXPECT_TRUE(is_used("reshard", plan));
  EXPECT_TRUE(is_used("sequence_parallel", plan));
  EXPECT_TRUE(is_used("kept_until", plan));
}

TEST(FieldUses, WhatHasNoRowIsAlwaysUsed) {
  for (const char* const name : {"data", "tensor", "pipeline", "zero", "microbatch", "recompute", "vocabulary_multiple"})
    EXPECT_TRUE(is_used(name, {})) << name;
}

}  // namespace
}  // namespace sim
