#include "executor/training/block_sum.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <vector>

namespace executor {
namespace {

bool goes_by_neighbours(const FlatBucket& bucket, const sim::ParallelPlan& plan) {
  const std::vector<sim::WireStep> steps = sim::reduction_steps(bucket.layout(), plan);
  return std::ranges::any_of(steps, [](const sim::WireStep& step) { return step.operation == sim::Operation::Reencode; });
}

}  // namespace

BlockFormat block_format(sim::Codec codec) {
  switch (codec) {
    case sim::Codec::Fp8: return BlockFormat::Fp8;
    case sim::Codec::Int4: return BlockFormat::Int4;
    default: return BlockFormat::Int8;
  }
}

BlockSum::BlockSum(const FlatBucket& bucket, const sim::ParallelPlan& plan)
    : bucket_(bucket),
      format_(block_format(plan.workload.precision.gradient_codec().codec)),
      near_(goes_by_neighbours(bucket, plan) ? plan.mesh.reshard : bucket.layout().shards),
      chunk_(code_bytes(format_, bucket.layout().shard_elements)) {}

at::Tensor BlockSum::codes(const at::Tensor& all, std::int64_t shard) const { return all.narrow(0, shard * chunk_, chunk_); }

// To a neighbour goes, in the order of neighbourhoods, what is for it and for those of its place.
void BlockSum::encode() {
  const std::int64_t shards = bucket_.layout().shards, far = shards / near_, size = bucket_.layout().shard_elements;
  sent_ = at::empty({shards * chunk_}, bucket_.gradients().options().dtype(at::kByte));
  for (std::int64_t shard = 0; shard < shards; ++shard)
    encode_blocks(codes(sent_, shard % near_ * far + shard / near_), bucket_.gradients().narrow(0, shard * size, size), format_);
}

const at::Tensor& BlockSum::make_received() {
  received_ = at::empty_like(sent_);
  return received_;
}

void BlockSum::reencode() {
  const std::int64_t far = bucket_.layout().shards / near_, size = bucket_.layout().shard_elements;
  sent_ = at::empty({far * chunk_}, received_.options());
  const at::Tensor sum = at::empty({size}, bucket_.gradients().options());
  for (std::int64_t place = 0; place < far; ++place) {
    std::vector<at::Tensor> sources;
    for (std::int64_t neighbour = 0; neighbour < near_; ++neighbour) sources.push_back(codes(received_, neighbour * far + place));
    decode_sum(sum, sources, format_);
    encode_blocks(codes(sent_, place), sum, format_);
  }
  received_.reset();
}

void BlockSum::decode() {
  std::vector<at::Tensor> sources;
  for (std::int64_t source = 0; source < received_.numel() / chunk_; ++source) sources.push_back(codes(received_, source));
  decode_sum(bucket_.reduction_target(), sources, format_);
  received_.reset();
}

}  // namespace executor
