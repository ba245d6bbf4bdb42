#include "sim/cost/coding_work.h"

namespace sim {
namespace {

Bytes of_weights(Operation operation, const Bucket& bucket, const ParallelPlan& plan) {
  const std::int64_t all = moved_elements(bucket, plan), elements = operation == Operation::Encode ? moved_shard(bucket, plan) : all;
  return plan.bytes(Numbers::Weights) * elements + encoded_bytes(plan.workload.precision.weight_codec().codec, elements);
}

Bytes of_blocks(Operation operation, const Bucket& bucket, const ParallelPlan& plan, Codec codec) {
  const std::int64_t all = moved_elements(bucket, plan), near = all / plan.mesh.reshard;
  const Bytes whole = encoded_bytes(codec, all), part = encoded_bytes(codec, near), kept = plan.bytes(Numbers::Gradients);
  if (operation == Operation::Encode) return kept * all + whole;
  if (operation == Operation::Reencode) return whole + part;
  return (reduction_steps(bucket, plan).size() > 3 ? part : whole) + kept * moved_shard(bucket, plan);
}

Bytes of_matrices(Operation operation, const Bucket& bucket, const ParallelPlan& plan, WireCodec codec) {
  const LowRankBucket low = low_rank_bucket(bucket, codec);
  const std::int64_t passes = operation == Operation::Reencode ? 1 : 4, others = operation == Operation::Reencode ? 0 : 2 * low.others;
  return plan.bytes(Numbers::Gradients) * (passes * low.compressed + others + low.p + low.q);
}

}  // namespace

Bytes coding_bytes(const TaskKey& key, const Bucket& bucket, const ParallelPlan& plan) {
  if (key.phase != Phase::Gradients) return of_weights(key.operation, bucket, plan);
  const WireCodec codec = gradient_codec(bucket, plan);
  return codec.is_low_rank() ? of_matrices(key.operation, bucket, plan, codec) : of_blocks(key.operation, bucket, plan, codec.codec);
}

}  // namespace sim
