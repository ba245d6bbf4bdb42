// A parameter as the pieces of the model see it: its value and the place where its gradient is summed up. Both are views of flat buffers
// that somebody else owns (executor/training/flat_bucket.h) and that may be freed and filled again between uses. A frozen matrix may be kept packed:
// its value is bytes then, and who multiplies by it asks numbers_of().
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "executor/model/packed_weight.h"
#include "executor/model/scaled_product.h"

namespace executor {

struct Leaf {
  at::Tensor value;     // [rows, columns], or [rows] for a vector; a leaf of autograd whose .grad is `gradient`
  at::Tensor gradient;  // the same shape; added to as gradient_place.h says, never replaced. Of a frozen parameter: no tensor
  std::shared_ptr<const PackedWeight> packed = nullptr;   // then `value` is uint8 [bytes]
  std::shared_ptr<const ScaledProduct> scaled = nullptr;  // then what it is multiplied with is rounded to 8 bit, as it is itself
};

// Of a matrix; of a packed one a copy that is made anew for each use. Without a graph.
inline at::Tensor numbers_of(const Leaf& leaf) { return leaf.packed ? leaf.packed->unpack(leaf.value.detach()) : leaf.value.detach(); }

// gradient += a b. Where gradients are kept wider than the products are made, the product is rounded once before it is added, or not at all where an
// operator adds it (adds_unrounded).
void add_product(const at::Tensor& gradient, const at::Tensor& a, const at::Tensor& b);

// In the order of sim::parameters_of(layer).
using LayerLeaves = std::vector<Leaf>;

}  // namespace executor
