#include "sim/plan/samples_policy.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim/plan/plan_fields.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

SamplesPolicy policy_of(std::string_view text) {
  std::vector<Violation> violations;
  SamplesPolicy policy = parse_samples_policy(text, violations);
  EXPECT_TRUE(violations.empty()) << text << ": " << (violations.empty() ? "" : violations.front().problem);
  return policy;
}

TEST(SamplesPolicy, IsOneText) {
  for (const char* text : {"", "packed fixed 512", "packed lognormal mean 800 spread 1.2", "fitted list 128 512*3 2048 seed 7",
                           "padded fixed 9 seed 3 end 0", "packed lognormal mean 12.5 spread 0 end 50256"}) {
    EXPECT_EQ(to_text(policy_of(text)), text);
    EXPECT_EQ(policy_of(to_text(policy_of(text))), policy_of(text)) << text;
  }
  EXPECT_EQ(to_text(policy_of("packed  list 4*1 end 2 seed 1")), "packed list 4 end 2");
  EXPECT_EQ(to_text(SamplesPolicy{}), "");
}

TEST(SamplesPolicy, SaysWhatItCannotRead) {
  for (const char* text :
       {"some", "packed", "packed 512", "packed fixed", "packed fixed 0", "packed fixed 1 2", "packed fixed 4*2", "packed list",
        "packed list 4*0", "packed lognormal 800", "packed lognormal mean 800", "packed lognormal mean 0 spread 1",
        "packed lognormal mean 8 spread -1", "packed fixed 8 seed", "packed fixed 8 end x", "packed fixed 8 whole"}) {
    std::vector<Violation> violations;
    EXPECT_EQ(parse_samples_policy(text, violations), SamplesPolicy{}) << text;
    EXPECT_EQ(violations.size(), 1u) << text;
  }
}

TEST(SamplesPolicy, KnowsTheMeanOfItsLengths) {
  EXPECT_EQ(policy_of("packed fixed 512").mean_length(), 512);
  EXPECT_EQ(policy_of("packed list 100 200*3").mean_length(), 175);
  EXPECT_EQ(policy_of("packed lognormal mean 800 spread 1.2").mean_length(), 800);
}

TEST(SamplesPolicy, StandsInThePlanWhereItSaysSomething) {
  ParallelPlan plan = testing::tiny_plan();
  const std::string without = plan_hash(plan);
  EXPECT_FALSE(to_json(plan).at("workload").contains("samples"));
  plan.workload.samples = policy_of("packed fixed 4 end 2");
  EXPECT_NE(plan_hash(plan), without);
  EXPECT_EQ(plan_from_json(to_json(plan), "plan.json").workload.samples, plan.workload.samples);
  EXPECT_EQ(differences(testing::tiny_plan(), plan).training.size(), 1u);
}

TEST(SamplesPolicy, NotesPiecesOfContextRanks) {
  ParallelPlan plan = testing::tiny_plan({.context = 2});
  EXPECT_TRUE(notes(plan).empty());
  plan.workload.samples = policy_of("packed fixed 4");
  ASSERT_EQ(notes(plan).size(), 1u);
  EXPECT_THAT(notes(plan).front().problem, ::testing::HasSubstr("each dealt out in 4 pieces"));
}

TEST(SamplesPolicy, TheWorkerPerformsPackedAndPaddedRows) {
  const auto refused = [](std::string_view text, const ParallelPlan& base) {
    ParallelPlan plan = base;
    plan.workload.samples = policy_of(text);
    return why_not_runnable(plan).size();
  };
  const ParallelPlan plan = testing::tiny_plan();
  EXPECT_EQ(refused("packed fixed 4 end 2", plan), 0u);
  EXPECT_EQ(refused("padded fixed 4 end 2", plan), 0u);
  EXPECT_EQ(refused("packed fixed 4", plan), 1u);
  EXPECT_EQ(refused("fitted fixed 4 end 2", plan), 0u);
  ParallelPlan other = plan;
  other.model.attention_dropout = 0.1;
  other.model.window = 8;
  EXPECT_EQ(refused("packed fixed 4 end 2", other), 0u);
  ParallelPlan shared = testing::tiny_plan({.context = 2});
  EXPECT_EQ(refused("packed fixed 4 end 2", shared), 0u);
  shared.context_by_document = true;
  EXPECT_EQ(refused("packed fixed 4 end 2", shared), 0u);
  shared.microbatch_size = 2;
  EXPECT_EQ(refused("packed fixed 4 end 2", shared), 1u) << "pieces of two rows are cut by themselves";
  ParallelPlan pools = testing::tiny_plan({.data = 2, .context = 2});
  pools.context_by_document = true;
  EXPECT_EQ(refused("packed fixed 4 end 2", pools), 1u) << "documents stay on a data rank";
}

TEST(SamplesPolicy, HasRules) {
  ParallelPlan plan = testing::tiny_plan();
  plan.workload.samples = policy_of("packed fixed 4");
  EXPECT_TRUE(violations(plan).empty());
  plan.workload.samples.end_token = plan.model.vocabulary;
  EXPECT_EQ(violations(plan).size(), 1u);
}

}  // namespace
}  // namespace sim
