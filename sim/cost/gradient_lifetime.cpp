#include "sim/cost/gradient_lifetime.h"

#include <algorithm>

#include "sim/task_graph/layer_tasks.h"
#include "sim/units/at.h"

namespace sim {

bool reduces_each(const ParallelPlan& plan) {
  return plan.accumulation == Accumulation::ReduceEach && plan.num_microbatches() > 1 && plan.mesh.has_copies();
}

namespace {

bool keeps_buckets(const ParallelPlan& plan) {
  return habits_of(plan.cluster).keeps_buckets && plan.zero_stage == 0 && !plan.offload_optimizer;
}

}  // namespace

bool drops_gradients(const ParallelPlan& plan) {
  const bool are_whole = !sharding_strategy(plan).shards_gradients || !plan.mesh.has_copies();
  return keeps_buckets(plan) || (plan.optimizer_in_backward && are_whole);
}

bool has_buckets_beside(const ParallelPlan& plan) { return keeps_buckets(plan) && plan.mesh.has_copies(); }

GradientLifetime::GradientLifetime(const ModelGraph& model, const ParallelPlan& plan)
    : model_(model),
      plan_(plan),
      ends_with_step_(drops_gradients(plan)),
      is_limited_(ends_with_step_ || plan.offload_parameters || (sharding_strategy(plan).shards_gradients && plan.mesh.has_copies())) {
  if (!is_limited_) return;
  first_ = ByLayerKind<Operation>(model.firsts.size());
  for (const LayerIndex layer : model.firsts)
    if (model.goes_back(layer)) first_[model.kind(layer)] = backward_pieces(model, plan, layer).front().operation;
  first_piece_.resize(count_of(plan.mesh.pipeline));
}

// A stage's order is made when it is asked for: who prices one layer asks for the first stage's alone.
const std::vector<GradientLifetime::PieceOfStep>& GradientLifetime::first_pieces(StageIndex stage) const {
  std::vector<PieceOfStep>& first = first_piece_[stage.position()];
  if (!first.empty()) return first;
  first.resize(count_of(plan_.chunks));
  for (const StageAction& action : plan_.order(stage)) {
    PieceOfStep& known = first[action.chunk.position()];
    if (action.kind == ActionKind::Backward && !known.first.exists()) known = {action.microbatch, action.slice};
  }
  return first;
}

bool GradientLifetime::may_begin(const TaskKey& key) const {
  const bool goes_back = is_limited_ && key.phase == Phase::Backward && key.layer.exists();
  return goes_back && key.sequence == 0 && key.operation == first_[model_.kind(key.layer)];
}

bool GradientLifetime::is_first_piece(const TaskKey& key) const {
  return first_pieces(key.stage)[key.chunk.position()] == std::pair(key.microbatch, key.slice);
}

LayerIndex GradientLifetime::first_backward(const BucketSlot& slot) const {
  const bool is_token_embedding = slot.layer == LayerIndex(0) && slot.parameter == 0;
  return is_token_embedding && plan_.reads_embedding(plan_.embedding_reader()) ? plan_.embedding_reader() : slot.layer;
}

// Of a bucket's layers the last one goes backward first.
LayerIndex GradientLifetime::first_backward(const Bucket& bucket) const {
  LayerIndex last(0);
  for (const BucketSlot& slot : bucket.slots) last = std::max(last, first_backward(slot));
  return last;
}

// In every microbatch where each is reduced by itself, else in the first. A tied weight is reduced once, at the end.
bool GradientLifetime::begins(const TaskKey& key, const Bucket& bucket) const {
  const bool each = plan_.accumulation == Accumulation::ReduceEach && !bucket.tied && !ends_with_step_;
  return (each || is_first_piece(key)) && first_backward(bucket) == key.layer;
}

}  // namespace sim
