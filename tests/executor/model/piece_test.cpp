#include "executor/model/piece.h"

#include <ATen/ops/mul.h>
#include <ATen/ops/tanh.h>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

TEST(Piece, ChainOfPiecesIsBitwiseTheWholeGraph) {
  const at::Tensor input = random_tensor({4, 3}, 1), gradient = random_tensor({4, 3}, 2);
  const at::Tensor whole_input = recorded(input);
  at::tanh(at::mul(whole_input, whole_input)).backward(gradient);

  Piece square, tangent;
  const c10::AutoGradMode unrecorded(false);
  const at::Tensor middle = square.forward(input, [](const at::Tensor& x) { return at::mul(x, x); });
  const at::Tensor output = tangent.forward(middle, [](const at::Tensor& x) { return at::tanh(x); });
  EXPECT_FALSE(output.requires_grad());
  EXPECT_TRUE(at::equal(square.backward(tangent.backward(gradient)), whole_input.grad()));
}

TEST(Piece, OutputMayBeFreedOrOverwritten) {
  const Leaf unused = random_leaf({1}, 1);
  Piece piece;
  at::Tensor output = piece.forward(random_tensor({3}, 1), [](const at::Tensor& x) { return x * 2.0; });
  output.fill_(7.0);  // the graph of a product with a number keeps no output
  EXPECT_TRUE(piece.is_recorded());
  const at::Tensor gradient = piece.backward(at::ones({3}, at::kDouble));
  EXPECT_TRUE(at::equal(gradient, at::full({3}, 2.0, at::kDouble)));
  EXPECT_FALSE(piece.is_recorded()) << "its graph is gone";
}

}  // namespace
}  // namespace executor
