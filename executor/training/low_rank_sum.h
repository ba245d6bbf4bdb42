// Gradients of a bucket summed over ranks as P Q^T, matrix by matrix: PowerSGD (Vogels, Karimireddy and Jaggi, NeurIPS 2019) with the rules of PyTorch's
// powerSGD_hook: what P and Q do not hold stays in the error and joins the next gradient; Q is the next step's start; matrices that would not at
// least halve travel as they are. Sums here are the ranks' mean already, so a rank's part of one is the sum over the ranks.
//
//   encode()    error += gradient;  Q orthogonal;  P = error Q       -> first(): what travels as it is, then the P's   (all-reduce)
//   reencode()  P orthogonal;  Q = error^T P                         -> second(): the Q's                              (all-reduce)
//   decode()    gradient = P Q^T;  error -= gradient / ranks
//
// Error and Q stand in a checkpoint beside the rank's shard. They are of its buckets: under another layout a resumed run starts without.
#pragma once

#include <ATen/core/Tensor.h>

#include "executor/training/parameter_store.h"
#include "sim/sharding/encoded.h"

namespace executor {

class LowRankSum {
 public:
  // The bucket, of `store`, outlives this. Q begins with normal numbers that the seed and the parameter's name give: the same on every rank.
  LowRankSum(const ParameterStore& store, const FlatBucket& bucket, const sim::ParallelPlan& plan);

  // From one step to the next.
  const at::Tensor& kept_error() const { return error_; }
  const at::Tensor& kept_q() const { return q_; }

  void encode();
  const at::Tensor& first() const { return packed_; }
  void reencode();
  const at::Tensor& second() const { return q_; }
  void decode();

 private:
  at::Tensor error_of(const sim::LowRankMatrix& matrix) const;     // [rows, columns]
  at::Tensor gradient_of(const sim::LowRankMatrix& matrix) const;  // likewise
  at::Tensor p_of(const sim::LowRankMatrix& matrix) const;         // [rows, rank]
  at::Tensor q_of(const sim::LowRankMatrix& matrix) const;         // [columns, rank]
  enum class Way : std::uint8_t { Out, Back };
  void copy_others(Way way) const;

  const FlatBucket& bucket_;
  sim::LowRankBucket low_;
  double part_;           // of a sum, that is a rank's
  at::Tensor error_, q_;  // kept
  at::Tensor packed_;     // from encode() to decode()
};

}  // namespace executor
