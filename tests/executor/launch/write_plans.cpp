// Writes the plan files of worker_test.py into a folder, and those of loop_test.py into loop/ in it: write_plans <folder>
#include <filesystem>

#include "tests/parity/compositions.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/written_folder.h"

namespace {

sim::ParallelPlan small(const sim::ModelConfig& model, sim::DeviceMesh mesh) {
  sim::ParallelPlan plan = parity::tiny_plan(model, mesh);
  plan.model.vocabulary = 31;
  plan.training.checkpoint_interval = 2;
  return plan;
}

// Each composition as it is, and sharded data ranks with one of the ZeRO stages, in turn.
void write_loop_plans(const std::string& folder) {
  std::filesystem::create_directories(folder);
  std::int32_t stage = 1;
  for (const parity::Composition& composition : parity::compositions()) {
    sim::ModelConfig model = parity::model_of(composition);
    model.vocabulary = 31;
    sim::ParallelPlan plan = parity::plan_of(composition, model);
    sim::save_plan(plan, folder + "/" + composition.name + ".json");
    const bool has_copies = composition.mesh.copies() > 1 || (composition.experts && composition.mesh.expert_copies() > 1);
    if (!has_copies || !composition.codecs.empty() || composition.offload_parameters) continue;  // the last: of stage 3
    const bool wraps =
        composition.layers_per_unit > 1 || composition.mesh.reshard > 1 || composition.persistence_threshold > 0;  // of stage 3
    if (plan.sums_by_priority() || plan.optimizer_in_backward) continue;  // of stage 0; of 0 and 3, which are there
    if (composition.owners > 0) continue;                                 // has its stage
    const std::int32_t used = wraps ? 3 : std::min(stage, composition.last_stage());
    sim::save_plan(parity::with_zero(plan, used), folder + "/" + composition.name + "_zero" + std::to_string(used) + ".json");
    if (!wraps) stage = stage % 3 + 1;
  }
}

// Positions stretched by each method, so that each shows at 12 tokens a sample.
struct Stretched {
  std::string name;
  sim::ModelConfig model;
};
std::vector<Stretched> stretched_models() {
  std::vector<Stretched> models;
  const auto add = [&](sim::ModelConfig model, const sim::RopeScaling& scaling, const std::string& name) {
    model.rope_scaling = scaling;
    model.max_positions = scaling.kind == sim::RopeScalingKind::Dynamic ? 8 : 32;
    model.rope_theta = 100;
    models.push_back({model.model_type + "_" + name, model});
  };
  using Kind = sim::RopeScalingKind;
  add(parity::tiny_llama(), {.kind = Kind::Linear, .factor = 4}, "linear");
  add(parity::tiny_llama(), {.kind = Kind::Dynamic, .factor = 2}, "dynamic");
  add(parity::tiny_llama(), {.kind = Kind::Yarn, .factor = 4, .original_positions = 8, .beta_fast = 1, .beta_slow = 0.1}, "yarn");
  add(parity::tiny_llama(), {.kind = Kind::Llama3, .factor = 8, .original_positions = 16, .low_frequency = 0.5, .high_frequency = 4},
      "llama3");
  add(parity::tiny_llama(),
      {.kind = Kind::LongRope, .factor = 4, .original_positions = 8, .short_factor = {1, 1, 1}, .long_factor = {1.5, 2, 3}}, "longrope");
  add(parity::tiny_deepseek(),
      {.kind = Kind::Yarn, .factor = 4, .original_positions = 8, .beta_fast = 1, .beta_slow = 0.1, .mscale = 0.7, .mscale_all_dim = 1.4},
      "yarn");
  return models;
}

// For hugging_face_test.py and transformers_test.py: no dropout, and the update is w -= 1024 x gradient, so that gradients can be read off the
// weights (in fp32, too: beside such an update a weight is nothing).
sim::ParallelPlan readable(sim::ParallelPlan plan) {
  plan.workload.optimizer = sim::OptimizerKind::Sgd;
  plan.training.learning_rate = plan.training.minimum_learning_rate = 1024;
  plan.training.momentum = plan.training.weight_decay = plan.training.gradient_clip = 0;
  return plan;
}

void write_hugging_face_plans(const std::string& folder) {
  sim::ModelConfig direct = parity::tiny_deepseek();
  direct.model_type = "deepseek_v2";
  direct.attention.q_lora = 0;
  sim::ModelConfig mixtral = parity::tiny_mixtral();  // as its class in transformers has it
  mixtral.experts = sim::ExpertForm{.experts = 4, .topk = 2, .expert_ffn = mixtral.ffn, .renormalised = true};
  for (sim::ModelConfig model : {parity::tiny_gpt2(), parity::tiny_llama(), parity::tiny_deepseek(), direct, mixtral})
    for (const std::int32_t tensor : {1, 2})
      for (const sim::Precision precision : {sim::Precision::Fp32, sim::Precision::Fp64}) {
        model.embedding_dropout = model.residual_dropout = model.attention_dropout = 0;
        const sim::ParallelPlan plan = readable(parity::with_precision(small(model, {.tensor = tensor}), precision));
        sim::save_plan(plan, folder + "/hf_" + model.model_type + (model.experts ? "_experts" : "") + "_t" + std::to_string(tensor) + "_" +
                                 std::string(sim::kPrecisionNames[static_cast<std::size_t>(precision)]) + ".json");
      }
  for (const Stretched& stretched : stretched_models())
    sim::save_plan(readable(small(stretched.model, {})), folder + "/rope_" + stretched.name + ".json");
}

// For peft_test.py.
void write_adapter_plans(const std::string& folder) {
  sim::ModelConfig gpt2 = parity::tiny_gpt2();
  gpt2.embedding_dropout = gpt2.residual_dropout = gpt2.attention_dropout = 0;
  const auto write = [&](const sim::ModelConfig& model, const std::string& adapters, std::int32_t tensor, const std::string& base = "") {
    sim::ParallelPlan plan =
        parity::with_adapters(readable(parity::with_precision(small(model, {.tensor = tensor}), sim::Precision::Fp64)), adapters);
    plan.training.learning_rate = plan.training.minimum_learning_rate = 1;
    sim::save_plan(plan, folder + "/peft_" + model.model_type + "_t" + std::to_string(tensor) + base + ".json");
  };
  write(parity::tiny_llama(), "rank 3 alpha 6 on q,v,o,gate,down base nf4", 1, "_nf4");
  for (const std::int32_t tensor : {1, 2}) {
    write(gpt2, "rank 3 alpha 7 on qkv,o", tensor);
    write(parity::tiny_llama(), "rank 3 alpha 6 on q,v,o,gate,down", tensor);
  }
}

// One rank, and each family of networks of tests/reference/families.
void write_family_plans(const std::string& folder) {
  for (const auto& file : std::filesystem::directory_iterator("tests/reference/families")) {
    sim::ParallelPlan plan = readable(parity::tiny_plan(sim::load_model_config(file.path()), {}));
    plan.training.learning_rate = plan.training.minimum_learning_rate =
        1;  // fp64 reads that off, too, and no choice of experts becomes a tie
    sim::save_plan(parity::with_precision(plan, sim::Precision::Fp64), folder + "/family_" + file.path().filename().string());
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = parity::written_folder(argc, argv, parity::Before::Anything);
  sim::save_plan(small(parity::tiny_gpt2(), {}), folder + "/solo.json");
  sim::save_plan(parity::with_zero(small(parity::tiny_gpt2(), {.data = 2}), 3), folder + "/zero3.json");
  sim::save_plan(small(parity::tiny_llama(), {.pipeline = 2}), folder + "/pipeline.json");
  sim::ParallelPlan tensor = small(parity::tiny_gpt2(), {.tensor = 2});
  tensor.sequence_parallel = true;
  tensor.recompute = sim::Recompute::Full;
  sim::save_plan(tensor, folder + "/tensor.json");
  sim::ParallelPlan diverging = small(parity::tiny_gpt2(), {});
  diverging.training.learning_rate = diverging.training.minimum_learning_rate = 1e6;
  sim::save_plan(diverging, folder + "/diverging.json");
  sim::ParallelPlan refused = small(parity::tiny_gpt2(), {});
  refused.cluster.hardware.kind = sim::DeviceKind::Gpu;
  sim::save_plan(refused, folder + "/gpu.json");
  write_hugging_face_plans(folder);
  write_family_plans(folder);
  write_adapter_plans(folder);
  write_loop_plans(folder + "/loop");
  return 0;
}
