// The kernels of this room put together from LibTorch's operators: for tensors on a device that has no loop of ours. Same arguments, same meaning,
// numbers within rounding of the loops'; slower, and with temporaries. Called by the functions that are named alike; device tensors in, device
// tensors out, nothing waits for the device.
#pragma once

#include "executor/kernels/cross_entropy.h"
#include "executor/kernels/gradient_factor.h"
#include "executor/kernels/optimizer.h"

namespace executor::composed {

void local_maximum(const at::Tensor& maximum, const at::Tensor& logits, const VocabularyShard& shard);
void local_exponentials(const at::Tensor& sums, const CrossEntropyTargets& at, const VocabularyShard& shard);
at::Tensor token_losses(const at::Tensor& sums);
void loss_gradient_in_place(const CrossEntropyTargets& at, const at::Tensor& sums, const VocabularyShard& shard, const LossFactor& factor);

void step_adamw(const AdamWShard& shard, const DecayRange& range, const AdamWSettings& settings);
void step_sgd(const SgdShard& shard, const DecayRange& range, const SgdSettings& settings);

// Sums of squares of blocks of 64 (square_sums.h), every bit: fp64 [blocks]. A short last block counts as if zeros filled it.
at::Tensor square_sums(const at::Tensor& values);
// ExactSum's limbs of fp64 values: int64 [ExactSum::kLimbs]; their sum is exact.
at::Tensor exact_limbs(const at::Tensor& values);
void add_squares(const at::Tensor& limbs, const at::Tensor& values);
void add_values(const at::Tensor& limbs, const at::Tensor& values);
void gradient_factor(const at::Tensor& factor, const at::Tensor& limbs, const GradientLimit& limit);

}  // namespace executor::composed
