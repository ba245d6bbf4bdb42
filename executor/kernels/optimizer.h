// AdamW and SGD over a flat shard, in one pass over memory, in place. Bits do not depend on where a shard starts: vector body and scalar tail
// round alike. Gradient clipping is a factor here, not a pass of its own.
//
// Tensors are flat, contiguous, of equal length. fp32 or fp64 throughout; or 16-bit weights beside an fp32 master and moments, with
// gradients of either; or bf16 weights and moments without a master (a GPU steps those by LibTorch's operators). On a CPU both moments may have fewer
// bits than the weights (kept_moments.h): each block is stepped with moments of fp32, or of the master's fp64.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "executor/kernels/code_tables.h"

namespace executor {

// Elements [begin, end) of the shard with one weight decay. What no range covers (padding) is left alone.
struct DecayRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  double weight_decay = 0;
};

// Of a moment whose numbers are codes (uint8): scales in fp32, and the table that they are nearest in.
struct MomentCodes {
  at::Tensor scales;
  const ByteTable* table = nullptr;  // none: the moment's numbers are themselves
};
struct AdamWShard {
  at::Tensor master;    // the weights that are stepped: fp32, fp64 or bf16
  at::Tensor gradient;  // of the master's type, bf16 or fp16
  at::Tensor first_moment, second_moment;
  at::Tensor rounded;  // bf16 or fp16 weights, written from the master; without a tensor where the master is what is used
  MomentCodes first_codes = {}, second_codes = {};
};
struct AdamWSettings {
  double learning_rate = 0, beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8;
  std::int64_t step = 1;       // from 1: bias correction
  double gradient_factor = 1;  // clipping
  at::Tensor factor_there =
      {};  // fp64 [1] beside a shard on a device, in its place: the host need not know it. Negative: nothing is stepped
};
// w -= lr * decay * w;  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  w -= lr / c1 * m / (sqrt(v) / sqrt(c2) + eps),  c = 1 - b^step
// (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019).
void step_adamw(const AdamWShard& shard, std::span<const DecayRange> ranges, const AdamWSettings& settings);

struct SgdShard {
  at::Tensor master;
  at::Tensor gradient;
  at::Tensor velocity;  // zero before the first step
  at::Tensor rounded;
};
struct SgdSettings {
  double learning_rate = 0, momentum = 0;
  double gradient_factor = 1;
  at::Tensor factor_there = {};
};
// g += decay * w;  velocity = momentum * velocity + g;  w -= lr * velocity
void step_sgd(const SgdShard& shard, std::span<const DecayRange> ranges, const SgdSettings& settings);

}  // namespace executor
