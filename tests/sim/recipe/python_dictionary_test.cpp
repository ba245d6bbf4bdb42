#include "sim/recipe/python_dictionary.h"

#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

RecipeContext gpt_over(std::int32_t devices) {
  return {
      .model = testing::tiny_gpt2(), .cluster = load_cluster("h100-80gb-sxm", DeviceCount{devices}), .sequence = 32, .global_batch = 64};
}
constexpr const char* kCode =
    "import deepspeed\n\nSTEPS = 7  # of {warm-up}\nsettings: dict = {\n    'train_micro_batch_size_per_gpu': 4,  # samples\n"
    "    \"bf16\": {\"enabled\": True},\n    'zero_optimization': {'stage': 2, \"reduce_bucket_size\": 3_000_000, 'allgather_bucket_size': "
    "6e6,\n"
    "        'offload_optimizer': {'device': 'cpu'},},\n    'optimizer': {'type': 'AdamW', 'params': {'betas': (0.9, 0.95)}},\n}\n"
    "engine, *_ = deepspeed.initialize(model=net, config=settings)\n";

TEST(PythonDictionary, LiteralsBecomeJson) {
  EXPECT_EQ(deepspeed_dictionary("deepspeed\nx = {'train_batch_size': 8, 'a': [1, None, 2e-4,], 'b': (True, 'c')}\n"),
            R"({"train_batch_size": 8, "a": [1, null, 0.0002], "b": [true, "c"]})");
  EXPECT_EQ(deepspeed_dictionary("deepspeed\nx = {'lr': 1}\n"), std::nullopt);
  EXPECT_EQ(deepspeed_dictionary("x = {'train_batch_size': 8}\n"), std::nullopt) << "names DeepSpeed nowhere";
}

TEST(PythonDictionary, WhatIsComputedOrChangedIsNone) {
  const std::string begin = "deepspeed\nx = {'train_batch_size': ";
  for (const std::string end :
       {"8 * 2}\n", "batch}\n", "8, **more}\n", "8}\nx['zero_optimization'] = {}\n", "8}\nx.update(more)\n",
        "8}\ny = {'train_batch_size': 4}\n", "8}\ny = {'lr': rate, 'zero_optimization': {'stage': 1}}\n", "8", "{'a': {'b':"})
    EXPECT_EQ(deepspeed_dictionary(begin + end), std::nullopt) << end;
  EXPECT_NE(deepspeed_dictionary(begin + "8}\nprint(x['train_batch_size'])\nif x['a'] == 2: pass\n"), std::nullopt);
}

TEST(PythonDictionary, ItIsImportedAsDeepSpeeds) {
  const ImportedPlan read = testing::imported(kCode, gpt_over(4));
  EXPECT_EQ(read.program, &kDeepSpeed);
  EXPECT_EQ(read.plan.zero_stage, 2);
  EXPECT_EQ(read.plan.microbatch_size, 4);
  EXPECT_EQ(read.plan.num_microbatches(), 4);
  EXPECT_TRUE(read.plan.offload_optimizer);
  EXPECT_EQ(read.plan.workload.precision.compute(), Precision::Bf16);
  EXPECT_EQ(read.plan.training.beta2, 0.95);
  EXPECT_THAT(testing::text_of(read.notes), HasSubstr("is a dictionary in Python"));
}

TEST(PythonDictionary, ValuesOfTheCodeAreAskedFor) {
  EXPECT_THAT(testing::refusal_of("import deepspeed\nc = {\"zero_optimization\": {\"stage\": stage}}\n", gpt_over(4)),
              HasSubstr("with values that its code computes"));
}

}  // namespace
}  // namespace sim
