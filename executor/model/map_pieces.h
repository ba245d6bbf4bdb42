// Operators on maps [samples, channels, height, width] but for the norm (batch_norm.h): outside autograd, both directions written out.
// Borders are filled so that a map keeps its size, rounded up where a stride divides it.
#pragma once

#include "executor/model/leaf.h"
#include "sim/model/segment.h"

namespace executor {

struct Filters {
  Leaf weight, bias;  // [outputs, inputs of a group * height * width]; bias: [outputs], or no tensor
};
at::Tensor convolve(const at::Tensor& map, const Filters& filters, const sim::Operator& op);
// Adds to the gradients of the filters. Returns the gradient at the map; of images no tensor.
at::Tensor convolve_backward(const at::Tensor& map, const at::Tensor& output_gradient, const Filters& filters, const sim::Operator& op);

// The largest of 3 x 3.
struct Pooled {
  at::Tensor output, places;  // int32: where in its plane each number came from
};
Pooled pool(const at::Tensor& map, const sim::Operator& op);
at::Tensor pool_backward(const at::Tensor& map, const at::Tensor& output_gradient, const at::Tensor& places, const sim::Operator& op);

at::Tensor average(const at::Tensor& map);  // [samples, channels, 1, 1]
at::Tensor average_backward(const at::Tensor& output_gradient, at::IntArrayRef of_map);

at::Tensor rectify(const at::Tensor& map);
at::Tensor rectify_backward(const at::Tensor& output, const at::Tensor& output_gradient);

}  // namespace executor
