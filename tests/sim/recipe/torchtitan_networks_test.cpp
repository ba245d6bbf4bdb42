#include <algorithm>

#include "sim/recipe/network.h"
#include "sim/recipe/torchtitan.h"
#include "sim/units/json_reader.h"
#include "tests/sim/recipe/recipes.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

ParallelPlan plan_of(const std::string& config) {
  ParallelPlan plan = testing::gpu_plan({.data = 4});
  plan.model = load_model_config(config);
  plan.zero_stage = 3;
  plan.workload.sequence = std::min<std::int64_t>(32, plan.model.max_positions);
  plan.cut = even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

// Every network of a config.json leaves and comes back as it was, or is refused with what cannot be said.
TEST(TorchtitanNetworks, EveryFamilyComesBackOrIsRefused) {
  const Json published = load_json_file("tests/sim/model/parameters.json");
  std::vector<std::string> carried;
  for (const auto& entry : std::filesystem::directory_iterator("profiles/models")) {
    const std::string name = entry.path().stem();
    if (!published.contains(name)) continue;
    const ParallelPlan plan = plan_of(entry.path());
    const std::string text = testing::main_text(kTorchtitan, plan);
    if (text.empty()) continue;
    carried.push_back(name);
    RecipeContext context = testing::context_of(plan);
    context.model.reset();
    const ModelConfig back = testing::imported(text, context).plan.model;
    const NetworkDifferences differences = network_differences(back, plan.model);
    EXPECT_THAT(differences.structure, ::testing::IsEmpty()) << name;
    EXPECT_THAT(differences.words, ::testing::IsEmpty()) << name;
    EXPECT_EQ(back.rope_scaling.kind, plan.model.rope_scaling.kind) << name;
    EXPECT_EQ(back.rope_scaling.factor, plan.model.rope_scaling.factor) << name;
  }
  std::ranges::sort(carried);
  EXPECT_THAT(carried, ::testing::ElementsAre("deepseek-v2-lite", "deepseek-v3", "gpt-oss-20b", "kimi-k2", "llama-3.1-8b", "qwen3-30b-a3b",
                                              "qwen3-8b"));
}

TEST(TorchtitanNetworks, WhatTheBuildersHaveAsConstantsIsRefused) {
  ParallelPlan plan = plan_of("profiles/models/gpt-oss-20b.json");
  plan.model.window = 256;
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("heads, windows and gates of gpt-oss are constants there"));
  plan = plan_of("profiles/models/qwen3-30b-a3b.json");
  plan.model.experts->dense_layers = {3};
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("which layers have experts is not written for qwen3"));
  plan.model.tied_embeddings = true;
  plan.mesh = {.data = 2, .pipeline = 2};
  EXPECT_THAT(testing::refused_by(kTorchtitan, plan), HasSubstr("embedding and head are not shared over stages"));
}

}  // namespace
}  // namespace sim
