#include "executor/model/activation.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/silu.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

TEST(Activation, GatedSiluEqualsItsOperators) {
  const at::Tensor input = random_tensor({5, 8}, 1), gradient = random_tensor({5, 4}, 2);
  const at::Tensor x = recorded(input), expected = recorded(input);
  at::Tensor reference = at::silu(expected.narrow(1, 0, 4)) * expected.narrow(1, 4, 4);
  const at::Tensor output = gated_activation(x, sim::Activation::Silu);
  EXPECT_TRUE(at::equal(output.detach(), reference.detach()));
  reference.backward(gradient);
  output.backward(gradient);
  EXPECT_LT(relative_error(x.grad(), expected.grad()), 1e-14);
}

TEST(Activation, OtherGatesAndPlainOnes) {
  const at::Tensor input = random_tensor({5, 8}, 1);
  EXPECT_TRUE(at::equal(activation(input, sim::Activation::GeluTanh), at::gelu(input, "tanh")));
  EXPECT_FALSE(at::equal(activation(input, sim::Activation::GeluTanh), activation(input, sim::Activation::Gelu)));
  EXPECT_TRUE(at::equal(activation(input, sim::Activation::Relu), input.clamp_min(0)));
  EXPECT_TRUE(at::equal(gated_activation(input, sim::Activation::Gelu), at::gelu(input.narrow(1, 0, 4)) * input.narrow(1, 4, 4)));
}

}  // namespace
}  // namespace executor
