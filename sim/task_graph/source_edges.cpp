#include "sim/task_graph/source_edges.h"

#include <algorithm>

namespace sim {
namespace {

bool reads_source(const ParallelPlan& plan, StageIndex stage) {
  const LayerRange range = plan.layers(stage, ChunkIndex(0));
  for (LayerIndex layer = std::max(range.begin, LayerIndex(1)); layer < range.end && layer.value() <= plan.model.layers; ++layer)
    if (attends_to_source(plan.model, layer.value() - 1)) return true;
  return false;
}

}  // namespace

bool SourceEdges::reach(StageIndex stage) const { return std::ranges::binary_search(readers, stage); }

SourceEdges source_edges(const ParallelPlan& plan) {
  SourceEdges edges;
  if (!plan.direct_source || !plan.model.encoder) return edges;
  const std::int64_t tokens = plan.microbatch_size * tokens_in(Tokens::Source, plan.model, plan.workload.sequence);
  edges.rows = plan.bytes(Numbers::Activations) * (tokens * plan.model.hidden);
  if (plan.sequence_parallel) edges.rows = edges.rows / std::int64_t{plan.mesh.tensor};
  const LayerIndex last(static_cast<std::int32_t>(plan.model.encoder->layers));
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
    if (plan.owns(stage, last)) edges.from = stage;
    if (edges.from.exists() && stage.value() > edges.from.value() + 1 && reads_source(plan, stage)) edges.readers.push_back(stage);
  }
  return edges;
}

}  // namespace sim
