// One product an expert: rows of expert 0 by its weights, rows of expert 1 by its own, ... Their weights stand one below the other.
// As linear() otherwise: gradients of the weights go straight into the leaf's buffer, or wait for the task `weight`.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/model/leaf.h"

namespace executor {

using RowCounts = std::vector<std::int64_t>;  // of each expert; may be 0

struct GroupedWeights {
  Leaf weight;       // [experts * outputs, inputs]
  Leaf bias = {};    // [experts * outputs], or none
  double share = 1;  // of the bias that is added here, and of its gradient: others add the rest
};
// rows [sum of counts, inputs] -> [sum of counts, outputs].
at::Tensor grouped_linear(const at::Tensor& rows, const GroupedWeights& weights, const RowCounts& counts);

}  // namespace executor
