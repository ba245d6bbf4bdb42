// What ranks that share a bucket send each other of its gradients, as the plan's codec alone says it. Written apart from sim/sharding/encoded.
#include <algorithm>

#include "sim/check/stage_work.h"

namespace sim {
namespace {

// Values, and a number of 4 bytes for each 64 of them.
Bytes in_blocks(std::int64_t bits, std::int64_t elements) { return Bytes((elements * bits + 7) / 8 + (elements + 63) / 64 * 4); }

std::int64_t bits_of(Codec codec) { return codec == Codec::Int4 ? 4 : 8; }

struct Factors {
  std::int64_t of_p = 0, of_q = 0, plain = 0;
};

// Vogels et al. 2019, where it at least halves a matrix; what else there is goes with P.
Factors columns_of(const Bucket& bucket, std::int64_t rank) {
  Factors all;
  for (const BucketSlot& slot : bucket.slots) {
    const std::int64_t m = slot.columns, n = slot.elements / m, r = std::min(rank, std::min(n, m));
    const bool is_smaller = (n + m) * r * 2 < n * m;
    all.of_p += is_smaller ? n * r : 0;
    all.of_q += is_smaller ? m * r : 0;
    all.plain += is_smaller ? 0 : slot.elements;
  }
  return all;
}

}  // namespace

// The operation of `key` is open.
StageWork::Positions StageWork::share(std::size_t number, TaskKey key, Positions after) {
  const WireCodec codec = plan_.workload.precision.gradient_codec();
  if (codec.is_blocks()) return share_blocks(number, key, std::move(after));
  if (codec.is_low_rank() && columns_of(buckets_[number], codec.rank).of_p > 0) return share_matrices(number, key, std::move(after));
  const bool whole = plan_.zero_stage == 0 || plan_.gradient_sync == GradientSync::AllReduce;
  key.operation = whole ? Operation::AllReduce : Operation::ReduceScatter;
  return {add(key, sent(buckets_[number]) * moved_elements(buckets_[number], plan_), std::move(after))};
}

StageWork::Positions StageWork::share_blocks(std::size_t number, TaskKey key, Positions after) {
  const Codec codec = plan_.workload.precision.gradient_codec().codec;
  const std::int64_t all = moved_elements(buckets_[number], plan_), bits = bits_of(codec);
  const auto then = [&](Operation operation, MeshAxis group, Bytes payload) {
    key.operation = operation;
    key.group = group;
    after = {add(key, payload, std::move(after))};
  };
  const MeshAxis everybody = key.group;
  const Bytes whole = in_blocks(bits, all);
  then(Operation::Encode, MeshAxis::None, whole);
  if (codec == Codec::Int4 && plan_.mesh.reshard > 1 && !buckets_[number].expert) {
    const Bytes part = in_blocks(bits, all / plan_.mesh.reshard);
    then(Operation::AllToAll, MeshAxis::Reshard, whole);
    then(Operation::Reencode, MeshAxis::None, part);
    then(Operation::AllToAll, MeshAxis::Distant, part);
  } else {
    then(Operation::AllToAll, everybody, whole);
  }
  then(Operation::Decode, MeshAxis::None, gradient_ * moved_shard(buckets_[number], plan_));
  return after;
}

StageWork::Positions StageWork::share_matrices(std::size_t number, TaskKey key, Positions after) {
  const Factors columns = columns_of(buckets_[number], plan_.workload.precision.gradient_codec().rank);
  const MeshAxis everybody = key.group;
  const auto then = [&](Operation operation, MeshAxis group, Bytes payload) {
    key.operation = operation;
    key.group = group;
    after = {add(key, payload, std::move(after))};
  };
  then(Operation::Encode, MeshAxis::None, gradient_ * (columns.plain + columns.of_p));
  then(Operation::AllReduce, everybody, gradient_ * (columns.plain + columns.of_p));
  then(Operation::Reencode, MeshAxis::None, gradient_ * columns.of_q);
  key.sequence += static_cast<std::int32_t>(buckets_.size());
  then(Operation::AllReduce, everybody, gradient_ * columns.of_q);
  key.sequence -= static_cast<std::int32_t>(buckets_.size());
  then(Operation::Decode, MeshAxis::None, gradient_ * buckets_[number].elements);
  return after;
}

TaskKey expected_form(TaskKey key, const ParallelPlan& plan) {
  const bool reduces = key.phase == Phase::Gradients &&
                       (key.group == MeshAxis::Data || key.group == MeshAxis::Replica || key.group == MeshAxis::ExpertData ||
                        key.group == MeshAxis::Reshard || key.group == MeshAxis::Distant || is_coding(key.operation));
  if (reduces && plan.accumulation == Accumulation::ReduceLast) key.microbatch = MicrobatchIndex::none();
  return key;
}

}  // namespace sim
