#include "sim/cost/resident_memory.h"

namespace sim {
namespace {

bool is_sixteen_bit(Precision precision) { return precision == Precision::Bf16 || precision == Precision::Fp16; }

Bytes& of(MemoryBreakdown& memory, MemoryCategory category) { return memory[static_cast<std::size_t>(category)]; }

}  // namespace

Bytes optimizer_bytes_per_element(const Workload& workload) {
  const std::int64_t moments = workload.optimizer == OptimizerKind::AdamW ? 2 : 1;
  if (is_sixteen_bit(workload.precision)) return Bytes(4) * (1 + moments);
  return bytes_per_element(workload.precision) * moments;
}

StageElements stage_elements(const std::vector<Bucket>& buckets) {
  StageElements elements;
  for (const Bucket& bucket : buckets) {
    elements.all += bucket.elements;
    elements.owned += bucket.shard_elements;
  }
  return elements;
}

StageElements unpadded_stage_elements(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage) {
  StageElements elements;
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk) {
    const LayerRange range = plan.layers(stage, chunk);
    for (LayerIndex layer = range.begin; layer < range.end; ++layer)
      for (const Parameter& parameter : model.layer(layer).parameters) elements.all += parameter.elements(plan.mesh.tensor);
  }
  if (plan.ties_across_stages(model) && stage.value() == plan.mesh.pipeline - 1)
    elements.all += model.layers.front().parameters.front().elements(plan.mesh.tensor);
  elements.owned = elements.all / plan.mesh.data;
  return elements;
}

bool accumulates_apart(const ParallelPlan& plan) {
  return plan.accumulation == Accumulation::ReduceEach && plan.num_microbatches() > 1 && plan.mesh.data > 1;
}

bool frees_full_gradients(const ParallelPlan& plan) { return sharding_strategy(plan).shards_gradients && plan.mesh.data > 1; }

MemoryBreakdown resident_memory(const ParallelPlan& plan, const StageElements& elements) {
  const ShardingStrategy& strategy = sharding_strategy(plan);
  const Bytes element = bytes_per_element(plan.workload.precision);
  MemoryBreakdown memory{};
  of(memory, MemoryCategory::Parameters) = element * (strategy.shards_parameters ? elements.owned : elements.all);
  of(memory, MemoryCategory::Gradients) = element * (strategy.shards_gradients ? elements.owned : elements.all);
  if (accumulates_apart(plan) && !strategy.shards_gradients)
    of(memory, MemoryCategory::Gradients) += element * (strategy.shards_optimizer ? elements.owned : elements.all);
  of(memory, MemoryCategory::OptimizerState) =
      optimizer_bytes_per_element(plan.workload) * (strategy.shards_optimizer ? elements.owned : elements.all);
  return memory;
}

}  // namespace sim
