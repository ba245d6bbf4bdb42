// Gradients of a stage and its step, as the plan alone says them.
#include <algorithm>

#include "sim/check/stage_work.h"

namespace sim {

// Of one microbatch, or of all for none().
StageWork::Positions StageWork::backwards_of(const Bucket& bucket, MicrobatchIndex m) const {
  Positions positions;
  for (const BucketSlot& slot : bucket.slots)
    for (MicrobatchIndex each(0); each.value() < plan_.num_microbatches(); ++each)
      if (!m.exists() || each == m)
        for (const auto* done : {&backwards_, &weights_})
          if (const auto found = done->find({each, slot.layer}); found != done->end()) positions.push_back(found->second);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

void StageWork::reduce(std::size_t number, MicrobatchIndex m, Positions after) {
  const Bucket& bucket = buckets_[number];
  const std::int32_t copies = bucket.expert ? copies_of_experts() : plan_.mesh.copies();
  if (copies == 1 && plan_.mesh.replicas == 1) {
    if (adds_on_host(m)) after = add_on_host(number, m, std::move(after));
    reduced_.insert(reduced_.end(), after.begin(), after.end());
    final_[number].insert(final_[number].end(), after.begin(), after.end());
    return;
  }
  const bool whole = plan_.zero_stage == 0 || plan_.gradient_sync == GradientSync::AllReduce;
  TaskKey key{.stage = stage_,
              .chunk = bucket.chunk,
              .microbatch = m,
              .layer = bucket.ready_after,
              .phase = Phase::Gradients,
              .operation = whole ? Operation::AllReduce : Operation::ReduceScatter,
              .group = bucket.expert ? MeshAxis::ExpertData : MeshAxis::Data,
              .sequence = static_cast<std::int32_t>(number)};
  Positions done = std::move(after);
  if (copies > 1) done = {add(key, sent_ * moved_elements(bucket, plan_), std::move(done))};
  if (plan_.mesh.replicas > 1) {
    key.operation = Operation::AllReduce;
    key.group = MeshAxis::Replica;
    done = {add(key, sent_ * (whole || copies == 1 ? moved_elements(bucket, plan_) : moved_shard(bucket, plan_)), std::move(done))};
  }
  if (adds_on_host(m)) {
    done = add_on_host(number, m, std::move(done));
  } else if (m.exists() && plan_.num_microbatches() > 1) {
    key.operation = Operation::Accumulate;
    key.group = MeshAxis::None;
    done = {add(key, Bytes(0), std::move(done))};
  }
  reduced_.insert(reduced_.end(), done.begin(), done.end());
  final_[number].insert(final_[number].end(), done.begin(), done.end());
}

// A microbatch's part of the sum, that the host has: the sum so far comes, is added to, and leaves.
StageWork::Positions StageWork::add_on_host(std::size_t number, MicrobatchIndex m, Positions after) {
  TaskKey key{.stage = stage_,
              .chunk = buckets_[number].chunk,
              .microbatch = m,
              .layer = buckets_[number].ready_after,
              .phase = Phase::Gradients,
              .operation = Operation::CopyToDevice,
              .sequence = static_cast<std::int32_t>(number)};
  const Bytes shard = gradient_ * buckets_[number].shard_elements;
  if (on_host_.contains(number)) {
    after.push_back(on_host_.at(number));
    after = {add(key, shard, std::move(after))};
    key.operation = Operation::Accumulate;
    after = {add(key, Bytes(0), std::move(after))};
  }
  key.operation = Operation::CopyToHost;
  on_host_[number] = add(key, shard, after);
  return after;
}

void StageWork::gradients() {
  const bool each = plan_.accumulation == Accumulation::ReduceEach;
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    const Bucket& bucket = buckets_[number];
    if (bucket.frozen) continue;
    if (bucket.tied) {
      const TaskKey key{.stage = stage_,
                        .chunk = bucket.chunk,
                        .layer = bucket.ready_after,
                        .phase = Phase::Gradients,
                        .operation = Operation::AllReduce,
                        .group = MeshAxis::Embedding,
                        .sequence = static_cast<std::int32_t>(number)};
      reduce(number, MicrobatchIndex::none(),
             {add(key, sent_ * moved_elements(bucket, plan_), backwards_of(bucket, MicrobatchIndex::none()))});
    } else if (!each) {
      reduce(number, MicrobatchIndex::none(), backwards_of(bucket, MicrobatchIndex::none()));
    } else {
      for (const StageAction& action : plan_.order(stage_))
        if (action.kind == ActionKind::Backward && action.chunk == bucket.chunk)
          reduce(number, action.microbatch, backwards_of(bucket, action.microbatch));
    }
  }
  const Positions summed = sum_replicated();
  if (plan_.offload_optimizer) copy_to_host(summed);
}

StageWork::Positions StageWork::sum_replicated() {
  const bool sequence = plan_.sequence_parallel, tensor = plan_.mesh.tensor > 1;
  std::int64_t replicated = 0;
  for (LayerIndex layer(0); layer <= model_.head(); ++layer)
    for (const Parameter& parameter : model_.layer(layer).parameters)
      if (plan_.owns(stage_, layer) && !parameter.frozen && parameter.split == TensorSplit::None &&
          (sequence || (tensor && parameter.partial_gradient)) && !(parameter.expert && has_own_degree()))
        replicated += parameter.elements() / (parameter.expert ? plan_.mesh.expert : 1);
  if (replicated == 0) return {};
  const TaskKey key{.stage = stage_, .phase = Phase::Gradients, .operation = Operation::AllReduce, .group = MeshAxis::Tensor};
  reduced_.push_back(add(key, sent_ * replicated, gradients_done_));
  return {reduced_.back()};
}

// Once a step, what the rank steps of each bucket: all of it without sharding, else its shard.
void StageWork::copy_to_host(const Positions& summed) {
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    const Bucket& bucket = buckets_[number];
    if (bucket.frozen || on_host_.contains(number)) continue;
    const TaskKey key{.stage = stage_,
                      .chunk = bucket.chunk,
                      .layer = bucket.ready_after,
                      .phase = Phase::Gradients,
                      .operation = Operation::CopyToHost,
                      .sequence = static_cast<std::int32_t>(number)};
    Positions after = final_[number];
    after.insert(after.end(), summed.begin(), summed.end());
    on_host_[number] = add(key, gradient_ * (plan_.zero_stage == 0 ? bucket.elements : bucket.shard_elements), std::move(after));
  }
}

void StageWork::step() {
  const auto key = [&](Operation operation, MeshAxis group) {
    return TaskKey{.stage = stage_, .phase = Phase::Step, .operation = operation, .group = group};
  };
  reduced_.insert(reduced_.end(), gradients_done_.begin(), gradients_done_.end());
  std::size_t ready = add(key(Operation::NormPart, MeshAxis::None), Bytes(0), reduced_);
  if (plan_.mesh.copies() * plan_.mesh.pipeline * plan_.mesh.tensor > 1)
    ready = add(key(Operation::AllReduce, MeshAxis::World), kStepSummary, {ready});
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    if (buckets_[number].frozen) continue;
    TaskKey update = key(Operation::Update, MeshAxis::None);
    update.layer = buckets_[number].ready_after;
    update.sequence = static_cast<std::int32_t>(number);
    std::size_t updated = 0;
    if (plan_.offload_optimizer) {
      update.operation = Operation::HostUpdate;
      updated = add(update, Bytes(0), {ready, on_host_.at(number)});
      if (plan_.offload_parameters) continue;  // where the weights are
      update.operation = Operation::CopyToDevice;
      updated = add(update, weight_ * (plan_.zero_stage == 0 ? buckets_[number].elements : buckets_[number].shard_elements), {updated});
    } else {
      updated = add(update, Bytes(0), {ready});
    }
    const bool expert = buckets_[number].expert;
    if ((expert ? copies_of_experts() : plan_.mesh.copies()) == 1 || plan_.zero_stage == 0 || plan_.zero_stage == 3) continue;
    update.operation = Operation::AllGather;
    update.group = expert ? MeshAxis::ExpertData : MeshAxis::Data;
    add(update, gathered_bytes(plan_, buckets_[number]), {updated});
  }
}

TaskKey expected_form(TaskKey key, const ParallelPlan& plan) {
  const bool reduces =
      key.phase == Phase::Gradients && (key.group == MeshAxis::Data || key.group == MeshAxis::Replica || key.group == MeshAxis::ExpertData);
  if (reduces && plan.accumulation == Accumulation::ReduceLast) key.microbatch = MicrobatchIndex::none();
  return key;
}

bool is_gathering(const Task& task) {
  const bool of_layer = task.key.phase == Phase::Forward || task.key.phase == Phase::Backward;
  return of_layer && task.bucket.exists();
}

}  // namespace sim
