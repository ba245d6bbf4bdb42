// Gradients of a stage: reduced as they become ready, what ranks hold copies of at the end.
#include <algorithm>

#include "sim/task_graph/stage_writer.h"

namespace sim {

// The last task that its gradients wait for.
std::int32_t StageWriter::reduce(const Bucket& bucket, BucketIndex index, MicrobatchIndex microbatch, std::int32_t after) {
  const bool accumulates = plan_.accumulation == Accumulation::ReduceEach && plan_.num_microbatches() > 1 && !bucket.tied;
  if (!is_reduced(bucket, plan_)) return plan_.offload_parameters && accumulates ? add_on_host(index, microbatch, after) : after;
  Task task{.key = {.stage = stage_,
                    .chunk = bucket.chunk,
                    .microbatch = microbatch,
                    .layer = bucket.ready_after,
                    .phase = Phase::Gradients,
                    .sequence = index.value()},
            .stream = Stream::Reduce,
            .bucket = index};
  std::int32_t last = after;
  if (bucket.shards > 1)
    for (const WireStep& step : reduction_steps(bucket, plan_)) last = emit(of_step(task, step, buckets_.size()), {last});
  if (plan_.mesh.replicas > 1) {  // what is left of the shard (of all, where nothing is sharded) over the replicas
    task.key.operation = Operation::AllReduce;
    task.key.group = MeshAxis::Replica;
    task.payload = plan_.bytes(Numbers::Wire, bucket.ready_after) *
                   (scatters_gradients(plan_) ? moved_shard(bucket, plan_) : moved_elements(bucket, plan_));
    last = bucket.shards > 1 ? emit(task, {}) : emit(task, {last});
  }
  if (!accumulates) return last;
  if (plan_.offload_parameters) return add_on_host(index, microbatch, last);
  task.key.operation = Operation::Accumulate;
  task.key.group = MeshAxis::None;
  task.payload = Bytes{};
  return emit(task, {});
}

// The optimizer's part of a bucket goes to the host as soon as its gradients are final, beside the backward of the layers below, as DeepSpeed sends
// each reduced bucket (stage_1_and_2.py: copy_grads_in_partition); where tensor ranks still have to sum parts of them, after that.
void StageWriter::finish_bucket(BucketIndex index, std::int32_t reduced) {
  if (plan_.offload_optimizer && replicated().elements == 0 && on_host_[index.position()] == kNobody)
    copy_to_host(index, MicrobatchIndex::none(), reduced);
}

// Gradients of each microbatch leave; from the second on what the host has so far comes up to be added to (DeepSpeed: stage3.py, partition_grads).
std::int32_t StageWriter::add_on_host(BucketIndex index, MicrobatchIndex microbatch, std::int32_t reduced) {
  const Bucket& bucket = buckets_[index.position()];
  if (const std::int32_t before = on_host_[index.position()]; before != kNobody) {
    Task sum{.key = {.stage = stage_,
                     .chunk = bucket.chunk,
                     .microbatch = microbatch,
                     .layer = bucket.ready_after,
                     .phase = Phase::Gradients,
                     .operation = Operation::CopyToDevice,
                     .sequence = index.value()},
             .stream = Stream::ToDevice,
             .bucket = index,
             .payload = plan_.bytes(Numbers::Gradients, bucket.ready_after) * bucket.shard_elements};
    const std::int32_t fetched = emit(sum, {before, reduced});
    sum.key.operation = Operation::Accumulate;
    sum.stream = Stream::Reduce;
    sum.payload = Bytes{};
    reduced = emit(sum, {fetched, reduced});
  }
  copy_to_host(index, microbatch, reduced);
  return on_host_[index.position()];
}

void StageWriter::copy_to_host(BucketIndex index, MicrobatchIndex microbatch, std::int32_t after) {
  const Bucket& bucket = buckets_[index.position()];
  Task copy{.key = {.stage = stage_,
                    .chunk = bucket.chunk,
                    .microbatch = microbatch,
                    .layer = bucket.ready_after,
                    .phase = Phase::Gradients,
                    .operation = Operation::CopyToHost,
                    .sequence = index.value()},
            .stream = Stream::ToHost,
            .bucket = index,
            .payload = plan_.bytes(Numbers::Gradients, bucket.ready_after) * host_elements(bucket, plan_)};
  on_host_[index.position()] = emit(copy, {after});
}

bool StageWriter::waits_for_head(const Bucket& bucket) const {
  return std::ranges::any_of(bucket.slots, [&](const BucketSlot& slot) { return plan_.delays_weights(slot.layer); });
}

// Behind the stage's last backward, microbatch by microbatch.
void StageWriter::write_delayed_weights() {
  const LayerIndex head = model_.head();
  if (!plan_.delays_weights(head) || !plan_.owns(stage_, head)) return;
  const auto count = static_cast<std::int32_t>(std::min<std::int64_t>(plan_.delay_head_wgrad, plan_.num_microbatches()));
  for (MicrobatchIndex microbatch(0); microbatch.value() < count; ++microbatch) {
    Visit visit{.action = {ActionKind::Weight, microbatch, plan_.site(plan_.virtual_stage(head)).chunk, SliceIndex::none()},
                .layer = head,
                .unit = head,
                .last_of_chunk = microbatch.value() + 1 == count,
                .gathered = {}};
    chain_ = kNobody;
    run(visit, Phase::Weight, pieces_of(head).weight);
    reduce_ready(visit);
  }
}

void StageWriter::reduce_ready(const Visit& visit) {
  const bool is_delayed = visit.action.kind == ActionKind::Weight && plan_.delays_weights(visit.layer);
  if (visit.action.kind != completes_gradients_ && !is_delayed) return;
  if (plan_.accumulation == Accumulation::ReduceLast && !visit.last_of_chunk) return;
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    const Bucket& bucket = buckets_[at];
    if (bucket.chunk != visit.action.chunk || bucket.tied || bucket.frozen) continue;
    if (waits_for_head(bucket) ? !is_delayed : is_delayed || bucket.ready_after != visit.layer) continue;
    const BucketIndex index(static_cast<std::int32_t>(at));
    if (sums_parts()) {
      reduce_in_parts(index, visit);
      continue;
    }
    const std::int32_t reduced = reduce(bucket, index, visit.action.microbatch, last_compute_);
    if (visit.last_of_chunk) finish_bucket(index, reduced);
    if (plan_.optimizer_in_backward) update(index, reduced);
  }
}

// Parameters that every tensor rank holds in full, with a part of their gradients: side by side in one message, in the widest of their types.
StageWriter::Replicated StageWriter::replicated() const {
  Replicated all;
  for (ChunkIndex chunk{0}; chunk.value() < plan_.chunks; ++chunk)
    for (LayerIndex layer = plan_.layers(stage_, chunk).begin; layer < plan_.layers(stage_, chunk).end; ++layer)
      for (const Parameter& parameter : model_.layer(layer).parameters)
        if (sums_over_tensor(parameter, plan_))
          all = {all.elements + local_elements(parameter, plan_.mesh), std::max(all.number, plan_.bytes(Numbers::Wire, layer))};
  return all;
}

// After the last action: gradients that several ranks hold copies of.
void StageWriter::finish_gradients() {
  if (const Replicated sums = replicated(); sums.elements > 0) {
    Task sum{.key = {.stage = stage_, .phase = Phase::Gradients, .operation = Operation::AllReduce, .group = MeshAxis::Tensor},
             .stream = Stream::Reduce};
    sum.payload = sums.number * sums.elements;
    emit(sum, {last_compute_});
  }
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    const Bucket& bucket = buckets_[at];
    if (!bucket.tied) continue;
    const BucketIndex index(static_cast<std::int32_t>(at));
    Task sum{.key = {.stage = stage_, .chunk = bucket.chunk, .layer = bucket.ready_after, .phase = Phase::Gradients},
             .stream = Stream::Reduce};
    sum.key.operation = Operation::AllReduce;
    sum.key.group = MeshAxis::Embedding;
    sum.key.sequence = index.value();
    sum.bucket = index;
    sum.payload = plan_.bytes(Numbers::Wire, bucket.ready_after) * moved_elements(bucket, plan_);
    finish_bucket(index, reduce(bucket, index, MicrobatchIndex::none(), emit(sum, {last_compute_})));
  }
  for (std::size_t at = 0; plan_.offload_optimizer && at < buckets_.size(); ++at)
    if (on_host_[at] == kNobody && !buckets_[at].frozen)
      copy_to_host(BucketIndex(static_cast<std::int32_t>(at)), MicrobatchIndex::none(), last_reduce_);
}

}  // namespace sim
