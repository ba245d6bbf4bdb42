#include "planner/nearest.h"

#include <cmath>

namespace planner {

Distance distance(const PlanCandidate& a, const PlanCandidate& b) {
  Distance all;
  const auto degree = [&](std::int32_t from, std::int32_t to) {
    if (from == to) return;
    ++all.axes;
    all.ratios += std::abs(std::log(static_cast<double>(from) / to));
  };
  degree(a.mesh.tensor, b.mesh.tensor);
  degree(a.mesh.pipeline, b.mesh.pipeline);
  degree(a.mesh.context, b.mesh.context);
  degree(a.mesh.expert, b.mesh.expert);
  degree(a.mesh.replicas, b.mesh.replicas);
  degree(a.microbatch, b.microbatch);
  degree(a.schedule + 1, b.schedule + 1);
  degree(a.chunks, b.chunks);
  degree(a.zero_stage + 1, b.zero_stage + 1);
  degree(a.layers_per_unit, b.layers_per_unit);
  degree(a.reshard_ranks, b.reshard_ranks);
  all.axes += (a.accumulation != b.accumulation) + (a.reshard != b.reshard) + (a.sequence_parallel != b.sequence_parallel) +
              (a.context_algorithm != b.context_algorithm) + (a.recompute != b.recompute) + (a.offload_optimizer != b.offload_optimizer) +
              (a.offload_activations != b.offload_activations);
  return all;
}

std::string changes(const PlanCandidate& from, const PlanCandidate& to) {
  const std::vector<Argument> before = axes_of(from), after = axes_of(to);
  std::vector<Argument> changed;
  for (std::size_t at = 0; at < after.size(); ++at)
    if (before[at] != after[at]) changed.push_back(after[at]);
  return to_text(changed);
}

std::string to_text(const std::vector<Argument>& axes) {
  std::string text;
  for (const Argument& axis : axes) text += (text.empty() ? "" : " ") + axis.name + "=" + axis.value;
  return text;
}

}  // namespace planner
