// The end of a step: norm, update, new weights. Where the next step does not wait for all of it, what it waits for instead.
//
//   plain                    | ... B | norm | update 1 | update 0 | gather 1 | gather 0 |            the next step begins behind all of it
//   overlap_weight_gather    | gather 0 | gather 1     beside    F 0 | F 1 | ... | norm | update 1 | update 0 |
//   partition_size           | update 0 | F 0 | update 1 | F 1 | ... B 1 | B 0 |    beside the sums of layer 1, then 0, then the rest of 1
//   optimizer_in_backward    | ... B 1 | update 1 | B 0 | update 0 | norm |    of nothing but the loss; over data ranks beside B 0, behind the sums of layer 1
//   post_validation          stage s: | ... W | norm | told by s - 1, tells s + 1 | update |    told by s + 1 what all stages found, before the next B
#include "sim/plan/scaled_products.h"
#include "sim/task_graph/stage_writer.h"

namespace sim {

// What the layer reads of what a step makes new: buckets that are gathered (overlap_weight_gather), or stepped.
std::vector<std::int32_t> StageWriter::read_by(LayerIndex layer) const {
  const bool reads_embedding = plan_.reads_embedding(layer);
  std::vector<std::int32_t> found;
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    const Bucket& bucket = buckets_[at];
    if (bucket.frozen || (plan_.overlap_weight_gather && bucket.shards == 1)) continue;
    const bool holds = std::any_of(bucket.slots.begin(), bucket.slots.end(), [&](const BucketSlot& slot) {
      return slot.layer == layer || (reads_embedding && slot.layer == LayerIndex(0));
    });
    if (holds) found.push_back(static_cast<std::int32_t>(at));
  }
  return found;
}

void StageWriter::find_new_weights(const std::vector<Visit>& visits) {
  if (!plan_.crosses_steps()) return;
  for (const Visit& visit : visits) {
    if (visit.action.kind == ActionKind::Forward && visit.opens) forwards_.push_back(visit.action.chunk);
    if (visit.action.kind != ActionKind::Forward || visit.action.microbatch != MicrobatchIndex(0) || !visit.layer.exists()) continue;
    for (const std::int32_t bucket : read_by(visit.layer))
      if (std::find(new_weights_.begin(), new_weights_.end(), bucket) == new_weights_.end()) new_weights_.push_back(bucket);
  }
}

// A bucket's new weights: stepped where its sums have come, or gathered. What computing has issued so far comes first.
std::int32_t StageWriter::renew(std::int32_t bucket) {
  const BucketIndex index(bucket);
  if (sums_parts()) return update(index, kNobody);
  return emit(gather_of_new_weights(index), {last_compute_});
}

// Gathered at the end of a step for whose end the next one does not wait: its readers do.
void StageWriter::note_readers(const Visit& visit, std::int32_t first) {
  if (visit.action.kind != ActionKind::Forward || next_read_ == new_weights_.size()) return;
  for (const std::int32_t bucket : read_by(visit.layer))
    if (sim::at(renewed_, bucket) == kNobody) {
      sim::at(renewed_, bucket) = first;
      ++next_read_;
    }
}

// As Megatron-Core has it where a stage holds several chunks (align_param_gather; pipeline_parallel/schedules.py): new weights of the first two are gathered
// as the step begins, those of chunk c + 1 as many forwards before the first one of chunk c as stages lie in front, so that all stages gather at once.
//
//   stage 0 | gather 0, 1 | F chunk 0 x p          | gather 2 | F chunk 1 x p
//   stage 1 | gather 0, 1 | F chunk 0 x (p - 1) | gather 2 | F chunk 0 | F chunk 1 x p
void StageWriter::gather_ahead(const Visit& visit) {
  if (!gathers_by_chunk() || visit.action.kind != ActionKind::Forward || !visit.opens) return;
  const std::size_t aligned = std::min(forwards_.size() - 1, next_forward_++ + stage_.position());
  const ChunkIndex last(std::max(1, forwards_[aligned].value() + 1));
  const auto is_due = [&](std::int32_t bucket) { return sim::at(buckets_, bucket).chunk <= last; };
  for (; next_new_ < new_weights_.size() && is_due(new_weights_[next_new_]); ++next_new_)
    renewed_[count_of(new_weights_[next_new_])] = renew(new_weights_[next_new_]);
}

// The tasks that the first forward of a layer waits for. Of a single chunk, as Megatron-Core has it, the next bucket is gathered beside what reads this one
// (distributed_data_parallel.py: a forward's hook waits for its bucket and dispatches the next).
std::vector<std::int32_t> StageWriter::await_new_weights(const Visit& visit) {
  std::vector<std::int32_t> awaited;
  if (visit.action.kind != ActionKind::Forward || next_read_ == new_weights_.size() || !renews_when_read()) return awaited;
  for (const std::int32_t bucket : read_by(visit.layer)) {
    const std::size_t place = position_in(new_weights_, std::find(new_weights_.begin(), new_weights_.end(), bucket));
    if (place < next_read_) continue;
    next_read_ = place + 1;
    const std::size_t end = std::min(new_weights_.size(), next_read_ + (plan_.overlap_weight_gather && !gathers_by_chunk() ? 1 : 0));
    for (; next_new_ < end; ++next_new_) renewed_[count_of(new_weights_[next_new_])] = renew(new_weights_[next_new_]);
    awaited.push_back(sim::at(renewed_, bucket));
  }
  return awaited;
}

Task StageWriter::gather_of_new_weights(BucketIndex index) const {
  const Bucket& bucket = buckets_[index.position()];
  Task weights = step_task(Operation::AllGather, axis_of(bucket), Stream::Gather);
  weights.key.layer = bucket.ready_after;
  weights.key.sequence = index.value();
  weights.bucket = index;
  weights.payload = gathered_bytes(plan_, bucket);
  return weights;
}

// ByteScheduler: parts of a bucket, which the stream takes by priority. The layer nearest to the input is needed first.
void StageWriter::reduce_in_parts(BucketIndex index, const Visit& visit) {
  const Bucket& bucket = buckets_[index.position()];
  const Bytes element = plan_.bytes(Numbers::Wire, bucket.ready_after);
  const std::int64_t most = plan_.partition_size.value() / element.value();
  for (std::int64_t left = moved_elements(bucket, plan_); left > 0; left -= std::min(left, most)) {
    Task part{.key = {.stage = stage_,
                      .chunk = bucket.chunk,
                      .microbatch = visit.action.microbatch,
                      .layer = bucket.ready_after,
                      .phase = Phase::Gradients,
                      .operation = Operation::AllReduce,
                      .group = axis_of(bucket),
                      .sequence = num_parts_++},
              .stream = Stream::Reduce,
              .bucket = index,
              .payload = element * std::min(left, most),
              .priority = bucket.ready_after.value()};
    sums_[index.position()].push_back(emit(part, {last_compute_}));
  }
}

Task StageWriter::tell(Operation operation, std::int32_t when) const {
  const Stream beside = operation == Operation::Send ? Stream::Send : Stream::Receive;
  Task task = step_task(operation, MeshAxis::Pipeline, when == kAfterStep ? Stream::Gather : beside);  // behind no activation
  task.key.sequence = when;
  task.payload = kStepSummary;
  return task;
}

// The sums of all ranks.
std::int32_t StageWriter::agree(std::int32_t ready) {
  if (plan_.mesh.ranks() == 1) return ready;
  Task sum = step_task(Operation::AllReduce, MeshAxis::World, Stream::Reduce);
  sum.payload = kStepSummary;
  return emit(sum, {ready});
}

// The largest magnitudes of all ranks, that the next step's scales come from.
void StageWriter::agree_on_maxima(std::int32_t ready) {
  Task maxima = step_task(Operation::AllReduce, MeshAxis::World, Stream::Reduce);
  maxima.key.sequence = kOfMaxima;
  maxima.payload = agreed_maxima(plan_, model_);
  if (maxima.payload > Bytes(0)) emit(maxima, {ready});
}

// Of the stages so far alone (zero-bubble-pipeline-parallelism, megatron/optimizer/optimizer.py: pre_step).
std::int32_t StageWriter::agree_with_stage_before(std::int32_t ready) {
  const auto sum_over = [&](MeshAxis axis) {
    Task sum = step_task(Operation::AllReduce, axis, Stream::Reduce);
    sum.payload = kStepSummary;
    return emit(sum, {ready});
  };
  if (plan_.mesh.tensor > 1) ready = sum_over(MeshAxis::Tensor);
  if (strategy_.shards_optimizer && plan_.mesh.shards() > 1) ready = sum_over(MeshAxis::Data);
  if (stage_.value() > 0) ready = told_ = emit(tell(Operation::Receive, kBeforeStep), {ready});
  if (stage_.value() + 1 < plan_.mesh.pipeline) emit(tell(Operation::Send, kBeforeStep), {ready});
  return ready;
}

// Once a step, before its first backward: what all stages found in the step before.
void StageWriter::validate() {
  if (plan_.post_validation == PostValidation::None || validation_ != kNobody) return;
  if (stage_.value() + 1 < plan_.mesh.pipeline) validation_ = emit(tell(Operation::Receive, kAfterStep), {});
  if (stage_.value() == 0) return;
  const std::int32_t passed_on = emit(tell(Operation::Send, kAfterStep), {validation_});
  if (validation_ == kNobody) validation_ = passed_on;
}

// On the device, or on the host: then the new weights come up, beside the host's work on the next bucket (DeepSpeed's CPU-Adam copies tile by tile).
// Of a bucket that both step, the device's part is done before what the host has made comes up: whoever waits for that has both.
// Inside the backward it follows its sum, where it does not keep the layers below waiting: FSDP 2 runs hooks behind a gradient in the stream that has
// reduced it (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py), DDP behind its bucket's all-reduce in one of their own.
std::int32_t StageWriter::update(BucketIndex index, std::int32_t ready) {
  const Bucket& bucket = buckets_[index.position()];
  Task task{.key = {.stage = stage_,
                    .layer = bucket.ready_after,
                    .phase = Phase::Step,
                    .operation = Operation::Update,
                    .sequence = index.value()},
            .bucket = index};
  if (plan_.optimizer_in_backward && is_reduced(bucket, plan_)) task.stream = Stream::Reduce;
  if (!plan_.offload_optimizer) return emit(task, {ready});
  const std::int32_t on_device = plan_.offload_share < 1 ? emit(task, {ready}) : kNobody;
  task.key.operation = Operation::HostUpdate;
  task.stream = Stream::Host;
  const std::int32_t updated = emit(task, {ready, on_host_[index.position()]});
  if (plan_.offload_parameters) return updated;
  task.key.operation = Operation::CopyToDevice;
  task.stream = Stream::ToDevice;
  task.payload = plan_.bytes(Numbers::Weights, bucket.ready_after) * host_elements(bucket, plan_);
  return emit(task, {on_device, updated});
}

// Owner by owner. Sequence numbers name bucket and owner.
void StageWriter::send_weights(BucketIndex index, std::int32_t updated) {
  const Bucket& bucket = buckets_[index.position()];
  for (std::int32_t owner = 0; owner < bucket.shards; ++owner) {
    const ShardRange owned = range_of(bucket, owner);
    if (owned.count == 0) continue;
    Task weights = step_task(Operation::Broadcast, axis_of(bucket), Stream::Gather);
    weights.key.layer = bucket.ready_after;
    weights.key.sequence = index.value() * bucket.shards + owner;
    weights.bucket = index;
    weights.payload = sent_bytes(plan_, bucket, owned);
    emit(weights, {updated});
  }
}

void StageWriter::step() {
  for (std::size_t at = 0; at < buckets_.size(); ++at)
    for (const std::int32_t sum : sums_[at]) program_.edges_between_steps.emplace_back(sum, renewed_[at]);
  if (sums_parts()) return;
  const std::int32_t norm = emit(step_task(Operation::NormPart, MeshAxis::None, Stream::Compute), {last_reduce_});
  const std::int32_t ready = plan_.post_validation == PostValidation::None ? agree(norm) : agree_with_stage_before(norm);
  agree_on_maxima(norm);
  if (stage_.value() + 1 == plan_.mesh.pipeline && told_ != kNobody) program_.edges_between_steps.emplace_back(told_, validation_);
  for (std::size_t at = 0; at < buckets_.size(); ++at) {
    if (buckets_[at].frozen || plan_.optimizer_in_backward) continue;
    const BucketIndex index(static_cast<std::int32_t>(at));
    const std::int32_t updated = update(index, ready);
    if (validation_ != kNobody) program_.edges_between_steps.emplace_back(updated, validation_);  // of what has been done
    const bool stays_cut = strategy_.shards_parameters && !buckets_[at].persistent;
    if (!strategy_.shards_optimizer || stays_cut || buckets_[at].shards == 1) continue;
    if (broadcasts_weights(plan_))
      send_weights(index, updated);
    else if (plan_.overlap_weight_gather)
      program_.edges_between_steps.emplace_back(updated, renewed_[at]);
    else {
      const std::int32_t gathered = emit(gather_of_new_weights(index), {updated});
      if (renewed_[at] != kNobody) program_.edges_between_steps.emplace_back(gathered, renewed_[at]);
    }
  }
}

}  // namespace sim
