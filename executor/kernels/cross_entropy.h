// Cross-entropy over a vocabulary that tensor ranks may share: per token, the loss -log softmax(logits)[target]. In the pieces between which
// a tensor-parallel head communicates; one rank runs them one after the other. Nothing as large as the logits is made: the gradient
// is written over them.
//
//   maximum = max over columns            [all-reduce maximum]
//   sums    = sum of exp(logit - maximum), and logit[target] - maximum where the target is      [all-reduce sum]
//   loss    = log(sum) - shifted target            gradient = (exp(logit - maximum) / sum - [column is target]) * scale
//
// logits: contiguous [tokens, columns], fp64, fp32, bf16 or fp16; targets: int64 [tokens], global ids. Statistics are fp64 for fp64, else fp32.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace executor {

// Which columns of the whole vocabulary this rank's logits are. Padding has no probability and gets no gradient.
struct VocabularyShard {
  std::int64_t first = 0;  // global id of column 0
  std::int64_t real = 0;   // columns that are no padding, from the left; 0 .. columns
};

// Uninitialised statistics for these logits: of shape [tokens] and [2, tokens].
at::Tensor empty_maximum(const at::Tensor& logits);
at::Tensor empty_sums(const at::Tensor& logits);

void local_maximum(const at::Tensor& maximum, const at::Tensor& logits, const VocabularyShard& shard);  // -infinity without real columns

struct CrossEntropyTargets {
  at::Tensor logits, targets, maximum;
};
void local_exponentials(const at::Tensor& sums, const CrossEntropyTargets& at, const VocabularyShard& shard);

at::Tensor token_losses(const at::Tensor& sums);  // [tokens]

// Of the loss of one token. there: fp64 [] beside logits on a device, in its place: what is recorded once reads what it is then.
struct LossFactor {
  double value = 1;
  at::Tensor there = {};
};
// Overwrites `at.logits` with the gradient. sums: as after the all-reduce.
void loss_gradient_in_place(const CrossEntropyTargets& at, const at::Tensor& sums, const VocabularyShard& shard, const LossFactor& factor);

}  // namespace executor
