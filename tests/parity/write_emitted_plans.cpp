// Writes a fixed sample of all that the planner emits for tiny models on up to 8 CPU ranks, for emitted_test.py: write_emitted_plans <folder>
// Asked as `--runnable` asks. Fails where one of all those plans, drawn or not, would be refused by the worker: no word that it lacks competes.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "planner/evaluator.h"
#include "planner/search_space.h"
#include "sim/units/random_bits.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/written_folder.h"

namespace {

constexpr int kDrawn = 1;  // of all, and one more of those with replicas, and of those whose backwards take turns with forwards
constexpr std::size_t kMostJudged = 4000;

struct Question {
  std::int32_t devices = 1, devices_per_node = 1;
  sim::Precision precision = sim::Precision::Fp32;
  std::int64_t global_batch = 12;
  std::int32_t context = 1;  // more: as asked for; by itself the planner leaves short samples whole
};

planner::SearchRequest request_of(sim::ModelConfig model, const Question& question) {
  const sim::ParallelPlan tiny = parity::tiny_plan(model, {.data = question.devices});
  planner::SearchRequest request;
  model.vocabulary = 31;
  model.layers = 8;
  if (model.experts) model.experts->forced_balance = true;  // memory is compared, and an untrained router's choice is nobody's to predict
  request.model = model;
  request.cluster = tiny.cluster;
  request.cluster.hardware.devices_per_node = question.devices_per_node;
  request.cluster.hardware.inter_node = request.cluster.hardware.intra_node;
  request.workload = tiny.workload;
  request.workload.precision = question.precision;
  request.workload.global_batch = question.global_batch;
  request.vocabulary_multiple = tiny.vocabulary_multiple;
  request.training = tiny.training;
  request.why_not = sim::why_not_runnable;
  if (model.experts) request.own["expert_overlap"] = "true";
  if (question.context > 1) request.fixed["context"] = std::to_string(question.context);
  if (question.context > 1) request.model.attention_dropout = 0;
  return request;
}

std::string recomputed(const sim::ParallelPlan& plan) {
  std::string text(sim::kRecomputeNames[static_cast<std::size_t>(plan.recompute)]);
  for (const std::string_view module : sim::names_of(plan.recompute_scope.modules)) text += fmt::format("_{}", module);
  return text;
}

std::string name_of(const sim::ParallelPlan& plan) {
  const bool is_bf16 = plan.workload.precision.compute() == sim::Precision::Bf16;
  const std::string experts = plan.mesh.expert > 1 ? fmt::format("e{}", plan.mesh.expert) : "";
  const std::string context =
      plan.mesh.context == 1
          ? ""
          : fmt::format("c{}_{}_", plan.mesh.context, sim::kContextAlgorithmNames[static_cast<std::size_t>(plan.context_algorithm)]);
  const std::string units = (plan.layers_per_unit == 1 ? "" : fmt::format("_units{}", plan.layers_per_unit)) +
                            (plan.mesh.reshard == 1 ? "" : fmt::format("_near{}", plan.mesh.reshard));
  return fmt::format("{}{}_{}d{}{}r{}t{}p{}_{}v{}_m{}x{}_zero{}{}{}{}_{}", plan.model.model_type, is_bf16 ? "_bf16" : "", context,
                     plan.mesh.data, experts, plan.mesh.replicas, plan.mesh.tensor, plan.mesh.pipeline, plan.schedule, plan.chunks,
                     plan.num_microbatches(), plan.microbatch_size, plan.zero_stage, plan.reshard_after_forward ? "" : "_kept", units,
                     plan.sequence_parallel ? "_sequence" : "", recomputed(plan)) +
         (plan.expert_overlap ? "_paired" : "");
}

struct Draw {
  sim::RandomKey key;
  int count = 1;
};
void save_drawn(planner::Evaluator& evaluator, const std::vector<planner::PlanCandidate>& all, const Draw& draw,
                const std::string& folder) {
  int drawn = 0;
  for (std::uint64_t at = 0; drawn < draw.count; ++at) {
    const sim::ParallelPlan plan = evaluator.plan(all[sim::random_bits(draw.key, at) % all.size()]);
    if (!sim::violations(plan).empty()) continue;
    sim::save_plan(plan, folder + "/" + name_of(plan) + ".json");
    ++drawn;
  }
}

// Returns how many of the plans judged the worker would refuse.
int write_sample(const planner::SearchRequest& request, sim::RandomKey key, const std::string& folder) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const std::vector<planner::PlanCandidate> all = planner::enumerate(request).candidates.all();
  planner::Evaluator evaluator(request, model);
  int refused = 0;
  for (std::size_t at = 0; at < all.size(); at += all.size() / kMostJudged + 1) {
    const sim::ParallelPlan plan = evaluator.plan(all[at]);
    if (!sim::violations(plan).empty() || sim::why_not_runnable(plan).empty()) continue;
    fmt::print(stderr, "{}: {}\n", planner::to_text(all[at]), sim::why_not_runnable(plan).front().problem);
    ++refused;
  }
  save_drawn(evaluator, all, {.key = key, .count = kDrawn}, folder);
  const auto draw_of = [&](bool (*is_meant)(const planner::PlanCandidate&)) {
    std::vector<planner::PlanCandidate> some;
    std::ranges::copy_if(all, std::back_inserter(some), is_meant);
    if (!some.empty()) save_drawn(evaluator, some, {.key = key, .count = 1}, folder);
  };
  draw_of([](const planner::PlanCandidate& candidate) { return candidate.mesh.replicas > 1; });
  draw_of([](const planner::PlanCandidate& candidate) { return candidate.expert_overlap; });
  return refused;
}

}  // namespace

int main(int argc, char** argv) {
  using enum sim::Precision;
  const std::string folder = parity::written_folder(argc, argv, parity::Before::Nothing);  // what another build wrote is not of this one
  int refused = 0;
  std::uint64_t key = 1;
  const Question questions[] = {{2, 2},
                                {4, 4, Fp32, 10},
                                {4, 2, Bf16},
                                {6, 6},
                                {8, 8, Bf16, 16},
                                {8, 4},
                                {8, 2, Fp32, 24},
                                {2, 2, Fp32, 8, 2},
                                {4, 4, Fp32, 8, 2},
                                {8, 8, Bf16, 8, 2},
                                {6, 6, Fp32, 8, 3}};
  for (const Question& question : questions)
    for (const sim::ModelConfig& model : {parity::tiny_gpt2(), parity::tiny_llama(), parity::tiny_mixtral(), parity::tiny_deepseek()})
      refused += write_sample(request_of(model, question), {key++}, folder);
  return refused == 0 ? 0 : 1;
}
