#include "gui/core/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "planner/constraints.h"
#include "planner/plan_candidate.h"
#include "sim/estimate/network_config.h"

namespace gui {
namespace {

sim::NumberFormat formatOf(const PlanQuestion& question, sim::DeviceKind device) {
  if (question.precision.empty()) return device == sim::DeviceKind::Cpu ? sim::NumberFormat::Fp32 : sim::NumberFormat::Bf16;
  const std::optional<sim::NumberFormat> named = sim::find_number_format(question.precision);
  if (!named) throw sim::InputError("", {{"precision", "is unknown to the closed form", "choose fp32, tf32, fp16, bf16 or fp8"}});
  return *named;
}

planner::LayoutRequest layoutRequest(const PlanQuestion& question) {
  planner::LayoutRequest request;
  request.network = sim::load_network(question.model);
  request.network.sequence = question.sequence;
  request.network.effective_sequence = static_cast<double>(question.sequence);
  request.cluster = clusterOf(question);
  if (question.software.empty()) request.cluster.software = sim::load_software("meshwright");
  request.global_batch = question.global_batch;
  request.format = formatOf(question, request.cluster.hardware.kind);
  request.top = question.top;
  std::vector<sim::Violation> violations;
  const std::optional<sim::Bytes> limit = planner::memory_limit_of({.where = "memory limit", .value = question.memory_limit}, violations);
  if (!violations.empty()) throw sim::InputError("", violations);
  if (limit) request.cluster.hardware.memory = std::min(*limit, request.cluster.hardware.memory);
  return request;
}

// They come fastest first: on the front is what is smaller than all before.
std::vector<bool> frontOf(const std::vector<planner::EstimatedLayout>& ranked) {
  std::vector<bool> front;
  double least = std::numeric_limits<double>::infinity();
  for (const planner::EstimatedLayout& layout : ranked) {
    front.push_back(layout.memory.total_gib < least);
    least = std::min(least, layout.memory.total_gib);
  }
  return front;
}

std::int32_t scheduleRow(std::string_view name) {
  const std::span<const sim::Schedule> all = sim::all_schedules();
  const auto row = std::find_if(all.begin(), all.end(), [&](const sim::Schedule& schedule) { return schedule.name == name; });
  return row == all.end() ? -1 : static_cast<std::int32_t>(row - all.begin());
}

std::optional<sim::Recompute> recomputeOf(sim::RecomputeKind kind) {
  switch (kind) {
    case sim::RecomputeKind::None: return sim::Recompute::None;
    case sim::RecomputeKind::AttentionCore: return sim::Recompute::Selective;
    case sim::RecomputeKind::Full: return sim::Recompute::Full;
    default: return std::nullopt;
  }
}

// What an axis of one rank leaves open is as it stands by itself.
planner::PlanCandidate settled(planner::PlanCandidate candidate) {
  const planner::PlanCandidate usual;
  if (candidate.mesh.pipeline == 1) candidate.schedule = scheduleRow("1f1b");
  if (candidate.mesh.context == 1) candidate.context_algorithm = usual.context_algorithm;
  if (candidate.mesh.tensor == 1) candidate.sequence_parallel = usual.sequence_parallel;
  if (candidate.mesh.copies() == 1) candidate.zero_stage = 0;
  if (candidate.zero_stage < 3) candidate.reshard = usual.reshard;
  return candidate;
}

planner::PlanCandidate candidateOf(const sim::RunDescription& run) {
  const sim::Layout& layout = run.layout;
  const auto degree = [](std::int64_t count) { return static_cast<std::int32_t>(count); };
  planner::PlanCandidate candidate{
      .mesh = {.data = degree(layout.data), .pipeline = degree(layout.pipeline), .tensor = degree(layout.tensor)},
      .schedule = scheduleRow(layout.schedule),
      .chunks = degree(layout.chunks),
      .microbatch = degree(layout.micro_batch),
      .zero_stage = degree(layout.zero_stage),
      .reshard = layout.reshard,
      .sequence_parallel = layout.sequence_parallel,
      .recompute = recomputeOf(run.execution.recompute).value_or(sim::Recompute::Full)};
  candidate.mesh.context = degree(layout.context);
  candidate.mesh.expert = degree(layout.expert);
  if (layout.context_all_to_all) candidate.context_algorithm = sim::ContextAlgorithm::AllToAll;
  if (layout.zero_stage > 0 && layout.zero_group > 0)
    candidate.mesh.replicas = std::max(1, candidate.mesh.copies() / degree(layout.zero_group));
  return settled(candidate);
}

planner::PlanCandidate candidateOf(const sim::ParallelPlan& plan) {
  return settled({.mesh = plan.mesh,
                  .context_algorithm = plan.context_algorithm,
                  .schedule = scheduleRow(plan.schedule),
                  .chunks = plan.chunks,
                  .microbatch = static_cast<std::int32_t>(plan.microbatch_size),
                  .zero_stage = plan.zero_stage,
                  .reshard = plan.reshard_after_forward,
                  .sequence_parallel = plan.sequence_parallel,
                  .recompute = plan.recompute});
}

std::vector<sim::Violation> unspeakable(const sim::RunDescription& run) {
  std::vector<sim::Violation> found;
  const sim::Layout& layout = run.layout;
  if (layout.expert > 1 && layout.tensor > 1 && !layout.expert_tensor)
    found.push_back(
        {"/mesh/expert",
         fmt::format("experts over {} ranks, tensor groups of {} among them; plans deal experts over data and context ranks alone",
                     layout.expert, layout.tensor),
         "choose a row with tensor 1 or experts over 1"});
  if (!recomputeOf(run.execution.recompute))
    found.push_back(
        {"/recompute",
         fmt::format("is \"{}\", which no plan says", sim::kRecomputeKindNames[static_cast<std::size_t>(run.execution.recompute)]),
         "choose a row with none or full"});
  return found;
}

bool isAsked(const Estimate& estimate, const sim::ParallelPlan& plan) {
  const sim::Network& network = estimate.request.network;
  return plan.workload.global_batch == estimate.request.global_batch && plan.workload.sequence == network.sequence &&
         plan.model.layers == network.layers && plan.model.hidden == network.hidden &&
         plan.cluster.devices == estimate.request.cluster.devices && plan.cluster.hardware.name == estimate.request.cluster.hardware.name;
}

}  // namespace

sim::ParallelPlan planOf(const Estimate& estimate, std::size_t position) {
  const sim::RunDescription& run = estimate.result.ranked[position].run;
  sim::ParallelPlan plan = planner::make_plan(searchRequest(estimate.question), candidateOf(run));
  std::vector<sim::Violation> found = unspeakable(run);
  for (sim::Violation& broken : sim::violations(plan)) found.push_back(std::move(broken));
  if (!found.empty()) throw sim::InputError(fmt::format("layout {}", position + 1), found);
  return plan;
}

std::optional<std::size_t> layoutOf(const Estimate& estimate, const sim::ParallelPlan& plan) {
  if (!isAsked(estimate, plan)) return std::nullopt;
  const std::vector<planner::EstimatedLayout>& ranked = estimate.result.ranked;
  const auto row = std::find_if(ranked.begin(), ranked.end(), [wanted = candidateOf(plan)](const planner::EstimatedLayout& layout) {
    return unspeakable(layout.run).empty() && candidateOf(layout.run) == wanted;
  });
  return row == ranked.end() ? std::nullopt : std::optional(static_cast<std::size_t>(row - ranked.begin()));
}

SharedEstimate estimateOf(const PlanQuestion& question) {
  auto estimate = std::make_shared<Estimate>();
  estimate->question = question;
  estimate->request = layoutRequest(question);
  estimate->result = planner::rank_layouts(estimate->request);
  estimate->on_front = frontOf(estimate->result.ranked);
  return estimate;
}

void requireModel(const std::string& path) {
  try {
    sim::load_network(path);
  } catch (const sim::InputError&) {
    sim::load_model_config(path);  // its reasons are the ones to mend
  }
}

}  // namespace gui
