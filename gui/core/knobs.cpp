#include "gui/core/knobs.h"

#include <algorithm>

namespace gui {

Knobs knobsOf(const sim::ParallelPlan& plan) {
  return {.tensor = plan.mesh.tensor,
          .pipeline = plan.mesh.pipeline,
          .chunks = plan.chunks,
          .schedule = plan.schedule,
          .microbatch = plan.microbatch_size,
          .zero_stage = plan.zero_stage,
          .accumulation = plan.accumulation,
          .layers_per_unit = plan.layers_per_unit,
          .reshard_ranks = plan.mesh.reshard,
          .recompute = plan.recompute,
          .sequence_parallel = plan.sequence_parallel,
          .offload_optimizer = plan.offload_optimizer,
          .offload_activations = plan.offload_activations};
}

sim::ParallelPlan turned(sim::ParallelPlan plan, const Knobs& knobs) {
  const bool same_parts = plan.mesh.pipeline == knobs.pipeline && plan.chunks == knobs.chunks;
  plan.mesh.tensor = knobs.tensor;
  plan.mesh.pipeline = knobs.pipeline;
  plan.mesh.data = std::max(1, plan.cluster.devices / std::max(1, knobs.tensor * knobs.pipeline * plan.mesh.context));
  const std::int32_t copies = plan.mesh.copies();
  if (copies % plan.mesh.replicas != 0 || plan.mesh.replicas >= copies) plan.mesh.replicas = 1;
  if (copies % plan.mesh.expert != 0) plan.mesh.expert = 1;
  plan.chunks = knobs.chunks;
  plan.schedule = knobs.schedule;
  plan.microbatch_size = knobs.microbatch;
  plan.zero_stage = knobs.zero_stage;
  plan.accumulation = knobs.accumulation;
  plan.layers_per_unit = knobs.layers_per_unit;
  plan.mesh.reshard = knobs.reshard_ranks;
  plan.recompute = knobs.recompute;
  plan.sequence_parallel = knobs.sequence_parallel;
  plan.offload_optimizer = knobs.offload_optimizer;
  plan.offload_activations = knobs.offload_activations;
  plan.predictions.reset();
  const bool cuttable = static_cast<std::int64_t>(knobs.pipeline) * knobs.chunks <= plan.model.layers;
  if (!same_parts && cuttable) plan.cut = sim::even_cut(plan.model.layers, plan.pipeline_shape());
  return plan;
}

sim::ParallelPlan movedBoundary(sim::ParallelPlan plan, const Boundary& boundary) {
  std::vector<sim::LayerIndex>& first = plan.cut.first;
  if (boundary.part == 0 || boundary.part >= first.size()) return plan;
  const bool last = boundary.part + 1 == first.size();
  const auto behind =
      last ? static_cast<std::int32_t>(plan.model.layers) + 1 : first[boundary.part + 1].value();  // the head is behind the blocks
  const std::int32_t least = first[boundary.part - 1].value() + 1, most = behind - 1;
  if (least > most) return plan;
  first[boundary.part] = sim::LayerIndex(std::clamp(boundary.first.value(), least, most));
  plan.predictions.reset();
  return plan;
}

}  // namespace gui
