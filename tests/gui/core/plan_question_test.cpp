#include "gui/core/plan_question.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

PlanQuestion asked() {
  return {.model = "profiles/models/gpt2.json", .cluster = "h100-80gb-sxm", .devices = 8, .global_batch = 64, .sequence = 1024};
}

TEST(PlanQuestion, BecomesARequest) {
  const planner::SearchRequest request = searchRequest(asked());
  EXPECT_EQ(request.cluster.devices, 8);
  EXPECT_EQ(request.workload.global_batch, 64);
  EXPECT_EQ(request.workload.precision.compute(), sim::Precision::Bf16);
  EXPECT_EQ(request.model.model_type, "gpt2");
}

TEST(PlanQuestion, APrecisionOfItsOwn) {
  PlanQuestion question = asked();
  question.precision = "fp16";
  EXPECT_EQ(searchRequest(question).workload.precision.compute(), sim::Precision::Fp16);
  question.precision = "fp8";
  EXPECT_THROW(searchRequest(question), sim::InputError);
}

// As on the command line: with a chance of nothing no plan would compete.
TEST(PlanQuestion, NoRiskIsOneThatIsPrintedAsNone) {
  PlanQuestion question = asked();
  question.risk = 0;
  EXPECT_GT(searchRequest(question).risk, 0);
}

TEST(PlanQuestion, FewerDevicesAndTheCostAreAskedFor) {
  EXPECT_FALSE(searchRequest(asked()).fewer);
  PlanQuestion question = asked();
  question.fewer = true;
  question.objective = planner::Objective::Cost;
  EXPECT_TRUE(searchRequest(question).fewer);
  EXPECT_EQ(searchRequest(question).objective, planner::Objective::Cost);
}

TEST(PlanQuestion, SaysWhatIsMissing) {
  PlanQuestion question = asked();
  question.model.clear();
  EXPECT_THROW(searchRequest(question), sim::InputError);
  question = asked();
  question.memory_limit = "80";
  try {
    searchRequest(question);
    FAIL();
  } catch (const sim::InputError& error) {
    EXPECT_THAT(error.violations().front().remedy, testing::HasSubstr("80 GiB"));
  }
}

TEST(PlanQuestion, ASequenceBeyondThePositionsIsRefusedBeforeTheSearch) {
  PlanQuestion question = asked();
  question.sequence = 1 << 20;
  EXPECT_THROW(searchRequest(question), sim::InputError);
}

TEST(PlanQuestion, TakesTheSoftwareThatIsAskedFor) {
  PlanQuestion question = asked();
  EXPECT_EQ(searchRequest(question).cluster.software.name, "meshwright");
  question.software = "megatron-core";
  EXPECT_EQ(searchRequest(question).cluster.software.name, "megatron-core");
}

TEST(PlanQuestion, PlansForAProgramKeepToWhatItPerforms) {
  EXPECT_FALSE(searchRequest(asked()).why_not);
  const sim::ParallelPlan plan = test::examplePlan();  // two stages: DeepSpeed takes none from its file
  PlanQuestion question = asked();
  question.program = kWorker;
  EXPECT_TRUE(searchRequest(question).why_not(plan).empty());
  question.program = "deepspeed";
  EXPECT_THAT(searchRequest(question).why_not(plan), testing::Not(testing::IsEmpty()));
}

TEST(PlanQuestion, AClusterSaysItsDevicesAProfileAsMany) {
  EXPECT_EQ(devicesOf("dgx-a100-64", 8), 64);
  EXPECT_EQ(devicesOf("a100-80gb-sxm", 8), 8);
  EXPECT_THROW(devicesOf("profiles/models/gpt2.json", 8), sim::InputError);
}

TEST(PlanQuestion, KnowsTheProfiles) {
  EXPECT_THAT(knownSoftware(), testing::IsSupersetOf({"meshwright", "megatron-core", "plain"}));
  EXPECT_THAT(knownClusters(), testing::IsSupersetOf({"a100-80gb-sxm", "h100-80gb-sxm", "dgx-a100-64"}));
  EXPECT_THAT(modelsFolder(), testing::EndsWith("profiles/models"));
}

}  // namespace
}  // namespace gui
