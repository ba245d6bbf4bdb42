#include "executor/model/residual.h"

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

TEST(Residual, SumsStreamBiasAndDroppedPart) {
  const at::Tensor part = random_tensor({3, 4}, 1), stream = random_tensor({3, 4}, 2);
  const Leaf bias = random_leaf({4}, 3);
  const Dropout dropout{.probability = 0.5, .key = random_key({9}), .first_element = 24};
  at::Tensor expected = part + bias.value;
  apply_dropout(expected, dropout);
  ResidualStream sum = add_residual({.value = stream, .addend = {}}, part, bias, dropout);
  EXPECT_TRUE(at::equal(sum.value, expected)) << "the sum waits";
  sum_up(sum);
  EXPECT_TRUE(at::equal(sum.value, expected + stream));
  sum_up(sum);
  EXPECT_TRUE(at::equal(sum.value, expected + stream)) << "once";
  EXPECT_TRUE(at::equal(add_residual({.value = stream, .addend = {}}, stream.clone(), {}, {}, 0.25).value, stream * 0.25));
}

TEST(Residual, BackwardRepeatsTheMask) {
  const at::Tensor gradient = random_tensor({3, 4}, 1);
  const Leaf bias = random_leaf({4}, 3);
  const Dropout dropout{.probability = 0.5, .key = random_key({9}), .first_element = 24};
  at::Tensor expected = gradient.clone();
  apply_dropout(expected, dropout);
  EXPECT_TRUE(at::equal(residual_backward(gradient, bias, dropout), expected));
  EXPECT_TRUE(at::equal(bias.gradient, expected.sum(0)));
  EXPECT_TRUE(at::equal(residual_backward(gradient, {}, {}, 0.25), gradient * 0.25));
  EXPECT_TRUE(residual_backward(gradient, {}, {}).is_same(gradient)) << "nothing to do costs nothing";
}

}  // namespace
}  // namespace executor
