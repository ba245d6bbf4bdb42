#include "cli/checked.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "sim/cost/planned_blocks.h"
#include "sim/cost/prediction_interval.h"
#include "sim/engine/out_of_memory.h"
#include "sim/timeline/bubble.h"
#include "sim/timeline/intervals.h"
#include "sim/units/at.h"

namespace cli {
namespace {

using sim::IdleCause;
using sim::SimTime;
using Parts = std::vector<sim::Intervals::Interval>;

std::span<const sim::Span> spans_of(const sim::Timeline& timeline, std::size_t device) {
  const auto is_before = [&](const sim::Span& span) { return span.device.position() < device; };
  const auto is_of = [&](const sim::Span& span) { return span.device.position() == device; };
  const auto first = std::find_if_not(timeline.spans.begin(), timeline.spans.end(), is_before);
  return {first, std::find_if_not(first, timeline.spans.end(), is_of)};
}

struct Sums {
  double ranks = 0;
  sim::Seconds recomputing{}, stepping{};
  std::map<std::string, StepCause> exposed;

  void add(std::span<const sim::Span> spans, double like_it) {
    Parts computing;
    std::map<std::string, Parts> kinds;
    for (const sim::Span& span : spans) {
      const bool moves = sim::moves_data(span.key.operation) || sim::is_of_host(span.stream);
      (moves ? kinds[sim::kind_text(span.key)] : computing).push_back({span.start, span.end});
      if (moves) exposed[sim::kind_text(span.key)].of_host = sim::is_of_host(span.stream);
      if (moves) continue;
      if (span.key.phase == sim::Phase::Recompute) recomputing += like_it * sim::to_seconds(span.end - span.start);
      if (span.key.phase == sim::Phase::Step) stepping += like_it * sim::to_seconds(span.end - span.start);
    }
    const sim::Intervals busy(std::move(computing));
    for (auto& [name, parts] : kinds)
      exposed[name].time += like_it * sim::to_seconds(sim::Intervals(std::move(parts)).without(busy).length());
    ranks += like_it;
  }
};

void take_causes(Checked& checked, const sim::SimulatedStep& step) {
  Sums sums;
  for (std::size_t device = 0; device < step.timeline.devices.size(); ++device)
    sums.add(spans_of(step.timeline, device), step.timeline.devices[device].multiplicity);
  const sim::IdleTime all = sim::all_devices(sim::idle_times(step.explained, step.graph), step.graph);
  const auto idle = [&](IdleCause cause) { return sim::to_seconds(all.of(cause)) / sums.ranks; };
  const sim::Seconds recomputing = sums.recomputing / sums.ranks, stepping = sums.stepping / sums.ranks;
  checked.causes = {{"computing", sim::to_seconds(all.computing) / sums.ranks - recomputing - stepping},
                    {"computing again", recomputing},
                    {"stepping the weights", stepping},
                    {std::string(kExposedCommunication), idle(IdleCause::ExposedCommunication)},
                    {"pipeline filling and emptying", idle(IdleCause::WarmUp) + idle(IdleCause::Drain)},
                    {"uneven stages", idle(IdleCause::Imbalance)},
                    {"waiting for other stages", idle(IdleCause::DependencyWait)},
                    {std::string(kWaitingForHost), idle(IdleCause::Host)}};
  for (const auto& [name, kind] : sums.exposed)
    if (kind.time.count() > 0) checked.communication.push_back({name, kind.time / sums.ranks, kind.of_host});
  std::stable_sort(checked.communication.begin(), checked.communication.end(),
                   [](const StepCause& a, const StepCause& b) { return a.time > b.time; });
}

// The instant at which the device holds most.
SimTime peak_of(const sim::Timeline& timeline, std::size_t device) {
  SimTime peak{};
  sim::Bytes most(-1);
  for (const sim::MemorySample& sample : timeline.memory)
    if (sample.device.position() == device && sim::total(sample.alive) > most) peak = sample.time, most = sim::total(sample.alive);
  return peak;
}

std::string name_of(const sim::MemoryBlock& block) {
  const std::string category(sim::at(sim::kMemoryCategoryNames, block.category));
  if (!block.owner) return category + ", the whole step";
  return fmt::format("{} of {}", category, sim::kind_text(*block.owner));
}

void take_tensors(Checked& checked, const sim::SimulatedStep& step) {
  const auto fullest = static_cast<std::size_t>(sim::fullest_device(checked.result) - checked.result.devices.data());
  const SimTime peak = peak_of(step.timeline, fullest);
  std::map<std::string, HeldTensors> alike;
  const std::vector<sim::RankMemory> blocks = sim::planned_blocks(step);
  for (const sim::MemoryBlock& block : blocks[fullest].blocks) {
    if (block.taken > peak || block.freed <= peak) continue;
    HeldTensors& held = alike[name_of(block)];
    held.category = block.category;
    ++held.count;
    held.bytes += block.size;
  }
  for (auto& [name, held] : alike) held.what = name, checked.tensors.push_back(std::move(held));
  std::stable_sort(checked.tensors.begin(), checked.tensors.end(),
                   [](const HeldTensors& a, const HeldTensors& b) { return a.bytes > b.bytes; });
}

}  // namespace

Checked checked(Subject subject, sim::Bytes limit) {
  Checked all;
  all.subject = std::move(subject), all.limit = limit;
  const sim::ParallelPlan& plan = all.subject.plan;
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const sim::TaskGraph graph = sim::lower(model, plan, sim::fold_of({}, plan));
  all.result = sim::simulate(model, plan, graph, sim::Detail::Timeline);
  const sim::Timeline timeline = std::exchange(all.result.timeline, {});
  const sim::Dependencies explained = sim::dependencies_of(graph, timeline, sim::stream_order(plan));
  const sim::SimulatedStep step{model, plan, graph, timeline, explained};
  take_causes(all, step);
  take_tensors(all, step);
  all.out_of_memory_chance = sim::out_of_memory_chance(plan, all.result, limit);
  return all;
}

double chance_faster(const Checked& one, const Checked& than) {
  const auto a_token = [](const Checked& of) { return sim::Seconds(1 / of.result.tokens_per_second); };
  return sim::chance_faster({one.subject.plan, a_token(one)}, {than.subject.plan, a_token(than)});
}

}  // namespace cli
