// Gradients of a bucket summed over ranks in blocks of few bits (executor/kernels/block_codec.h): every rank sends each other the codes of its shard, and
// sums what it gets in rank order. ZeRO++'s qgZ with neighbours: first among them, each for all ranks of its place elsewhere; then across.
//
//   encode()    codes of all shards -> sent()           (all-to-all, into received())
//   reencode()  with neighbours: sums of what they sent, as codes again
//   decode()    the own shard's sum
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/kernels/block_codec.h"
#include "executor/training/flat_bucket.h"
#include "sim/sharding/encoded.h"

namespace executor {

BlockFormat block_format(sim::Codec codec);  // of CodecForm::Blocks

class BlockSum {
 public:
  BlockSum(const FlatBucket& bucket, const sim::ParallelPlan& plan);  // the bucket outlives this

  void encode();
  void reencode();
  void decode();
  const at::Tensor& sent() const { return sent_; }
  const at::Tensor& make_received();  // as large
  void forget_sent() { sent_.reset(); }

 private:
  at::Tensor codes(const at::Tensor& all, std::int64_t shard) const;  // of one, among many

  const FlatBucket& bucket_;
  BlockFormat format_;
  std::int64_t near_;   // ranks of the first exchange
  std::int64_t chunk_;  // bytes of a shard's codes
  at::Tensor sent_, received_;
};

}  // namespace executor
