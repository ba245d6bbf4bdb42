#include "planner/layouts.h"

#include <tbb/parallel_for.h>

#include <algorithm>

#include "sim/estimate/layer_work.h"

namespace planner {
namespace {

using sim::RecomputeKind;
constexpr RecomputeKind kRecomputes[] = {RecomputeKind::None, RecomputeKind::AttentionCore, RecomputeKind::Full};

double utilization(const LayoutRequest& request, const sim::Device& device, sim::Seconds step) {
  const double flops = sim::model_flops(request.network) * sim::real(request.global_batch);
  return flops / (step.count() * request.cluster.devices * device.matrix_peak(request.format).value());
}

// More recomputation is slower: the first that fits is the fastest.
EstimatedLayout settled(const LayoutRequest& request, sim::RunDescription run, const sim::Setting& setting) {
  EstimatedLayout layout;
  for (const RecomputeKind kind : kRecomputes) {
    run.execution.recompute = kind;
    layout.memory = sim::estimate_memory(run, setting);
    if (layout.memory.total_gib <= layout.memory.available_gib) break;
  }
  layout.run = std::move(run);
  if (layout.memory.total_gib > layout.memory.available_gib) return layout;
  layout.step = sim::estimate_step(layout.run, setting);
  layout.mfu = utilization(request, setting.device, layout.step.time);
  return layout;
}

}  // namespace

LayoutResult rank_layouts(const LayoutRequest& request) {
  if (std::vector<sim::Violation> found = layout_violations(request); !found.empty()) throw sim::InputError("", std::move(found));
  const sim::Device device(request.cluster.hardware);
  const sim::Setting setting{device, request.cluster.software};
  std::vector<sim::RunDescription> space = layout_space(request);
  std::vector<EstimatedLayout> layouts(space.size());
  tbb::parallel_for(std::size_t{0}, space.size(), [&](std::size_t at) { layouts[at] = settled(request, std::move(space[at]), setting); });
  LayoutResult result{.ranked = {}, .candidates = layouts.size(), .smallest = {}};
  const auto smaller = [](const EstimatedLayout& a, const EstimatedLayout& b) { return a.memory.total_gib < b.memory.total_gib; };
  if (const auto least = std::min_element(layouts.begin(), layouts.end(), smaller); least != layouts.end()) result.smallest = *least;
  const auto fits = [](const EstimatedLayout& layout) { return layout.memory.total_gib <= layout.memory.available_gib; };
  const auto end = std::stable_partition(layouts.begin(), layouts.end(), fits);
  result.over_memory = static_cast<std::size_t>(layouts.end() - end);
  layouts.erase(end, layouts.end());
  std::stable_sort(layouts.begin(), layouts.end(), [](const auto& a, const auto& b) { return a.step.time < b.step.time; });
  if (layouts.size() > static_cast<std::size_t>(request.top)) layouts.erase(layouts.begin() + request.top, layouts.end());
  result.ranked = std::move(layouts);
  return result;
}

}  // namespace planner
