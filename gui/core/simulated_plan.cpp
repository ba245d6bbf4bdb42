#include "gui/core/simulated_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/cost/memory_model.h"

namespace gui {
namespace {

using Owner = std::pair<sim::MemoryCategory, sim::MicrobatchIndex>;
using Owned = std::map<Owner, sim::Bytes>;

void apply(Owned& owned, const std::vector<sim::MemoryChange>& changes, sim::MicrobatchIndex microbatch) {
  for (const sim::MemoryChange& change : changes) {
    const bool of_step = change.category == sim::MemoryCategory::Gradients || change.category == sim::MemoryCategory::GatheredUnits;
    owned[{change.category, of_step ? sim::MicrobatchIndex::none() : microbatch}] += change.amount;
  }
}

using SpanOf = std::map<std::pair<sim::DeviceId, sim::TaskKey>, const sim::Span*>;
SpanOf spansByKey(const sim::Timeline& timeline) {
  SpanOf spans;
  for (const sim::Span& span : timeline.spans) spans.emplace(std::pair(span.device, span.key), &span);
  return spans;
}

// As the memory tracker does it: taken at the start, freed at the end; the sender's buffer when the receive ended.
void replay(Owned& owned, const SimulatedPlan& simulated, const Moment& moment) {
  const sim::MemoryModel memory(simulated.model, simulated.plan);
  const SpanOf spans = spansByKey(simulated.result.timeline);
  for (const sim::Task& task : simulated.graph.tasks()) {
    const sim::Span& span = *spans.at({task.device, task.key});
    const sim::MemoryEffect& effect = memory.effect(task, simulated.graph);
    if (task.device == moment.device && span.start <= moment.time) apply(owned, effect.at_start, task.key.microbatch);
    if (task.device == moment.device && span.start <= moment.time && span.end > moment.time)
      apply(owned, effect.temporary, task.key.microbatch);
    if (task.device == moment.device && span.end <= moment.time) apply(owned, effect.at_end, task.key.microbatch);
    if (task.peer == moment.device && span.end <= moment.time) apply(owned, effect.on_sender, task.key.microbatch);
  }
  const sim::StageIndex stage = simulated.graph.devices()[moment.device.position()].stage;
  const sim::MemoryBreakdown resident = memory.resident(stage);
  for (std::size_t category = 0; category < resident.size(); ++category)
    owned[{static_cast<sim::MemoryCategory>(category), sim::MicrobatchIndex::none()}] += resident[category];
}

}  // namespace

SharedPlan simulatePlan(const sim::ParallelPlan& plan, sim::Fold fold) {
  if (const std::vector<sim::Violation> broken = sim::violations(plan); !broken.empty()) throw sim::InputError("", broken);
  auto simulated = std::make_shared<SimulatedPlan>();
  simulated->plan = plan;
  simulated->model = sim::make_model_graph(plan);
  simulated->graph = sim::lower(simulated->model, simulated->plan, fold);
  simulated->result = sim::simulate(simulated->model, simulated->plan, simulated->graph, sim::Detail::Timeline);
  const sim::Dependencies step = sim::dependencies_of(simulated->graph, simulated->result.timeline, sim::streams_of(plan));
  simulated->critical = sim::critical_path(step, simulated->result.timeline);
  simulated->idle = sim::idle_times(step, simulated->graph);
  return simulated;
}

std::vector<AliveItem> aliveAt(const SimulatedPlan& simulated, const Moment& moment) {
  Owned owned;
  replay(owned, simulated, moment);
  std::vector<AliveItem> items;
  for (const auto& [owner, amount] : owned)
    if (amount != sim::Bytes(0)) items.push_back({owner.first, owner.second, amount});
  std::stable_sort(items.begin(), items.end(), [](const AliveItem& a, const AliveItem& b) { return a.amount > b.amount; });
  return items;
}

std::string summaryOf(const sim::ParallelPlan& plan) {
  return fmt::format("data {} \u00d7 tensor {} \u00d7 pipeline {}, {}, {} microbatches of {}, ZeRO {}, recompute {}", plan.mesh.data,
                     plan.mesh.tensor, plan.mesh.pipeline, plan.schedule, plan.num_microbatches(), plan.microbatch_size, plan.zero_stage,
                     sim::kRecomputeNames[static_cast<std::size_t>(plan.recompute)]);
}

}  // namespace gui
