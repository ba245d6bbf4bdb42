// What an operator on a map of channels costs: a convolution is the product of its implicit matrix, everything else goes by the numbers that it moves.
#pragma once

#include <vector>

#include "sim/cost/kernel_work.h"
#include "sim/model/segment.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

inline bool is_of_maps(const Operator& op) { return op.map.places > 0; }
// Of a batch norm between whose halves ranks exchange statistics: the moments (backward: what follows the sums), or the rest.
struct MapPart {
  bool first = true, second = true;
};
std::vector<KernelCall> map_forward(const Operator& op, const ParallelPlan& plan, MapPart part = {});
std::vector<KernelCall> map_backward(const Operator& op, const ParallelPlan& plan, MapPart part = {});  // with the gradients of weights
Bytes kept_of_map(const Operator& op, const ParallelPlan& plan);                                        // from forward to backward

}  // namespace sim
