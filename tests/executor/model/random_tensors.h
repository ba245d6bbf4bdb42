// Random fp64 tensors, and leaves of them, for the tests of this room.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "executor/model/leaf.h"
#include "executor/model/random.h"
#include "sim/model/model_graph.h"

namespace executor {

inline at::Tensor random_tensor(at::IntArrayRef shape, std::uint64_t seed) {
  at::Tensor tensor = at::empty(shape, at::kDouble);
  for (std::int64_t at = 0; at < tensor.numel(); ++at)
    tensor.data_ptr<double>()[at] = random_normal(random_key({seed}), static_cast<std::uint64_t>(at));
  return tensor;
}

inline sim::Parameter table(std::string name, std::int64_t rows, std::int64_t columns) {
  sim::Parameter parameter;
  parameter.name = std::move(name);
  parameter.rows = rows;
  parameter.columns = columns;
  return parameter;
}

inline Leaf random_leaf(at::IntArrayRef shape, std::uint64_t seed) {
  const at::Tensor value = random_tensor(shape, seed);
  return {.value = value, .gradient = at::zeros_like(value)};
}

inline double relative_error(const at::Tensor& value, const at::Tensor& expected) {
  return ((value - expected).norm() / expected.norm()).item<double>();
}

inline at::Tensor recorded(const at::Tensor& tensor) { return tensor.detach().clone().requires_grad_(); }

}  // namespace executor
