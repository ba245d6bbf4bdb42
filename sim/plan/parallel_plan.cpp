#include "sim/plan/parallel_plan.h"

#include <algorithm>

namespace sim {

std::int64_t ParallelPlan::num_microbatches() const { return workload.global_batch / (mesh.data * microbatch_size); }

PipelineShape ParallelPlan::pipeline_shape() const {
  return {.stages = mesh.pipeline, .microbatches = static_cast<std::int32_t>(num_microbatches()), .chunks = chunks};
}

ShardShape ParallelPlan::shard_shape() const {
  return {.microbatch = microbatch_size, .sequence = workload.sequence, .tensor = mesh.tensor, .sequence_parallel = sequence_parallel};
}

LayerRange ParallelPlan::layers(StageIndex stage, ChunkIndex chunk) const {
  const std::size_t at = static_cast<std::size_t>(chunk.value() * mesh.pipeline + stage.value());
  const LayerIndex end = at + 1 < cut.first.size() ? cut.first[at + 1] : LayerIndex(static_cast<std::int32_t>(model.layers) + 2);
  return {.begin = cut.first[at], .end = end};
}

bool ParallelPlan::owns(StageIndex stage, LayerIndex layer) const {
  for (ChunkIndex chunk{0}; chunk.value() < chunks; ++chunk) {
    const LayerRange range = layers(stage, chunk);
    if (range.begin <= layer && layer < range.end) return true;
  }
  return false;
}

bool ParallelPlan::ties_across_stages(const ModelGraph& graph) const {
  return graph.config.tied_embeddings && mesh.pipeline > 1;
}

ModelGraph make_model_graph(const ParallelPlan& plan) {
  return make_model_graph(plan.model, VocabularyMultiple{plan.vocabulary_multiple});
}

Bytes bytes_per_gradient(const ParallelPlan& plan) {
  return plan.workload.fp32_gradients ? Bytes(4) : bytes_per_element(plan.workload.precision);
}

StageCut even_cut(std::int64_t num_blocks, PipelineShape shape) {
  const std::int64_t parts = std::int64_t{shape.stages} * shape.chunks;
  StageCut cut;
  for (std::int64_t part = 0; part < parts; ++part) {
    const std::int64_t blocks_before = num_blocks * part / parts;
    cut.first.push_back(LayerIndex(part == 0 ? 0 : static_cast<std::int32_t>(1 + blocks_before)));
  }
  return cut;
}

}  // namespace sim
