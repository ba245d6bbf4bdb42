#include "sim/sharding/encoded.h"

#include <algorithm>
#include <utility>

namespace sim {
namespace {

bool goes_by_neighbours(const Bucket& bucket, const ParallelPlan& plan, WireCodec codec) {
  return codec_row(codec.codec).takes_two_exchanges && plan.mesh.reshard > 1 && !bucket.expert;
}

std::vector<WireStep> block_steps(const Bucket& bucket, const ParallelPlan& plan, WireCodec codec) {
  const std::int64_t all = moved_elements(bucket, plan);
  const Bytes kept = plan.bytes(Numbers::Gradients) * moved_shard(bucket, plan), whole = encoded_bytes(codec.codec, all);
  const WireStep encode{.operation = Operation::Encode, .payload = whole}, decode{.operation = Operation::Decode, .payload = kept};
  if (!goes_by_neighbours(bucket, plan, codec))
    return {encode, {.operation = Operation::AllToAll, .group = axis_of(bucket), .payload = whole}, decode};
  const Bytes part = encoded_bytes(codec.codec, all / plan.mesh.reshard);
  return {encode,
          {.operation = Operation::AllToAll, .group = MeshAxis::Reshard, .payload = whole},
          {.operation = Operation::Reencode, .payload = part},
          {.operation = Operation::AllToAll, .group = MeshAxis::Distant, .payload = part},
          decode};
}

std::vector<WireStep> low_rank_steps(const Bucket& bucket, const ParallelPlan& plan, WireCodec codec) {
  const LowRankBucket low = low_rank_bucket(bucket, codec);
  const Bytes each = plan.bytes(Numbers::Gradients), first = each * (low.others + low.p), second = each * low.q;
  return {{.operation = Operation::Encode, .payload = first},
          {.operation = Operation::AllReduce, .group = axis_of(bucket), .payload = first},
          {.operation = Operation::Reencode, .payload = second},
          {.operation = Operation::AllReduce, .group = axis_of(bucket), .round = 1, .payload = second},
          {.operation = Operation::Decode, .payload = each * bucket.elements}};
}

}  // namespace

LowRankBucket low_rank_bucket(const Bucket& bucket, WireCodec codec) {
  LowRankBucket low;
  for (std::size_t at = 0; at < bucket.slots.size(); ++at) {
    const BucketSlot& slot = bucket.slots[at];
    const MatrixSize shape{slot.elements / slot.columns, slot.columns};
    const std::int64_t rank = low_rank_columns(shape, codec);
    if (rank == 0) {
      low.others += slot.elements;
      continue;
    }
    low.matrices.push_back({.slot = at, .shape = shape, .rank = rank, .begin = low.compressed, .p = low.p, .q = low.q});
    low.compressed += slot.elements;
    low.p += shape.rows * rank;
    low.q += shape.columns * rank;
  }
  return low;
}

WireCodec gradient_codec(const Bucket& bucket, const ParallelPlan& plan) {
  const WireCodec codec = plan.workload.precision.gradient_codec();
  if (bucket.shards == 1 || bucket.frozen) return {};
  return codec.is_low_rank() && low_rank_bucket(bucket, codec).matrices.empty() ? WireCodec{} : codec;
}

std::vector<WireStep> reduction_steps(const Bucket& bucket, const ParallelPlan& plan) {
  const WireCodec codec = gradient_codec(bucket, plan);
  if (codec.is_blocks()) return block_steps(bucket, plan, codec);
  if (codec.is_low_rank()) return low_rank_steps(bucket, plan, codec);
  return {{.operation = scatters_gradients(plan) ? Operation::ReduceScatter : Operation::AllReduce,
           .group = axis_of(bucket),
           .payload = plan.bytes(Numbers::Wire, bucket.ready_after) * moved_elements(bucket, plan)}};
}

Bytes gather_payload(const Bucket& bucket, const ParallelPlan& plan) {
  const WireCodec codec = plan.workload.precision.weight_codec();
  return codec ? encoded_bytes(codec.codec, moved_elements(bucket, plan)) : gathered_bytes(plan, bucket);
}

std::vector<WireStep> gather_steps(const Bucket& bucket, const ParallelPlan& plan) {
  const WireStep gather{.operation = Operation::AllGather, .group = axis_of(bucket), .payload = gather_payload(bucket, plan)};
  if (!plan.workload.precision.weight_codec()) return {gather};
  return {{.operation = Operation::Encode, .payload = gather.payload / std::int64_t{bucket.shards}},
          gather,
          {.operation = Operation::Decode, .payload = gathered_bytes(plan, bucket)}};
}

Bytes codec_state(const Bucket& bucket, const ParallelPlan& plan) {
  const WireCodec codec = gradient_codec(bucket, plan);
  if (!codec.is_low_rank()) return {};
  const LowRankBucket low = low_rank_bucket(bucket, codec);
  return plan.bytes(Numbers::Gradients) * (low.compressed + low.q);
}

}  // namespace sim
