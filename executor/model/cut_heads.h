// Between the columns of attention's joint projection that a tensor rank makes and the heads that it attends with, where the ranks meet there
// (Meeting::Norms, Meeting::Share of sim/model/segment.h). Written out without autograd, because an exchange stands in the middle, both ways:
//
//   leave -> what ranks exchange        arrive -> joint rows [tokens, q | k | v | gates] of this rank's heads
//   leave_back -> likewise, of the gradient of such rows        arrive_back -> the gradient of the columns
//
// A copy serves one microbatch: it keeps what its backward reads.
#pragma once

#include <array>
#include <variant>

#include "executor/model/head_norm.h"

namespace executor {

// Norms over all heads, of which this rank has some (OLMo 2): forward the sums of squares of queries and keys are summed over the ranks, backward the sums
// in the norms' slopes; a number a token of each.
//
//   n = x r,  r = 1 / sqrt(sum x^2 / N + epsilon),  y = n w        dx = r (g w - n sum(g w n) / N),  dw = sum over tokens of g n;  N: columns of all ranks
class CutNorms {
 public:
  CutNorms(const HeadShape& shape, const HeadNorms& norms, std::int64_t ranks);
  at::Tensor leave(const at::Tensor& joint);  // [tokens, 2], at least fp32; `joint` is normed in its place by arrive()
  at::Tensor arrive(const at::Tensor& sums);
  at::Tensor leave_back(const at::Tensor& gradient);  // which arrive_back() overwrites
  at::Tensor arrive_back(const at::Tensor& sums);

 private:
  struct Part {
    NormLayer layer;
    std::int64_t first = 0, columns = 0;
    at::Tensor input = {}, inverse = {};  // [tokens, columns]; [tokens, 1]
  };
  std::array<Part, 2> parts_;
  std::int64_t ranks_;
  at::Tensor rows_;  // joint, then its gradient
};

// Fewer key/value heads than ranks (Megatron-Core, transformer/attention.py): a rank has made an even part of each head's columns. All of them are gathered,
// and its whole heads are taken; back go the gradients of what it took, summed where several ranks took the same.
class SharedKeys {
 public:
  struct Ranks {
    std::int64_t all, own, kv_heads;  // kv_heads: of the network
  };
  SharedKeys(const HeadShape& shape, Ranks ranks) : shape_(shape), ranks_(ranks) {}  // shape: one head of keys
  at::Tensor leave(const at::Tensor& joint) { return joint; }
  at::Tensor arrive(const at::Tensor& all) const;           // [ranks * tokens, columns]
  at::Tensor leave_back(const at::Tensor& gradient) const;  // likewise, zeros where this rank took nothing
  at::Tensor arrive_back(const at::Tensor& own) { return own; }

 private:
  template <class Copy>
  void for_each_stretch(const Copy& copy) const;

  HeadShape shape_;
  Ranks ranks_;
};

using CutHeads = std::variant<CutNorms, SharedKeys>;

}  // namespace executor
