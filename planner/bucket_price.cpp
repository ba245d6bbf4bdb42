#include "planner/bucket_price.h"

#include <algorithm>
#include <tuple>

#include "sim/sharding/sharding.h"
#include "sim/task_graph/wire_tasks.h"

namespace planner {
namespace {

using sim::MeshAxis;
using sim::Operation;
using sim::Phase;
using sim::SimTime;
using sim::StageIndex;

// Of a stage's bucket: each way to move it.
class BucketPricer {
 public:
  BucketPricer(const Pricer& pricer, const sim::ParallelPlan& plan, const BucketPlace& place)
      : pricer_(pricer),
        plan_(plan),
        buckets_(place.buckets),
        bucket_(place.buckets[place.index.position()]),
        stage_(place.stage),
        index_(place.index) {}
  BucketPrice price() const;

 private:
  sim::Task made(Phase phase, Operation operation, MeshAxis group) const;
  Exchange task(Phase phase, Operation operation, MeshAxis group) const { return pricer_.exchange(made(phase, operation, group)); }
  SimTime copy(Phase phase, Operation operation, sim::Bytes payload, std::int32_t sequence = 0) const;
  Exchange steps(Phase phase, const std::vector<sim::WireStep>& of) const;
  SimTime broadcasts() const;
  void put_host_copies(BucketPrice& prices) const;
  void put_gathers(BucketPrice& prices) const;

  const Pricer& pricer_;
  const sim::ParallelPlan& plan_;
  const std::vector<sim::Bucket>& buckets_;
  const sim::Bucket& bucket_;
  StageIndex stage_;
  sim::BucketIndex index_;
};

sim::Task BucketPricer::made(Phase phase, Operation operation, MeshAxis group) const {
  const std::int64_t reduced =
      group == MeshAxis::Replica && sim::scatters_gradients(plan_) ? sim::moved_shard(bucket_, plan_) : sim::moved_elements(bucket_, plan_);
  return {.key = {.stage = stage_,
                  .chunk = bucket_.chunk,
                  .layer = bucket_.ready_after,
                  .phase = phase,
                  .operation = operation,
                  .group = group,
                  .sequence = index_.value()},
          .bucket = index_,
          .payload = group == MeshAxis::None             ? sim::Bytes{}
                     : operation == Operation::AllGather ? sim::gathered_bytes(plan_, bucket_)
                                                         : plan_.bytes(sim::Numbers::Wire, bucket_.ready_after) * reduced};
}

SimTime BucketPricer::copy(Phase phase, Operation operation, sim::Bytes payload, std::int32_t sequence) const {
  return pricer_.price(
      {.key = {.stage = stage_, .phase = phase, .operation = operation, .sequence = sequence}, .bucket = index_, .payload = payload});
}

Exchange BucketPricer::steps(Phase phase, const std::vector<sim::WireStep>& of) const {
  Exchange all;
  for (const sim::WireStep& step : of) {
    const sim::TaskKey key{
        .stage = stage_, .chunk = bucket_.chunk, .layer = bucket_.ready_after, .phase = phase, .sequence = index_.value()};
    const Exchange one = pricer_.exchange(of_step({.key = key, .bucket = index_}, step, buckets_.size()));
    all.time += one.time;
    all.load += one.load;
  }
  return all;
}

// Of its owners' weights, one after the other.
SimTime BucketPricer::broadcasts() const {
  SimTime all{};
  for (std::int32_t owner = 0; owner < bucket_.shards; ++owner)
    if (const sim::ShardRange owned = sim::range_of(bucket_, owner); owned.count > 0)
      all += pricer_.price({.key = {.stage = stage_,
                                    .layer = bucket_.ready_after,
                                    .phase = Phase::Step,
                                    .operation = Operation::Broadcast,
                                    .group = sim::axis_of(bucket_),
                                    .sequence = index_.value() * bucket_.shards + owner},
                            .bucket = index_,
                            .payload = sim::sent_bytes(plan_, bucket_, owned)});
  return all;
}

void BucketPricer::put_host_copies(BucketPrice& prices) const {
  if (plan_.offload_parameters)
    prices.bring = copy(Phase::Forward, Operation::CopyToDevice, sim::gathered_bytes(plan_, bucket_) / std::int64_t{bucket_.shards},
                        index_.value() + 1);
  if (!plan_.offload_optimizer || bucket_.frozen) return;
  const std::int64_t stepped = sim::host_elements(bucket_, plan_);
  const sim::Bytes gradient = plan_.bytes(sim::Numbers::Gradients, bucket_.ready_after);
  if (plan_.offload_share < 1) prices.device_update = pricer_.pace(made(Phase::Step, Operation::Update, MeshAxis::None));
  prices.to_host = copy(Phase::Gradients, Operation::CopyToHost, gradient * stepped);
  if (plan_.offload_parameters)
    prices.bring_sums = copy(Phase::Gradients, Operation::CopyToDevice, gradient * bucket_.shard_elements, index_.value());
  else
    prices.to_device = copy(Phase::Step, Operation::CopyToDevice, plan_.bytes(sim::Numbers::Weights, bucket_.ready_after) * stepped);
}

void BucketPricer::put_gathers(BucketPrice& prices) const {
  const sim::ShardingStrategy& strategy = sim::sharding_strategy(plan_);
  if (strategy.shards_parameters && !bucket_.persistent) {
    prices.forward_gather = steps(Phase::Forward, gather_steps(bucket_, plan_));
    prices.backward_gather = steps(Phase::Backward, gather_steps(bucket_, plan_));
    prices.stays_near = sim::kept_after_forward(plan_, bucket_).value() > 0;
    if (prices.stays_near) prices.near_forward_gather = task(Phase::Forward, Operation::AllGather, MeshAxis::Reshard);
    if (prices.stays_near) prices.near_backward_gather = task(Phase::Backward, Operation::AllGather, MeshAxis::Reshard);
  } else if (strategy.shards_optimizer && !bucket_.frozen) {
    prices.weights_gather =
        sim::broadcasts_weights(plan_) ? broadcasts() : task(Phase::Step, Operation::AllGather, sim::axis_of(bucket_)).time;
  }
}

BucketPrice BucketPricer::price() const {
  BucketPrice prices{.ready_after = bucket_.ready_after,
                     .chunk = bucket_.chunk,
                     .tied = bucket_.tied,
                     .shared = sim::is_reduced(bucket_, plan_),
                     .frozen = bucket_.frozen,
                     .delayed = std::ranges::any_of(bucket_.slots, [&](const auto& slot) { return plan_.delays_weights(slot.layer); }),
                     .persistent = bucket_.persistent,
                     .update = {}};
  if (!bucket_.frozen)
    prices.update = pricer_.pace(made(Phase::Step, plan_.offload_optimizer ? Operation::HostUpdate : Operation::Update, MeshAxis::None));
  put_host_copies(prices);
  if (bucket_.tied) prices.embedding_sum = task(Phase::Gradients, Operation::AllReduce, MeshAxis::Embedding).time;
  if (!bucket_.frozen && (prices.shared || plan_.offload_parameters))
    prices.accumulate = task(Phase::Gradients, Operation::Accumulate, MeshAxis::None).time;
  if (plan_.mesh.replicas > 1 && !bucket_.frozen) prices.replica_sum = task(Phase::Gradients, Operation::AllReduce, MeshAxis::Replica);
  if (bucket_.shards == 1) return prices;
  if (!bucket_.frozen) prices.reduce = steps(Phase::Gradients, reduction_steps(bucket_, plan_));
  put_gathers(prices);
  return prices;
}

}  // namespace

bool take_the_same(const sim::ModelGraph& model, const sim::Bucket& a, const sim::Bucket& b) {
  const auto of = [](const sim::Bucket& one) {
    return std::tie(one.elements, one.shard_elements, one.shards, one.packed, one.frozen, one.persistent, one.expert, one.tied,
                    one.first_of, one.fullest, one.busiest);
  };
  const auto of_slot = [](const sim::BucketSlot& one) {
    return std::tie(one.parameter, one.offset, one.elements, one.in_rows, one.is_matrix, one.is_matrix_of_block, one.frozen, one.columns,
                    one.packed, one.packed_offset);
  };
  const auto are_alike = [&](const sim::BucketSlot& one, const sim::BucketSlot& other) {
    return of_slot(one) == of_slot(other) && model.kind(one.layer) == model.kind(other.layer);
  };
  return of(a) == of(b) && model.kind(a.ready_after) == model.kind(b.ready_after) && std::ranges::equal(a.slots, b.slots, are_alike);
}

BucketPrice bucket_price(const Pricer& pricer, const sim::ParallelPlan& plan, const BucketPlace& place) {
  return BucketPricer(pricer, plan, place).price();
}

}  // namespace planner
