#include "sim/cost/library_workspaces.h"

namespace sim {
namespace {

constexpr std::int64_t kThreads = 2;  // the forward's, and the backward's
constexpr Bytes kBesideHandle{std::int64_t{1} << 20};

// The forward's thread makes them on the stream of reductions.
bool makes_factors(const ParallelPlan& plan) { return plan.workload.precision.gradient_codec().is_low_rank() && plan.mesh.shards() > 1; }

// Forward a bias is added inside the product; its gradient is none.
bool adds_biases(const ModelConfig& model) { return model.attention_bias || model.projection_bias || model.mlp_bias; }

bool scales_some(const ParallelPlan& plan) {
  const PrecisionPolicy& precision = plan.workload.precision;
  const BlockRanges every = blocks_at({.first = plan.model.layers}, plan.model.layers);
  return precision.scales() && (precision.unscaled_blocks() != every || precision.scales_head());
}

std::int64_t threads_beside_handles(const ParallelPlan& plan) {
  if (scales_some(plan)) return kThreads;
  return adds_biases(plan.model) ? 1 : 0;
}

bool is_embedding_alone(const ParallelPlan& plan, StageIndex stage) {
  if (plan.mesh.pipeline == 1) return false;
  for (ChunkIndex chunk{0}; chunk.value() < plan.chunks; ++chunk)
    if (plan.layers(stage, chunk).end.value() > 1) return false;
  return true;
}

}  // namespace

Bytes library_workspaces(const ParallelPlan& plan) {
  if (!is_worker_on_gpu(plan.cluster)) return {};
  const std::int64_t pairs = kThreads + (makes_factors(plan) ? 1 : 0);
  return plan.cluster.hardware.handle_workspace * pairs + kBesideHandle * threads_beside_handles(plan);
}

Bytes library_workspaces(const ParallelPlan& plan, StageIndex stage) {
  const Bytes all = library_workspaces(plan);
  return all == Bytes{} || is_embedding_alone(plan, stage) ? Bytes{} : all;
}

}  // namespace sim
