#include "executor/model/low_rank.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include "executor/model/piece.h"

namespace executor {
namespace {

Leaf trained(const at::Tensor& value) { return {.value = value, .gradient = at::zeros_like(value)}; }
Leaf frozen(const at::Tensor& value) { return {.value = value, .gradient = {}}; }
at::Tensor drawn(std::int64_t rows, std::int64_t columns) { return at::randn({rows, columns}, at::kDouble); }

// Two pairs, beside the first and the last block of a product, or one for both: against the weight that is the sum of all.
void expect_the_sum(std::int64_t pairs) {
  const std::int64_t rank = 2;
  const Leaf weight = frozen(drawn(9, 5)), down = trained(drawn(pairs * rank, 5)), up = trained(drawn(7, rank));
  const LowRank adapter{.down = down, .up = up, .pairs = pairs, .blocks = {{0, 3}, {5, 4}}, .scale = 1.5};
  const at::Tensor x = drawn(6, 5), gradient = drawn(6, 9);
  const auto a = [&](std::int64_t pair) { return down.value.narrow(0, pairs == 1 ? 0 : pair * rank, rank); };
  const at::Tensor first = up.value.narrow(0, 0, 3), last = up.value.narrow(0, 3, 4);
  at::Tensor whole = weight.value.clone();
  whole.narrow(0, 0, 3).add_(at::mm(first, a(0)), 1.5);
  whole.narrow(0, 5, 4).add_(at::mm(last, a(1)), 1.5);
  Piece piece;
  const at::Tensor y = piece.forward(x, [&](const at::Tensor& input) { return adapted_linear(input, weight, {}, adapter); });
  EXPECT_TRUE(y.allclose(at::mm(x, whole.t())));
  EXPECT_TRUE(piece.backward(gradient).allclose(at::mm(gradient, whole)));
  const at::Tensor of_whole = at::mm(gradient.t(), x);  // what the gradient of the sum would be
  const at::Tensor into_up = at::cat({at::mm(of_whole.narrow(0, 0, 3), a(0).t()), at::mm(of_whole.narrow(0, 5, 4), a(1).t())}).mul(1.5);
  EXPECT_TRUE(up.gradient.allclose(into_up));
  at::Tensor into_down = at::zeros_like(down.value);
  into_down.narrow(0, 0, rank).add_(at::mm(first.t(), of_whole.narrow(0, 0, 3)), 1.5);
  into_down.narrow(0, pairs == 1 ? 0 : rank, rank).add_(at::mm(last.t(), of_whole.narrow(0, 5, 4)), 1.5);
  EXPECT_TRUE(down.gradient.allclose(into_down));
}

TEST(LowRank, IsTheSumOfBothProducts) {
  expect_the_sum(2);
  expect_the_sum(1);
}

TEST(LowRank, NothingBesideIsTheProductAlone) {
  const Leaf weight = frozen(drawn(4, 3));
  const at::Tensor x = drawn(2, 3);
  EXPECT_TRUE(adapted_linear(x, weight, {}, {}).equal(at::mm(x, weight.value.t())));
}

}  // namespace
}  // namespace executor
