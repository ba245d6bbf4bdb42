#include "executor/training/wire_codecs.h"

#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <array>
#include <utility>

namespace executor {

WireCodecs::WireCodecs(const sim::ParallelPlan& plan, ParameterStore& parameters) : parameters_(parameters) {
  if (const sim::WireCodec weights = plan.workload.precision.weight_codec()) weights_ = block_format(weights.codec);
  for (std::size_t at = 0; at < parameters.buckets().size(); ++at) {
    const FlatBucket& bucket = parameters.buckets()[at];
    const sim::WireCodec codec = sim::gradient_codec(bucket.layout(), plan);
    const sim::BucketIndex index(static_cast<std::int32_t>(at));
    if (codec.is_low_rank()) keep(index, low_rank_.try_emplace(index, parameters, bucket, plan).first->second);
    if (codec.is_blocks()) blocks_.try_emplace(index, bucket, plan);
  }
}

void WireCodecs::keep(sim::BucketIndex bucket, const LowRankSum& sum) {
  if (sum.kept_error().numel() == 0) return;
  parameters_.keep({.name = fmt::format("powersgd_error:bucket_{}", bucket.value()), .values = sum.kept_error()});
  parameters_.keep({.name = fmt::format("powersgd_q:bucket_{}", bucket.value()), .values = sum.kept_q()});
}

void WireCodecs::encode(const sim::Task& task) {
  if (!is_of_gradients(task)) {
    const FlatBucket& bucket = parameters_.bucket(task.bucket);
    const std::int64_t bytes = code_bytes(*weights_, bucket.layout().shard_elements);
    gathered_[task.bucket] = at::empty({bytes * bucket.layout().shards}, bucket.weights().options().dtype(at::kByte));
    return encode_blocks(gather(task).own, bucket.weight_shard(), *weights_);
  }
  if (const auto low_rank = low_rank_.find(task.bucket); low_rank != low_rank_.end()) return low_rank->second.encode();
  blocks_.at(task.bucket).encode();
}

void WireCodecs::reencode(const sim::Task& task) {
  if (const auto low_rank = low_rank_.find(task.bucket); low_rank != low_rank_.end()) return low_rank->second.reencode();
  blocks_.at(task.bucket).reencode();
}

void WireCodecs::decode(const sim::Task& task) {
  if (is_of_gradients(task)) {
    if (const auto low_rank = low_rank_.find(task.bucket); low_rank != low_rank_.end()) return low_rank->second.decode();
    return blocks_.at(task.bucket).decode();
  }
  FlatBucket& bucket = parameters_.bucket(task.bucket);
  bucket.take_weights();
  const at::Tensor all = std::exchange(gathered_.at(task.bucket), {});
  const std::int64_t size = bucket.layout().shard_elements, bytes = code_bytes(*weights_, size);
  for (std::int64_t shard = 0; shard < bucket.layout().shards; ++shard)
    decode_sum(bucket.weights().narrow(0, shard * size, size), std::array{all.narrow(0, shard * bytes, bytes)}, *weights_);
}

at::Tensor WireCodecs::summed(const sim::Task& task) const {
  const auto found = low_rank_.find(task.bucket);
  if (found == low_rank_.end() || task.key.group != sim::axis_of(parameters_.bucket(task.bucket).layout())) return {};
  return task.key.sequence == task.bucket.value() ? found->second.first() : found->second.second();
}

WireCodecs::Exchange WireCodecs::exchange(const sim::Task& task) {
  BlockSum& sum = blocks_.at(task.bucket);
  return {.received = sum.make_received(), .sent = sum.sent()};
}

void WireCodecs::end_exchange(const sim::Task& task) { blocks_.at(task.bucket).forget_sent(); }

WireCodecs::Gather WireCodecs::gather(const sim::Task& task) const {
  const auto found = gathered_.find(task.bucket);
  if (found == gathered_.end() || !found->second.defined()) return {};
  const FlatBucket& bucket = parameters_.bucket(task.bucket);
  const std::int64_t bytes = code_bytes(*weights_, bucket.layout().shard_elements);
  return {.all = found->second, .own = found->second.narrow(0, bucket.own_shard().begin / bucket.layout().shard_elements * bytes, bytes)};
}

}  // namespace executor
