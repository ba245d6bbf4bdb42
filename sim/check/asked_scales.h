// What ranks ask each other for inside a computation whose products are in 8 bit. Written from the three sums of a product, and from no table of those that
// are judged.
//
//   y  = x W^T     over inputs     x [tokens, inputs], W [outputs, inputs]
//   x' = y' W      over outputs    y' [tokens, outputs], W
//   W' = y'^T x    over tokens     y', x
//
// Of a scale for a tensor everybody has a part who has a part of the tensor; of a scale for a row (or a tile) who has a part of what is summed.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

// By those who share the weight. Whole: each makes all of it, and has a part of the gradient of y. Own: of what nobody else has a part of.
enum class ProductCut : std::uint8_t { Own, Whole, Outputs, Inputs };

struct CheckedProduct {
  std::int64_t inputs = 0, outputs = 0, rows = 0;  // of experts: rows of all that a rank has
  ProductCut cut{};
  bool of_experts = false;  // each expert's with the rows of each microbatch
};

struct AskedWithin {
  MeshAxis of{};
  Bytes payload{};
};

// In the order in which they are asked. number: of an activation.
std::vector<AskedWithin> asked_by(const ParallelPlan& plan, const CheckedProduct& product, bool backward, Bytes number);

}  // namespace sim
