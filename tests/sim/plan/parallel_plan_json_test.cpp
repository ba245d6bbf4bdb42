#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim/units/text_file.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

TEST(PlanFile, ReadsBackWhatWasWritten) {
  ParallelPlan plan = testing::interleaved_plan({.data = 2, .pipeline = 2, .tensor = 1}, 2);
  plan.predictions = Predictions{Seconds(0.25), Bytes(1 << 20), plan_hash(plan)};
  plan.training.learning_rate = 1.25e-4;
  plan.offload_optimizer = plan.offload_activations = true;
  plan.recompute = Recompute::Full;
  plan.layers_per_unit = 2;
  plan.mesh = {.data = 4, .pipeline = 2, .tensor = 1, .reshard = 2};
  plan.cluster.devices = 8;
  const Json json = to_json(plan);
  const ParallelPlan read = plan_from_json(json, "plan.json");
  EXPECT_EQ(to_json(read).dump(), json.dump());
  EXPECT_EQ(read.training, plan.training);
}

// Files of an earlier version stay what they were: the same bytes when written again, and the hash that their predictions name.
TEST(PlanFile, WhatWasWrittenBeforeReadsAndHashesAsBefore) {
  for (const std::string name :
       {"gpt2", "llama", "mixtral", "deepseek_v3", "cpu", "dense", "sharded", "replicated", "experts", "written_order"}) {
    const std::string path = "tests/sim/plan/written_before/" + name + ".json";
    const ParallelPlan plan = load_plan(path);
    EXPECT_TRUE(name == "dense" || to_json(plan).dump(2) + "\n" == load_text_file(path)) << name;
    EXPECT_EQ(plan_hash(plan), plan.predictions.value().hash) << name;
  }
}

// "dense" says fp32_gradients beside its precision, which is one field now.
TEST(PlanFile, AnOlderSpellingIsReadAndNotWritten) {
  const ParallelPlan plan = load_plan("tests/sim/plan/written_before/dense.json");
  const Json json = to_json(plan);
  EXPECT_EQ(json["workload"]["precision"], "bf16 gradients=fp32");
  EXPECT_FALSE(json["workload"].contains("fp32_gradients"));
  EXPECT_EQ(plan_hash(plan_from_json(json, "plan.json")), plan_hash(plan));
}

TEST(PlanFile, HashCoversTheGraphAndNotTheTraining) {
  ParallelPlan plan = testing::tiny_plan();
  const std::string before = plan_hash(plan);
  plan.training.seed = 99;
  EXPECT_EQ(plan_hash(plan), before);
  plan.microbatch_size = 2;
  const std::string other = plan_hash(plan);
  EXPECT_NE(other, before);
  plan.layers_per_unit = 2;
  EXPECT_NE(plan_hash(plan), other);
}

TEST(PlanFile, WhereTheOptimizerLiesIsPartOfTheHashAndAbsentOtherwise) {
  ParallelPlan plan = testing::tiny_plan();
  EXPECT_FALSE(to_json(plan).contains("offload_optimizer"));
  const std::string before = plan_hash(plan);
  plan.offload_optimizer = true;
  EXPECT_NE(plan_hash(plan), before);
  EXPECT_EQ(differences(testing::tiny_plan(), plan).layout, std::vector<std::string>{"/offload_optimizer: false before, true now"});
}

TEST(PlanFile, RefusesAnotherFormatAndBrokenFields) {
  Json json = to_json(testing::tiny_plan());
  json["format"] = "meshwright.run/1";
  EXPECT_THROW(plan_from_json(json, "plan.json"), InputError);
  json = to_json(testing::tiny_plan());
  json["bucket_size"] = 25;
  json["schedule"] = 3;
  try {
    plan_from_json(json, "plan.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.violations().size(), 2u);
    EXPECT_THAT(error.what(), HasSubstr("/bucket_size"));
  }
}

TEST(PlanFile, RefusesAPlanThatCannotBe) {
  Json json = to_json(testing::tiny_plan());
  json["mesh"]["tensor"] = 3;
  EXPECT_THROW(plan_from_json(json, "plan.json"), InputError);
}

TEST(PlanFile, WhatFollowsFromOthersIsNothingElse) {
  for (const Json& wrong : {Json(7), Json("nan"), Json(2.5), Json::array()}) {
    Json json = to_json(testing::tiny_plan());
    json["microbatches"] = wrong;
    EXPECT_THAT([&] { plan_from_json(json, "plan.json"); }, ::testing::ThrowsMessage<InputError>(HasSubstr("follows from the others")))
        << wrong;
  }
  Json json = to_json(testing::tiny_plan());
  json.erase("microbatches");
  EXPECT_NO_THROW(plan_from_json(json, "plan.json"));
}

TEST(PlanFile, NamesWhatIsNoFieldOfAPlan) {
  Json json = to_json(testing::tiny_plan());
  json["layer_per_unit"] = 2;
  json["mesh"]["tenser"] = 1;
  try {
    plan_from_json(json, "plan.json");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.violations().size(), 2u);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("/layer_per_unit"), HasSubstr("/mesh/tenser")));
  }
}

TEST(ParallelPlanJson, AWrittenOrderComesBack) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2});
  plan.schedule = "v-half";
  plan.chunks = 2;
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  ParallelPlan written = plan;
  written.take_order(plan.order_table());
  const ParallelPlan again = plan_from_json(to_json(written), "plan");
  EXPECT_EQ(again.schedule, "csv");
  for (StageIndex stage(0); stage.value() < 2; ++stage) EXPECT_EQ(again.order(stage), plan.order(stage));
  EXPECT_EQ(again.placement(), ChunkPlacement::V);
  EXPECT_TRUE(again.splits_backward());
  EXPECT_NE(plan_hash(again), plan_hash(plan));
}

TEST(PlanJson, AdaptersAreReadBack) {
  ParallelPlan plan = testing::tiny_plan();
  std::vector<Violation> wrong;
  plan.model.adapters = parse_adapters("rank 4 on qkv,o base nf4", wrong);
  EXPECT_EQ(plan_from_json(to_json(plan), "plan.json").model.adapters, plan.model.adapters);
  EXPECT_NE(plan_hash(plan), plan_hash(testing::tiny_plan()));
}

// Rates that no training survives are faults of the file: 1e25 in the place of 1e-5.
TEST(PlanFile, RatesHaveAnEnd) {
  for (const char* name : {"learning_rate", "minimum_learning_rate", "weight_decay", "epsilon"}) {
    Json json = to_json(testing::tiny_plan());
    json["training"][name] = 1e25;
    EXPECT_THAT([&] { plan_from_json(json, "f"); }, ::testing::ThrowsMessage<InputError>(HasSubstr(name))) << name;
  }
}

}  // namespace
}  // namespace sim
