#include "executor/model/activation.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

TEST(Activation, GatedSiluEqualsItsOperators) {
  const at::Tensor input = random_tensor({5, 8}, 1), gradient = random_tensor({5, 4}, 2);
  const at::Tensor x = recorded(input), expected = recorded(input);
  at::Tensor reference = at::silu(expected.narrow(1, 0, 4)) * expected.narrow(1, 4, 4);
  const at::Tensor output = gated_activation(x, {.kind = sim::Activation::Silu});
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
  EXPECT_TRUE(at::equal(activation(input, sim::Activation::SquaredRelu), input.clamp_min(0) * input.clamp_min(0)));
  EXPECT_TRUE(at::equal(gated_activation(input, {.kind = sim::Activation::Gelu}), at::gelu(input.narrow(1, 0, 4)) * input.narrow(1, 4, 4)));
}

TEST(Activation, ASquaredReluHasTheSlopeOfItsOperators) {
  const at::Tensor input = random_tensor({6, 8}, 5), slope = random_tensor({6, 8}, 6);
  const at::Tensor mine = recorded(input), theirs = recorded(input);
  activation(mine, sim::Activation::SquaredRelu).backward(slope);
  (theirs.clamp_min(0) * theirs.clamp_min(0)).backward(slope);
  EXPECT_LT(relative_error(mine.grad(), theirs.grad()), 1e-14);
}

// Each gate against LibTorch's own backward, on both sides of its limit.
TEST(Activation, GatesHaveTheSlopeOfTheirOperators) {
  const at::Tensor input = random_tensor({6, 8}, 5) * 2, slope = random_tensor({6, 4}, 6);
  for (const GateForm form :
       {GateForm{.kind = sim::Activation::GeluTanh}, GateForm{.kind = sim::Activation::Gelu}, GateForm{.kind = sim::Activation::Relu},
        GateForm{.kind = sim::Activation::SquaredRelu}, GateForm{.limit = 1}}) {
    const at::Tensor mine = recorded(input), theirs = recorded(input), gate = theirs.narrow(1, 0, 4), value = theirs.narrow(1, 4, 4);
    const at::Tensor low = gate.clamp_max(form.limit);
    const at::Tensor expected =
        form.limit > 0 ? low * at::sigmoid(low * 1.702) * (value.clamp(-form.limit, form.limit) + 1) : activation(gate, form.kind) * value;
    const at::Tensor is = gated_activation(mine, form);
    EXPECT_LT(relative_error(is.detach(), expected.detach()), 1e-14);
    is.backward(slope);
    expected.backward(slope);
    EXPECT_LT(relative_error(mine.grad(), theirs.grad()), 1e-13);
  }
}

}  // namespace
}  // namespace executor
