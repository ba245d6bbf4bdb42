#include "sim/plan/field_words.h"

#include <gtest/gtest.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

TEST(FieldWords, OneBucketIsCalledSo) {
  ParallelPlan plan;
  plan.bucket_size = Bytes(std::int64_t{40} << 20);
  EXPECT_EQ(said_of(plan_field("bucket_size"), plan), "40 MiB");
  plan.bucket_size = kOneBucket;
  EXPECT_EQ(said_of(plan_field("bucket_size"), plan), "one bucket");
  EXPECT_EQ(text_of(plan_field("bucket_size"), plan), "1024 TiB");
  EXPECT_EQ(said_of(plan_field("zero"), plan), "0");
}

TEST(FieldWords, WhatIsUnusualAndHasAUseIsTold) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  constexpr std::string_view kTold[] = {"microbatches", "cut", "zero", "data"};
  EXPECT_EQ(unusual_text(plan, kTold), "");
  plan.accumulation = Accumulation::ReduceEach;
  plan.prefetch = 0;
  plan.bucket_size = kOneBucket;
  EXPECT_EQ(unusual_text(plan, kTold), "one bucket, accumulation reduce_each");
  plan.zero_stage = 3;
  EXPECT_EQ(unusual_text(plan, kTold), "prefetch 0, accumulation reduce_each");
}

TEST(FieldWords, WhatIsSoOrNotIsSaidByItsWordsAlone) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .tensor = 2});
  constexpr std::string_view kTold[] = {"microbatches", "cut", "tensor", "data", "zero"};
  plan.sequence_parallel = true;
  plan.zero_stage = 3;
  plan.reshard_after_forward = false;
  EXPECT_EQ(unusual_text(plan, kTold), "no " + std::string(plan_field("reshard").words) + ", sequence parallel");
}

}  // namespace
}  // namespace sim
