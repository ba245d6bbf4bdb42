// Writes the plan files of worker_test.py into a folder: write_plans <folder>
#include <filesystem>

#include "tests/parity/tiny_plans.h"

namespace {

sim::ParallelPlan small(const sim::ModelConfig& model, sim::DeviceMesh mesh) {
  sim::ParallelPlan plan = parity::tiny_plan(model, mesh);
  plan.model.vocabulary = 31;
  plan.training.checkpoint_interval = 2;
  return plan;
}

}  // namespace

int main(int, char** argv) {
  const std::string folder = argv[1];
  std::filesystem::create_directories(folder);
  sim::save_plan(small(parity::tiny_gpt2(), {}), folder + "/solo.json");
  sim::save_plan(parity::with_zero(small(parity::tiny_gpt2(), {.data = 2}), 3), folder + "/zero3.json");
  sim::save_plan(small(parity::tiny_llama(), {.pipeline = 2}), folder + "/pipeline.json");
  sim::ParallelPlan diverging = small(parity::tiny_gpt2(), {});
  diverging.training.learning_rate = diverging.training.minimum_learning_rate = 1e30;
  sim::save_plan(diverging, folder + "/diverging.json");
  sim::ParallelPlan refused = small(parity::tiny_gpt2(), {.tensor = 2});
  refused.sequence_parallel = true;
  sim::save_plan(refused, folder + "/sequence_parallel.json");
  return 0;
}
