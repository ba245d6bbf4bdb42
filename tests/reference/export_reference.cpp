// Trains small models on one rank and writes what reference_gpt.py holds against eager PyTorch: export_reference <folder>
//
//   <case>.json          the plan               <case>.safetensors   initial:, gradient: (first step), final: by parameter;
//                                                                    tokens:ids, tokens:targets [steps, samples, sequence]; result:losses
//   packed.safetensors     export_packed.h
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include <fstream>

#include "executor/model/random.h"
#include "executor/training/safetensors.h"
#include "executor/training/task_runner.h"
#include "executor/training/token_file.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/written_folder.h"
#include "tests/reference/export_packed.h"

namespace {

constexpr std::int64_t kSteps = 4;
using Tensors = std::vector<executor::NamedTensor>;

std::string write_tokens(const std::string& folder, std::int64_t vocabulary) {
  const std::string path = folder + "/tokens.bin";
  std::ofstream file(path, std::ios::binary);
  for (std::uint64_t at = 0; at < 2000; ++at) {
    const auto token = static_cast<std::uint16_t>(executor::random_bits({5}, at) % static_cast<std::uint64_t>(vocabulary));
    file.write(reinterpret_cast<const char*>(&token), sizeof token);
  }
  return path;
}

enum class What { Weights, Gradients };
void add(Tensors& stored, executor::ParameterStore& parameters, const std::string& prefix, What what) {
  for (executor::FlatBucket& bucket : parameters.buckets())
    for (const sim::BucketSlot& slot : bucket.layout().slots) {
      const sim::Parameter& parameter = parameters.parameter(slot);
      const std::vector<std::int64_t> matrix{parameter.rows, parameter.columns}, vector{parameter.rows};
      const executor::Leaf leaf = bucket.leaf(slot, parameter.columns > 1 ? matrix : vector);
      stored.push_back({.name = prefix + ":" + parameter.name, .values = (what == What::Weights ? leaf.value : leaf.gradient).clone()});
    }
}

void export_case(const std::string& folder, const std::string& name, const sim::ParallelPlan& plan) {
  const sim::ModelGraph model = sim::make_model_graph(plan);
  executor::MeshCommunicators communicators(plan.mesh, nullptr);
  executor::ParameterStore parameters(model, plan, sim::Rank(0), c10::kCPU);
  parameters.fill_initial_values();
  executor::TaskRunner runner(model, plan, communicators, parameters, {});
  const executor::TokenFile tokens(write_tokens(folder, plan.model.vocabulary), plan.workload.sequence);
  Tensors stored;
  add(stored, parameters, "initial", What::Weights);
  std::vector<at::Tensor> ids, targets;
  const at::Tensor losses = at::empty({kSteps}, at::kDouble);
  for (std::int64_t step = 0; step < kSteps; ++step) {
    const executor::StepBatch batch = executor::load_batch(tokens, plan, sim::Rank(0), step);
    ids.push_back(batch.ids.view({-1, plan.workload.sequence}));
    targets.push_back(batch.targets.view({-1, plan.workload.sequence}));
    losses.data_ptr<double>()[step] = runner.run_step(batch, {}).loss;
    if (step == 0) add(stored, parameters, "gradient", What::Gradients);
  }
  add(stored, parameters, "final", What::Weights);
  stored.push_back({.name = "tokens:ids", .values = at::stack(ids)});
  stored.push_back({.name = "tokens:targets", .values = at::stack(targets)});
  stored.push_back({.name = "result:losses", .values = losses});
  executor::write_safetensors(folder + "/" + name + ".safetensors", stored);
  sim::save_plan(plan, folder + "/" + name + ".json");
}

sim::ParallelPlan reference_plan(sim::ModelConfig model, sim::Precision precision) {
  model.embedding_dropout = model.residual_dropout = model.attention_dropout = 0;  // PyTorch draws other masks
  sim::ParallelPlan plan = parity::with_precision(parity::tiny_plan(model, {}), precision);
  plan.microbatch_size = 2;
  return plan;
}

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  const std::string folder = parity::written_folder(argc, argv, parity::Before::Anything);
  for (const sim::Precision precision : {sim::Precision::Fp32, sim::Precision::Fp64}) {
    const std::string suffix = fmt::format("_{}", sim::kPrecisionNames[static_cast<std::size_t>(precision)]);
    export_case(folder, "gpt2" + suffix, reference_plan(parity::tiny_gpt2(), precision));
    export_case(folder, "llama" + suffix, reference_plan(parity::tiny_llama(), precision));
    export_case(folder, "deepseek" + suffix, reference_plan(parity::tiny_deepseek(), precision));
  }
  parity::export_packed(folder);
  return 0;
}
