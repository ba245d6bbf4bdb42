// Gradients of a stage and its step, as the plan alone says them.
#include <algorithm>
#include <utility>

#include "sim/check/stage_work.h"

namespace sim {

// Of one microbatch, or of all for none().
StageWork::Positions StageWork::backwards_of(const Bucket& bucket, MicrobatchIndex m) const {
  Positions positions;
  for (const BucketSlot& slot : bucket.slots)
    for (MicrobatchIndex each(0); each.value() < plan_.num_microbatches(); ++each)
      for (const Turn& turn : m.exists() && each != m ? std::vector<Turn>{} : turns_of(each))
        for (const auto* done : {&backwards_, &weights_})
          if (const auto found = done->find({turn, slot.layer}); found != done->end()) positions.push_back(found->second);
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  return positions;
}

// Parts of one size, the last of what is left, numbered over the stage.
void StageWork::reduce_in_parts(std::size_t number, const Positions& after) {
  const Bytes each = sent(buckets_[number]), whole = each * moved_elements(buckets_[number], plan_),
              most(plan_.partition_size.value() / each.value() * each.value());
  for (Bytes begin{}; begin < whole; begin += most) {
    const TaskKey key{.stage = stage_,
                      .chunk = buckets_[number].chunk,
                      .layer = buckets_[number].ready_after,
                      .phase = Phase::Gradients,
                      .operation = Operation::AllReduce,
                      .group = buckets_[number].expert ? MeshAxis::ExpertData : MeshAxis::Data,
                      .sequence = parts_++};
    final_[number].push_back(add(key, std::min(most, whole - begin), after));
  }
}

void StageWork::reduce(std::size_t number, MicrobatchIndex m, Positions after) {
  const Bucket& bucket = buckets_[number];
  if (plan_.partition_size > Bytes(0)) return reduce_in_parts(number, after);
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
              .group = bucket.expert ? MeshAxis::ExpertData : MeshAxis::Data,
              .sequence = static_cast<std::int32_t>(number)};
  Positions done = std::move(after);
  if (copies > 1) done = share(number, key, std::move(done));
  if (plan_.mesh.replicas > 1) {
    key.operation = Operation::AllReduce;
    key.group = MeshAxis::Replica;
    done = {add(key, sent(bucket) * (whole || copies == 1 ? moved_elements(bucket, plan_) : moved_shard(bucket, plan_)), std::move(done))};
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
  const Bytes shard = gradient(buckets_[number]) * buckets_[number].shard_elements;
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
             {add(key, sent(bucket) * moved_elements(bucket, plan_), backwards_of(bucket, MicrobatchIndex::none()))});
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
  Bytes widest{};
  for (LayerIndex layer(0); layer <= model_.head(); ++layer)
    for (const Parameter& parameter : model_.layer(layer).parameters)
      if (plan_.owns(stage_, layer) && !parameter.frozen && parameter.split == TensorSplit::None &&
          (sequence || (tensor && parameter.partial_gradient)) && !(parameter.expert && has_own_degree())) {
        replicated += parameter.elements() / (parameter.expert ? plan_.mesh.expert : 1);
        widest = std::max(widest, is_wide(layer) ? kWide : sent_);
      }
  if (replicated == 0) return {};
  const TaskKey key{.stage = stage_, .phase = Phase::Gradients, .operation = Operation::AllReduce, .group = MeshAxis::Tensor};
  reduced_.push_back(add(key, widest * replicated, gradients_done_));
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
    on_host_[number] =
        add(key, gradient(bucket) * on_host(plan_.zero_stage == 0 ? bucket.elements : bucket.shard_elements), std::move(after));
  }
}

// Whoever owns a tensor of the bucket sends all that it owns of it; check_buckets() says whether its slots are its own.
void StageWork::weights_by_owner(std::size_t number, TaskKey key, std::size_t updated) {
  const Bucket& bucket = buckets_[number];
  const Bytes element = plan_.weight_sync == WeightSync::Broadcast ? weight(bucket) : Bytes(2);
  key.operation = Operation::Broadcast;
  for (std::size_t owner = 0; owner + 1 < bucket.first_of.size(); ++owner) {
    const std::int64_t owned = bucket.first_of[owner + 1] - bucket.first_of[owner];
    key.sequence = static_cast<std::int32_t>(number * count_of(bucket.shards) + owner);
    if (owned > 0) add(key, element * owned, {updated});
  }
}

// Before the step each stage adds its own to what those before it found; afterwards the last tells the first what all did.
StageWork::Positions StageWork::agree_in_turn(std::size_t norm) {
  const auto tell = [&](Operation operation, std::int32_t when) {
    return TaskKey{.stage = stage_, .phase = Phase::Step, .operation = operation, .group = MeshAxis::Pipeline, .sequence = when};
  };
  const auto sum = [&](MeshAxis axis) {
    return TaskKey{.stage = stage_, .phase = Phase::Step, .operation = Operation::AllReduce, .group = axis};
  };
  const bool is_first = stage_.value() == 0, is_last = stage_.value() + 1 == plan_.mesh.pipeline;
  Positions ready{norm}, told;
  if (plan_.mesh.tensor > 1) ready = {add(sum(MeshAxis::Tensor), kStepSummary, ready)};
  if (plan_.zero_stage == 1 && plan_.mesh.shards() > 1) ready = {add(sum(MeshAxis::Data), kStepSummary, ready)};
  if (!is_first) ready.push_back(add(tell(Operation::Receive, 0), kStepSummary, ready));
  if (!is_last) add(tell(Operation::Send, 0), kStepSummary, ready);
  if (!is_last) told = {add(tell(Operation::Receive, 1), kStepSummary, {})};
  if (!is_first) add(tell(Operation::Send, 1), kStepSummary, told);
  if (is_last) tasks_.back().after_before = ready;
  return ready;
}

// Three numbers of four bytes for every matrix of a block.
void StageWork::agree_on_maxima(std::size_t norm) {
  if (plan_.workload.precision.scales() != ScaleRecipe::Delayed || plan_.mesh.ranks() == 1) return;
  std::int64_t matrices = 0;
  for (std::size_t layer = 1; layer + 1 < model_.layers.size(); ++layer)
    matrices += std::ranges::count_if(model_.layers[layer].parameters,
                                      [](const Parameter& weight) { return weight.columns > 1 && !weight.unscaled; });
  add(TaskKey{.stage = stage_, .phase = Phase::Step, .operation = Operation::AllReduce, .group = MeshAxis::World, .sequence = 1},
      Bytes(12) * matrices, {norm});
}

StageWork::Positions StageWork::agree() {
  const auto key = [&](Operation operation, MeshAxis group) {
    return TaskKey{.stage = stage_, .phase = Phase::Step, .operation = operation, .group = group};
  };
  if (plan_.partition_size > Bytes(0)) return {};  // nobody asks for the norm
  const std::size_t norm = add(key(Operation::NormPart, MeshAxis::None), Bytes(0), reduced_);
  Positions ready{norm};
  if (plan_.post_validation != PostValidation::None)
    ready = agree_in_turn(norm);
  else if (plan_.mesh.copies() * plan_.mesh.pipeline * plan_.mesh.tensor > 1)
    ready = {add(key(Operation::AllReduce, MeshAxis::World), kStepSummary, {norm})};
  agree_on_maxima(norm);
  return ready;
}

// What a forward reads was made by the step before, if that has not ended: where nothing is gathered, by its update.
void StageWork::await_new_weights(const Bucket& bucket, std::size_t made, bool in_this_step) {
  for (const BucketSlot& slot : bucket.slots)
    for (ExpectedTask& task : tasks_) {
      const bool reads = task.key.layer == slot.layer || (slot.layer == LayerIndex(0) && plan_.reads_embedding(task.key.layer));
      if (reads && task.key.phase == Phase::Forward && !moves_data(task.key.operation))
        (in_this_step ? task.after : task.after_before).push_back(made);
    }
}

// A stage judges what it has done: behind its update.
void StageWork::validated_after(std::size_t update) {
  for (ExpectedTask& task : tasks_)
    if (task.key.phase == Phase::Step && task.key.group == MeshAxis::Pipeline && task.key.sequence == 1)
      task.after_before.push_back(update);
}

// Each bucket behind its own sums, whatever becomes of the others.
void StageWork::step_in_backward() {
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    if (buckets_[number].frozen) continue;
    const TaskKey update{.stage = stage_,
                         .layer = buckets_[number].ready_after,
                         .phase = Phase::Step,
                         .operation = Operation::Update,
                         .sequence = static_cast<std::int32_t>(number)};
    reduced_.push_back(add(update, Bytes(0), final_[number]));
  }
  agree();
}

void StageWork::step() {
  reduced_.insert(reduced_.end(), gradients_done_.begin(), gradients_done_.end());
  if (plan_.optimizer_in_backward) return step_in_backward();
  const Positions ready = agree();
  const bool crosses = plan_.overlap_weight_gather || plan_.post_validation != PostValidation::None || plan_.partition_size > Bytes(0);
  for (std::size_t number = 0; number < buckets_.size(); ++number) {
    if (buckets_[number].frozen) continue;
    TaskKey update{.stage = stage_, .phase = Phase::Step, .operation = Operation::Update};
    update.layer = buckets_[number].ready_after;
    update.sequence = static_cast<std::int32_t>(number);
    std::size_t made = 0;
    if (plan_.offload_optimizer) {
      Positions both;
      if (plan_.offload_share < 1) both = {add(update, Bytes(0), ready)};
      update.operation = Operation::HostUpdate;
      Positions after = ready;
      after.push_back(on_host_.at(number));
      made = add(update, Bytes(0), std::move(after));
      if (plan_.offload_parameters) continue;  // where the weights are
      update.operation = Operation::CopyToDevice;
      both.push_back(made);
      made = add(update,
                 weight(buckets_[number]) * on_host(plan_.zero_stage == 0 ? buckets_[number].elements : buckets_[number].shard_elements),
                 both);
    } else {
      made = add(update, Bytes(0), ready);
    }
    if (plan_.post_validation != PostValidation::None) validated_after(made);
    const bool by_parts = plan_.partition_size > Bytes(0);
    if (by_parts) tasks_.back().after_before = final_[number];
    const bool expert = buckets_[number].expert;
    const bool gathers = (expert ? copies_of_experts() : plan_.mesh.copies()) > 1 && plan_.zero_stage != 0 &&
                         (plan_.zero_stage != 3 || buckets_[number].persistent);
    if (gathers && plan_.weight_sync != WeightSync::AllGather) {
      update.group = expert ? MeshAxis::ExpertData : MeshAxis::Data;
      weights_by_owner(number, update, made);
    } else if (gathers) {
      update.operation = Operation::AllGather;
      update.group = expert ? MeshAxis::ExpertData : MeshAxis::Data;
      const std::size_t gathered = add(update, gathered_bytes(plan_, buckets_[number]), {});
      (plan_.overlap_weight_gather ? tasks_.back().after_before : tasks_.back().after) = {made};
      made = gathered;
    }
    if (crosses) await_new_weights(buckets_[number], made, by_parts || (gathers && plan_.overlap_weight_gather));
  }
}

bool is_gathering(const Task& task) {
  const bool of_layer = task.key.phase == Phase::Forward || task.key.phase == Phase::Backward;
  return of_layer && task.bucket.exists();
}

}  // namespace sim
