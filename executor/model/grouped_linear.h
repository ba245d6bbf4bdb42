// One product an expert: rows of expert 0 by its weights, rows of expert 1 by its own, ... Their weights stand one below the other.
// As linear() otherwise: gradients of the weights go straight into the leaf's buffer, or wait for the task `weight`.
#pragma once

#include <cstdint>
#include <vector>

#include "executor/model/leaf.h"

namespace executor {

using RowCounts = std::vector<std::int64_t>;  // of each expert, or of stretches of its rows; may be 0

struct GroupedWeights {
  Leaf weight;       // [experts * outputs, inputs]
  Leaf bias = {};    // [experts * outputs], or none
  double share = 1;  // of the bias that is added here, and of its gradient: others add the rest
  // Stretches of an expert's rows, one behind the other, that are products of their own: counts has so many of each expert.
  std::int64_t stretches = 1;
};
// rows [sum of counts, inputs] -> [sum of counts, outputs].
at::Tensor grouped_linear(const at::Tensor& rows, const GroupedWeights& weights, const RowCounts& counts);
// The same by one product for all experts, without biases. ends: int32 [experts], on the device of the rows: behind the last row of each. The host need
// not know them. fp32 or 16 bits; on GPUs what multiplies_groups() takes.
at::Tensor grouped_linear_to(const at::Tensor& rows, const Leaf& weight, const at::Tensor& ends);

}  // namespace executor
