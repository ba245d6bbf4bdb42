// A frozen product with what low-rank adapters beside it add (LoRA, Hu et al. 2021), as one function of autograd: nothing but the input and the narrow
// vectors is kept, and what adapters put out is added in place.
//
//   h = scale x A^T                [tokens, pairs r]       y = x W^T (+ b),  y[block i] += h[pair i] B[block i]^T
//   dh = dy[block i] B[block i]    dB += dy^T h            dA += scale dh^T x            dx = dy W + scale dh A
//
// Dropout: pair i reads x with a mask of its own in the place of x. The mask is drawn again in the backward, where nothing of it is kept.
//
// Tensor ranks: of a product whose outputs they share A is whole and B cut, else A is cut and B whole; what is whole has a part of its gradient on each.
#pragma once

#include <array>
#include <vector>

#include "executor/model/dropout.h"
#include "executor/model/leaf.h"
#include "sim/model/adapters.h"

namespace executor {

struct LowRank {
  Leaf down = {}, up = {};                     // A [pairs r, inputs], B [outputs of all blocks, r]; without tensors: no adapter
  std::int64_t pairs = 1;                      // 1: for all blocks; else one for each
  std::vector<sim::AdapterBlock> blocks = {};  // of what the product puts out, here
  double scale = 1;                            // alpha / r
  std::int64_t first_input = 0, inputs = 0;    // of all inputs, those from `first_input` on are here; 0: all of them
  bool is_there() const { return down.value.defined(); }
};

// Of each pair's input, as rows of all tokens and inputs. Without a probability nothing is dropped.
inline constexpr std::size_t kMostPairs = 3;
using PairMasks = std::array<Dropout, kMostPairs>;

// input [tokens, inputs] -> [tokens, outputs], as linear().
at::Tensor adapted_linear(const at::Tensor& input, const Leaf& weight, const Leaf& bias, const LowRank& adapter,
                          const PairMasks& masks = {});

}  // namespace executor
