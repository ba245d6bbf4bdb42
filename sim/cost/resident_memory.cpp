#include "sim/cost/resident_memory.h"

#include "sim/cost/gradient_lifetime.h"

namespace sim {
namespace {

Bytes& of(MemoryBreakdown& memory, MemoryCategory category) { return memory[static_cast<std::size_t>(category)]; }

}  // namespace

Bytes optimizer_bytes_per_element(const Workload& workload) {
  const std::int64_t moments = workload.optimizer == OptimizerKind::AdamW ? 2 : 1;
  if (is_sixteen_bit(workload.precision)) return Bytes(4) * (1 + moments);
  return bytes_per_element(workload.precision) * moments;
}

StageElements stage_elements(const ParallelPlan& plan, const std::vector<Bucket>& buckets) {
  const bool sums_apart = reduces_each(plan);
  StageElements elements;
  for (const Bucket& bucket : buckets) {
    elements.all += bucket.elements;
    elements.owned += bucket.shard_elements;
    if (sums_apart && bucket.shards > 1 && !bucket.tied)  // a tied weight is reduced once, at the end
      elements.summed_apart += sharding_strategy(plan).shards_optimizer ? bucket.shard_elements : bucket.elements;
  }
  return elements;
}

StageElements unpadded_stage_elements(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage) {
  StageElements elements;
  std::int64_t of_experts = 0;
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
    const LayerRange range = plan.layers(stage, chunk);
    for (LayerIndex layer = range.begin; layer < range.end; ++layer)
      for (const Parameter& parameter : model.layer(layer).parameters)
        (parameter.expert ? of_experts : elements.all) += local_elements(parameter, plan.mesh);
  }
  if (plan.ties_across_stages() && stage.value() == plan.mesh.pipeline - 1)
    elements.all += model.layers.front().parameters.front().elements(plan.mesh.tensor);
  elements.owned = elements.all / plan.mesh.shards() + of_experts / plan.mesh.expert_copies();
  elements.all += of_experts;
  return elements;
}

MemoryBreakdown resident_memory(const ParallelPlan& plan, const StageElements& elements) {
  const ShardingStrategy& strategy = sharding_strategy(plan);
  const Bytes element = bytes_per_element(plan.workload.precision);
  MemoryBreakdown memory{};
  of(memory, MemoryCategory::Parameters) = element * (strategy.shards_parameters ? elements.owned : elements.all);
  of(memory, MemoryCategory::Gradients) =
      bytes_per_gradient(plan) * ((strategy.shards_gradients ? elements.owned : elements.all) + elements.summed_apart);
  if (plan.offload_optimizer) return memory;
  of(memory, MemoryCategory::OptimizerState) =
      optimizer_bytes_per_element(plan.workload) * (strategy.shards_optimizer ? elements.owned : elements.all);
  return memory;
}

Bytes host_memory(const ParallelPlan& plan, const StageElements& elements) {
  if (!plan.offload_optimizer) return {};
  const Bytes each = bytes_per_gradient(plan) + optimizer_bytes_per_element(plan.workload) + bytes_per_element(plan.workload.precision);
  return each * (sharding_strategy(plan).shards_optimizer ? elements.owned : elements.all);
}

void add_step_data(MemoryBreakdown& memory, const ParallelPlan& plan) {
  constexpr Bytes kTokenId{8};
  const std::int64_t tokens = plan.shard_shape().tokens() * plan.num_microbatches();
  of(memory, MemoryCategory::Activations) += kTokenId * (2 * tokens);
  of(memory, MemoryCategory::OptimizerState) += kStepSummary;
  const std::int64_t positions =
      plan.context_algorithm == ContextAlgorithm::AllToAll ? plan.workload.sequence : plan.workload.sequence / plan.mesh.context;
  if (plan.model.position == Position::Rotary)
    of(memory, MemoryCategory::Parameters) += bytes_per_element(plan.workload.precision) * (positions * plan.model.head_dim);
}

}  // namespace sim
