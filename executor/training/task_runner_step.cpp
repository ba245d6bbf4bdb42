// The end of a step, and what is done to a state between two steps.
#include <ATen/ops/empty.h>

#include <chrono>

#include "executor/training/precision.h"
#include "executor/training/task_runner.h"

namespace executor {

void TaskRunner::end_step() {
  for (const WorkHandle& work : backward_sends_) work->wait();
  backward_sends_.clear();
  streams_.join();
  received_.clear();
  lent_.clear();
}

void TaskRunner::end_record() {
  if (!options_.recorder) return;
  const bool has_all = !graph_.is_replayed() && (!sums_ || sums_->goes_on());
  options_.recorder->end_step({.ledger = communicators_.take_ledger(),
                               .spans = has_all ? TraceRecorder::Spans::All : TraceRecorder::Spans::Some,
                               .now = streams_.now_on(DeviceStream::Compute),
                               .expert_rows = stage_.expert_rows()});
}

void TaskRunner::sum_up(const sim::Task&) {
  finish_reductions();
  optimizer_.sum_up(stage_.losses(), request_);
}

void TaskRunner::sum_over_world(const sim::Task& task) {
  if (task.key.sequence == sim::kOfMaxima) {
    communicators_.of(sim::MeshAxis::World).all_reduce(parameters_.scale_history().seen(), ReduceOperation::Maximum, task.key)->wait();
    return;
  }
  communicators_.of(sim::MeshAxis::World).all_reduce(optimizer_.limbs(), ReduceOperation::Sum, task.key)->wait();
}

// Nobody waits for all sums: the report has a task of its own, which the plan has not.
void TaskRunner::agree_on_loss() {
  sum_up({});
  sum_over_world({});
}

void TaskRunner::update(const sim::Task& task) {
  update(task.bucket);
  if (plan_.kept_until == sim::KeptUntil::Step) lend(parameters_.bucket(task.bucket).take_kept(), DeviceStream::Gather);
  if (!plan_.optimizer_in_backward) return;
  finish_reductions();
  parameters_.bucket(task.bucket).give_up_gradients();
}
void TaskRunner::update(sim::BucketIndex bucket) {
  const std::optional<std::int64_t> of_step = sums_ ? sums_->take(bucket) : step_;
  if (of_step) optimizer_.update(parameters_.bucket(bucket), {*of_step});
}

void TaskRunner::settle() {
  for (std::size_t at = 0; sums_ && at < parameters_.buckets().size(); ++at) update(sim::BucketIndex(static_cast<std::int32_t>(at)));
}

void TaskRunner::gather_after_update(const sim::Task& task) {
  FlatBucket& bucket = parameters_.bucket(task.bucket);
  Communicator& group = communicators_.of(task.key.group);
  if (bucket.is_dealt())
    group.gather_from_owners({bucket.weights(), bucket.owned_elements()}, task.key)->wait();
  else
    group.all_gather(bucket.weights(), bucket.weight_shard(), task.key)->wait();
}

// An owner's part of the bucket. Cast on its way, all go on with what was sent: replicas stay equal, the owner's last bits are lost with the others'.
void TaskRunner::send_weights(const sim::Task& task) {
  const sim::Bucket& layout = parameters_.bucket(task.bucket).layout();
  const std::int32_t owner = task.key.sequence % layout.shards;
  const sim::ShardRange owned = sim::range_of(layout, owner);
  const at::Tensor part = parameters_.bucket(task.bucket).weights_of({.begin = owned.begin, .count = owned.count});
  const at::Tensor sent = part.to(sent_type(plan_.weight_sync, part.scalar_type()));
  communicators_.of(task.key.group).broadcast(sent, owner, task.key)->wait();
  if (sent.is_same(part)) return;
  part.copy_(sent);
  lend(sent, DeviceStream::Gather);
}

void TaskRunner::gather_whole_state() {
  for (FlatBucket& bucket : parameters_.buckets()) {
    const auto gather = [&](const at::Tensor& whole,
                            const at::Tensor& shard) {  // what lies on the host goes over the device, as NCCL needs it
      const at::Tensor there = whole.device() == parameters_.device()
                                   ? whole
                                   : at::empty(whole.sizes(), whole.options().pinned_memory(false).device(parameters_.device()));
      communicators_.of(sim::axis_of(bucket.layout())).all_gather(there, shard.to(parameters_.device()), {})->wait();
      if (!there.is_same(whole)) whole.copy_(there);
    };
    if (bucket.is_dealt()) {  // by all, also where one owns the whole of it
      communicators_.of(sim::axis_of(bucket.layout())).gather_from_owners({bucket.weights(), bucket.owned_elements()}, {})->wait();
      continue;
    }
    const BucketRange own = bucket.own_shard(), stepped = bucket.stepped();
    if (bucket.resident().count > own.count) gather(bucket.weights(), bucket.weight_shard());
    if (stepped.count == own.count) continue;
    if (bucket.has_master()) gather(bucket.master(stepped), bucket.master(own));
    for (std::int64_t moment = 0; moment < bucket.num_moments(); ++moment) {
      gather(bucket.moment(moment, stepped), bucket.moment(moment, own));
      if (const at::Tensor scales = bucket.moment_scales(moment, stepped); scales.defined())
        gather(scales, bucket.moment_scales(moment, own));
    }
    bucket.stage_weights();
  }
}

// Inside the computation that the task before it performs.
void TaskRunner::ask_within(const at::Tensor& own, ReduceOperation how) {
  const auto begun = std::chrono::steady_clock::now();
  const sim::Task& task = slice_.at(position_ + asked_.size() + 1);
  communicators_.of(task.key.group).all_reduce(own, how, task.key)->wait();
  asked_.push_back({.begun = begun, .ended = std::chrono::steady_clock::now()});
}

}  // namespace executor
