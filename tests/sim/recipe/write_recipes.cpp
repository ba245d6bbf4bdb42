// Writes exports of plans as the planner emits them, for every program, each in a folder of its own with what it must mean: expected.json.
//
//   write_recipes FOLDER [DEVICES]      FOLDER/deepspeed/17/{ds_config.json, expected.json}; 16 devices if not said
#include <cstdio>
#include <cstdlib>

#include "planner/search_space.h"
#include "sim/model/model_graph.h"
#include "sim/plan/parallel_plan.h"
#include "sim/recipe/recipe.h"
#include "sim/units/json_reader.h"
#include "tests/parity/written_folder.h"
#include "tests/sim/plan/plans.h"

namespace {

constexpr std::int64_t kBlocks = 4;
constexpr std::size_t kMostOfOne = 10;  // of one network, precision and optimizer, so that all of them come

// The first blocks of what people train, in its own sizes.
std::vector<sim::ModelConfig> published_networks() {
  std::vector<sim::ModelConfig> models;
  for (const char* const name : {"llama-3.1-8b", "qwen3-8b", "qwen3-30b-a3b", "deepseek-v3", "deepseek-v2-lite", "gpt-oss-20b",
                                 "glm-4.5-air", "nemotron-h-8b", "nemotron-3-nano-30b-a3b", "qwen3-next-80b-a3b"}) {
    sim::ModelConfig model = sim::load_model_config(std::string("profiles/models/") + name + ".json");
    model.layers = kBlocks;
    if (!model.windowed.empty()) model.windowed.resize(kBlocks);
    if (!model.linear_layers.empty()) model.linear_layers.resize(kBlocks), model.halves.resize(model.halves.empty() ? 0 : kBlocks);
    if (!model.halves.empty()) model.linear_layers.back() = false, model.halves.back() = sim::BlockHalf::Mixer;  // one attends
    models.push_back(std::move(model));
  }
  return models;
}

std::vector<planner::SearchRequest> requests(sim::DeviceCount devices) {
  std::vector<sim::ModelConfig> models = {sim::testing::tiny_llama(), sim::testing::tiny_gpt2(), sim::testing::tiny_llama()};
  models.push_back(models.front());
  models.back().model_type = "qwen2";
  models.back().attention_bias = true;
  models[2].model_type = "mixtral";
  models[2].experts = sim::ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 160, .renormalised = true};
  std::vector<planner::SearchRequest> all;
  for (const sim::ModelConfig& model : models)
    for (const auto& [precision, fp32] : {std::pair{sim::Precision::Bf16, true},
                                          {sim::Precision::Bf16, false},
                                          {sim::Precision::Fp16, false},
                                          {sim::Precision::Fp32, false}})
      for (const sim::OptimizerKind optimizer : {sim::OptimizerKind::AdamW, sim::OptimizerKind::Sgd}) {
        planner::SearchRequest request;
        request.model = model;
        request.cluster = sim::load_cluster("h100-80gb-sxm", devices);
        request.workload = {.sequence = 64, .global_batch = 32, .precision = sim::mixed_precision(precision, fp32), .optimizer = optimizer};
        request.offload = true;
        all.push_back(std::move(request));
      }
  for (const sim::ModelConfig& model : published_networks()) {
    all.push_back(all.front());
    all.back().model = model;
  }
  all.push_back(all.front());
  all.back().workload.precision = sim::PrecisionPolicy(sim::Precision::Bf16)
                                      .with(sim::Numbers::Masters, sim::Precision::Bf16)
                                      .with(sim::Numbers::Moments, sim::Precision::Bf16);
  all.push_back(all.front());  // in 8 bit, but for the ends
  all.back().workload.precision = sim::PrecisionPolicy(sim::Precision::Bf16)
                                      .with(sim::ScaleRecipe::Tensorwise, /*gathers_scaled=*/false)
                                      .with(sim::Numbers::Gradients, sim::Precision::Fp32)
                                      .with_unscaled({{0, 0}, {3, 3}});
  all.push_back(all.front());  // by a layout where stages are not equal
  all.back().model.layers = kBlocks + 1;
  all.back().model.mtp_layers = 1;
  all.push_back(all.back());
  all.back().model.mtp_apart = true;
  return all;
}

// Of what the judges build, which has no layers that predict further tokens.
sim::ModelConfig without_predictions(sim::ModelConfig model) {
  model.mtp_layers = 0;
  model.mtp_apart = false;
  return model;
}

sim::Json expected(const sim::ParallelPlan& plan) {
  const sim::DeviceMesh& mesh = plan.mesh;
  sim::Json json = {{"data", mesh.data},     {"tensor", mesh.tensor},     {"pipeline", mesh.pipeline}, {"context", mesh.context},
                    {"expert", mesh.expert}, {"replicas", mesh.replicas}, {"reshard", mesh.reshard},   {"ranks", mesh.ranks()}};
  json["chunks"] = plan.chunks;
  json["microbatch"] = plan.microbatch_size;
  json["microbatches"] = plan.num_microbatches();
  json["global_batch"] = plan.workload.global_batch;
  json["sequence"] = plan.workload.sequence;
  json["stage"] = plan.zero_stage;
  json["precision"] = std::string(sim::kPrecisionNames[static_cast<std::size_t>(plan.workload.precision.compute())]);
  json["unscaled"] = sim::Json::array();
  for (std::int64_t block = 0; block < plan.model.layers; ++block)
    if (sim::has(plan.workload.precision.unscaled_blocks(), block)) json["unscaled"].push_back(block);
  json["in_one_type"] = !plan.workload.precision.has_masters();
  json["fp32_gradients"] = sim::reduces_in_fp32(plan);
  json["optimizer"] = std::string(sim::kOptimizerNames[static_cast<std::size_t>(plan.workload.optimizer)]);
  json["recompute"] = std::string(sim::kRecomputeNames[static_cast<std::size_t>(plan.recompute)]);
  json["sequence_parallel"] = plan.sequence_parallel;
  json["offload_optimizer"] = plan.offload_optimizer;
  json["blocks"] = sim::blocks_of(plan);
  json["model"] = to_json(plan.model);
  json["parameters"] = sim::num_parameters(sim::make_model_graph(without_predictions(plan.model), {1}));
  return json;
}

std::size_t write(const sim::Program& program, const planner::SearchRequest& request, const std::string& folder, std::size_t next) {
  const std::vector<planner::PlanCandidate> candidates = planner::enumerate(request).candidates.all();
  std::size_t written = 0;
  const bool says_little = &program == &sim::kNanotron;  // more are tried, with what it does whatever a plan says
  const std::size_t stride = says_little ? 7 : std::max<std::size_t>(1, candidates.size() / 400) * 2 + 1;
  for (std::size_t at = 0; at < candidates.size() && written < kMostOfOne; at += stride) {
    sim::ParallelPlan plan = planner::make_plan(request, candidates[at]);
    if (plan.model.predicts_apart() && plan.mesh.pipeline > 1) plan.cut.first.back() = plan.head();
    if (says_little) take_habits(program, plan);
    if (!violations(plan).empty() || !sim::make_recipe(program, plan).refused.empty()) continue;
    const std::string place = folder + "/" + std::string(program.name) + "/" + std::to_string(next + written++);
    sim::export_recipe(program, plan, place);
    sim::save_json_file(expected(plan), place + "/expected.json");
  }
  return written;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = parity::written_folder(argc, argv, parity::Before::Anything);
  const sim::DeviceCount devices{argc > 2 ? std::atoi(argv[2]) : 16};
  for (const sim::Program* const program : sim::all_programs()) {
    std::size_t written = 0;
    for (const planner::SearchRequest& request : requests(devices)) written += write(*program, request, folder, written);
    std::printf("%s: %zu recipes\n", std::string(program->name).c_str(), written);
  }
}
