// Dropout whose mask is a function of (seed, step, operation) and of the element's place in the tensor of the global batch: the same
// under every layout, and repeated by recomputation and by the backward without being stored.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

#include "executor/model/random.h"
#include "executor/model/token_stretches.h"

namespace executor {

struct Dropout {
  double probability = 0;           // of being dropped; 0: nothing happens
  RandomKey key;                    // of (seed, step, operation)
  std::uint64_t first_element = 0;  // where this tensor's first element stands in the global batch's tensor
  at::Tensor key_there = {};        // int64 []: `key` on the tensor's device, which reads it when it draws; a CPU has none
  // Of [rows, width]: where the rows stand, counted from first_element; empty: they follow each other. Outlive this.
  std::span<const TokenStretch> stretches = {};
  // Of rows of so many numbers, of which these are the ones from `first_column` on; 0: whole rows.
  std::int64_t columns = 0, first_column = 0;
};

// In place: tensor *= mask / (1 - probability). The same call serves forward and backward. Contiguous.
void apply_dropout(at::Tensor& tensor, const Dropout& dropout);

}  // namespace executor
