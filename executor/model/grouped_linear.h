// One product an expert: rows of expert 0 by its weights, rows of expert 1 by its own, ... Their weights stand one below the other.
// As linear() otherwise: gradients of the weights go straight into the leaf's buffer, or wait for the task `weight`.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/model/leaf.h"

namespace executor {

using RowCounts = std::vector<std::int64_t>;  // of each expert; may be 0

// rows [sum of counts, inputs] -> [sum of counts, outputs]; weight [experts * outputs, inputs].
at::Tensor grouped_linear(const at::Tensor& rows, const Leaf& weight, const RowCounts& counts);

}  // namespace executor
