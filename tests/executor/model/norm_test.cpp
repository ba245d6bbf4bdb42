#include "executor/model/norm.h"

#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rms_norm.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr double kEpsilon = 1e-5;

TEST(Norm, LayerNormEqualsLibTorch) {
  const Leaf scale = random_leaf({12}, 1), shift = random_leaf({12}, 2);
  const at::Tensor input = random_tensor({5, 12}, 3), gradient = random_tensor({5, 12}, 4);
  const at::Tensor x = recorded(input), expected_x = recorded(input), s = recorded(scale.value), t = recorded(shift.value);
  at::layer_norm(expected_x, {12}, s, t, kEpsilon).backward(gradient);
  norm(x, sim::Norm::LayerNorm, kEpsilon, scale, shift).backward(gradient);
  EXPECT_LT(relative_error(x.grad(), expected_x.grad()), 1e-14);
  EXPECT_LT(relative_error(scale.gradient, s.grad()), 1e-14);
  EXPECT_LT(relative_error(shift.gradient, t.grad()), 1e-14);
}

TEST(Norm, RmsNormEqualsLibTorch) {
  const Leaf scale = random_leaf({13}, 1);
  const at::Tensor input = random_tensor({5, 13}, 3), gradient = random_tensor({5, 13}, 4);
  const at::Tensor x = recorded(input), expected_x = recorded(input), s = recorded(scale.value);
  at::rms_norm(expected_x, {13}, s, kEpsilon).backward(gradient);
  norm(x, sim::Norm::RmsNorm, kEpsilon, scale, {}).backward(gradient);
  EXPECT_LT(relative_error(x.grad(), expected_x.grad()), 1e-14);
  EXPECT_LT(relative_error(scale.gradient, s.grad()), 1e-14);
}

}  // namespace
}  // namespace executor
