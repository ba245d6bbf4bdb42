#include "executor/model/linear.h"

#include <ATen/ops/linear.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

TEST(Linear, EqualsLibTorchAndAddsToItsLeaves) {
  const Leaf weight = random_leaf({5, 3}, 1), bias = random_leaf({5}, 2);
  const at::Tensor input = random_tensor({7, 3}, 3), gradient = random_tensor({7, 5}, 4);
  const at::Tensor x = recorded(input), expected_x = recorded(input), w = recorded(weight.value), b = recorded(bias.value);
  at::linear(expected_x, w, b).backward(gradient);
  for (int twice = 0; twice < 2; ++twice) linear(x, weight, bias).backward(gradient);
  EXPECT_LT(relative_error(x.grad(), 2 * expected_x.grad()), 1e-14);
  EXPECT_LT(relative_error(weight.gradient, 2 * w.grad()), 1e-14) << "a second backward adds";
  EXPECT_LT(relative_error(bias.gradient, 2 * b.grad()), 1e-14);
}

TEST(Linear, NeedsNoBias) {
  const Leaf weight = random_leaf({5, 3}, 1);
  const at::Tensor input = random_tensor({7, 3}, 3);
  EXPECT_TRUE(at::equal(linear(input, weight), at::mm(input, weight.value.t())));
}

}  // namespace
}  // namespace executor
