#include "sim/recipe/draft.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

Draft draft_of(const ParallelPlan& plan) {
  Draft draft;
  draft.plan.model = plan.model;
  draft.plan.cluster = plan.cluster;
  draft.plan.workload.precision = Precision::Bf16;
  return draft;
}

TEST(Draft, ValuesAreReadOrTold) {
  Draft draft;
  const auto value = [&](const char* text) {
    static RecipeSetting setting;
    setting = {"key", text};
    return Value(setting, draft);
  };
  EXPECT_EQ(value("5e8").integer(), 500'000'000);
  for (const char* const on : {"True", "yes", "on", "1", "t"}) EXPECT_TRUE(value(on).boolean()) << on;
  for (const char* const off : {"False", "no", "off", "0", "null"}) EXPECT_FALSE(value(off).boolean() || is_on(off)) << off;
  EXPECT_THAT(draft.wrong, IsEmpty());
  value("four").integer(), value("2.5").integer(), value("1e999").number(), value("0").degree(), value("maybe").boolean();
  EXPECT_EQ(draft.wrong.size(), 5u);
  value("3").must_be(4);
  EXPECT_THAT(testing::text_of(draft.wrong), HasSubstr("key: is 3, and the model has 4"));
}

TEST(Draft, BatchFollowsFromTwoOfThree) {
  const ParallelPlan plan = testing::gpu_plan({.data = 4});
  Draft draft = draft_of(plan);
  draft.sequence = 32, draft.microbatch = 2, draft.accumulation_steps = 3;
  complete_draft(draft, {.model = plan.model, .cluster = plan.cluster});
  EXPECT_THAT(testing::text_of(draft.wrong), "");
  EXPECT_EQ(draft.plan.workload.global_batch, 24);
}

TEST(Draft, WhatNobodySaysIsAskedFor) {
  const ParallelPlan plan = testing::gpu_plan({.data = 4});
  Draft draft = draft_of(plan);
  complete_draft(draft, {.model = plan.model, .cluster = plan.cluster});
  EXPECT_THAT(testing::text_of(draft.wrong), AllOf(HasSubstr("--sequence"), HasSubstr("--global-batch")));
}

TEST(Draft, ContradictionsHaveTheirNumbers) {
  const ParallelPlan plan = testing::gpu_plan({.data = 4});
  Draft draft = draft_of(plan);
  draft.plan.mesh.tensor = 3;
  draft.sequence = 32, draft.global_batch = 8;
  complete_draft(draft, {.model = plan.model, .cluster = plan.cluster, .sequence = 64});
  EXPECT_THAT(testing::text_of(draft.notes), HasSubstr("is 64, and the file says 32"));
  EXPECT_THAT(testing::text_of(draft.wrong),
              AllOf(HasSubstr("tensor 3 x pipeline 1 x context 1 = 3 does not divide the cluster's 4 devices")));
}

TEST(Draft, BlocksOfACutAreItsOwn) {
  ParallelPlan plan = testing::gpu_plan({.data = 1, .pipeline = 2});
  plan.cut.first = {LayerIndex(0), LayerIndex(4)};
  EXPECT_THAT(blocks_of(plan), ::testing::ElementsAre(3, 1));
}

}  // namespace
}  // namespace sim
