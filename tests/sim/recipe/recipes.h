// Plans that leave and come back, for the tests of this room: written to a scratch folder, read with the same model and cluster beside them.
#pragma once

#include <gmock/gmock.h>

#include <filesystem>

#include "sim/recipe/recipe.h"
#include "tests/sim/plan/plans.h"

namespace sim::testing {

inline std::string recipe_folder() {
  const std::string folder = ::testing::TempDir() + "recipes_" + std::to_string(::getpid());
  std::filesystem::create_directories(folder);
  return folder;
}

// What the command line would say beside the file of that plan.
inline RecipeContext context_of(const ParallelPlan& plan) {
  return {.model = plan.model,
          .cluster = plan.cluster,
          .sequence = plan.workload.sequence,
          .global_batch = plan.workload.global_batch,
          .microbatch = plan.microbatch_size,
          .own_software = true};
}

inline std::string main_text(const Program& program, const ParallelPlan& plan) {
  const Recipe recipe = make_recipe(program, plan);
  return recipe.files.empty() ? "" : recipe.files.front().text;
}

inline ImportedPlan imported(const std::string& text, const RecipeContext& context) {
  const std::string path = recipe_folder() + "/given";
  FILE* const file = std::fopen(path.c_str(), "wb");
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  return import_recipe(path, context);
}

// All violations as one text, "" where it was read.
inline std::string refusal_of(const std::string& text, const RecipeContext& context) {
  try {
    imported(text, context);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

inline std::string text_of(const std::vector<Violation>& violations) {
  std::string text;
  for (const Violation& violation : violations) text += located(violation) + " | " + violation.remedy + "\n";
  return text;
}

inline std::string refused_by(const Program& program, const ParallelPlan& plan) { return text_of(make_recipe(program, plan).refused); }

// A plan of 8 GPUs in bf16, as the planner would make it.
inline ParallelPlan gpu_plan(DeviceMesh mesh) {
  ParallelPlan plan = tiny_plan(mesh);
  plan.cluster = load_cluster("h100-80gb-sxm", DeviceCount{mesh.ranks()});
  plan.workload = {
      .sequence = 32, .global_batch = 32, .precision = PrecisionPolicy(Precision::Bf16).with(Numbers::Gradients, Precision::Fp32)};
  return plan;
}

}  // namespace sim::testing
