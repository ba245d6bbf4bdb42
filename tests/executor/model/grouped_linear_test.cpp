#include "executor/model/grouped_linear.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include "executor/model/linear.h"
#include "executor/model/piece.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

// As one linear an expert, bit for bit; the middle one has no row.
TEST(GroupedLinear, IsALinearAnExpert) {
  const RowCounts counts{3, 0, 2};
  const Leaf grouped = random_leaf({3 * 4, 6}, 1);
  const Leaf apart{.value = grouped.value, .gradient = at::zeros_like(grouped.value)};
  const auto expert = [&](std::int64_t at) {
    return Leaf{.value = apart.value.narrow(0, 4 * at, 4), .gradient = apart.gradient.narrow(0, 4 * at, 4)};
  };
  const at::Tensor input = random_tensor({5, 6}, 2), above = random_tensor({5, 4}, 3);
  Piece one, other;
  const at::Tensor output = one.forward(input, [&](const at::Tensor& x) { return grouped_linear(x, {grouped}, counts); });
  const at::Tensor expected = other.forward(input, [&](const at::Tensor& x) {
    return at::cat({linear(x.narrow(0, 0, 3), expert(0)), linear(x.narrow(0, 3, 2), expert(2))});
  });
  EXPECT_TRUE(output.equal(expected));
  EXPECT_TRUE(one.backward(above).equal(other.backward(above)));
  EXPECT_TRUE(grouped.gradient.equal(apart.gradient));
}

// Each stretch of an expert's rows has the scales that it has alone.
TEST(GroupedLinear, StretchesAreProductsOfTheirOwn) {
  const Leaf plain = random_leaf({2 * 4, 6}, 1);
  const at::Tensor input = random_tensor({9, 6}, 2) * at::arange(1, 10, at::kDouble).view({9, 1}), above = random_tensor({9, 4}, 3);
  for (const sim::ScaleRecipe recipe : {sim::ScaleRecipe::Tensorwise, sim::ScaleRecipe::Blockwise}) {
    const auto leaf = [&] {
      return Leaf{.value = plain.value, .gradient = at::zeros_like(plain.value), .scaled = std::make_shared<const ScaledProduct>(recipe)};
    };
    const auto run = [&](const Leaf& weight, const RowCounts& counts, std::int64_t stretches, const at::Tensor& rows,
                         const at::Tensor& from) {
      Piece piece;
      const at::Tensor output =
          piece.forward(rows, [&](const at::Tensor& x) { return grouped_linear(x, {.weight = weight, .stretches = stretches}, counts); });
      return at::cat({output, piece.backward(from)}, 1);
    };
    const Leaf together = leaf(), apart = leaf();
    const at::Tensor all = run(together, {3, 2, 0, 4}, 2, input, above);
    const at::Tensor first = at::cat({input.narrow(0, 0, 3)}), second = at::cat({input.narrow(0, 3, 2), input.narrow(0, 5, 4)});
    const at::Tensor one = run(apart, {3, 0}, 1, first, above.narrow(0, 0, 3)),
                     other = run(apart, {2, 4}, 1, second, above.narrow(0, 3, 6));
    EXPECT_TRUE(all.equal(at::cat({one, other})));
    EXPECT_TRUE(together.gradient.equal(apart.gradient));
    const Leaf shared = leaf();
    run(shared, {5, 4}, 1, input, above);
    EXPECT_FALSE(together.gradient.equal(shared.gradient)) << "all rows of an expert have one scale";
  }
}

// By one product, which knows where rows end from a tensor alone.
TEST(GroupedLinear, OneProductTakesAllExperts) {
  const RowCounts counts{3, 0, 2};
  const at::Tensor ends = at::tensor({3, 3, 5}, at::kInt);
  const auto as_float = [](const Leaf& leaf) { return Leaf{.value = leaf.value.to(at::kFloat), .gradient = leaf.gradient.to(at::kFloat)}; };
  const Leaf together = as_float(random_leaf({3 * 4, 8}, 1)), apart = as_float(random_leaf({3 * 4, 8}, 1));
  const at::Tensor input = random_tensor({5, 8}, 2).to(at::kFloat), above = random_tensor({5, 4}, 3).to(at::kFloat);
  Piece one, other;
  for (int twice = 0; twice < 2; ++twice) {
    const at::Tensor output = one.forward(input, [&](const at::Tensor& x) { return grouped_linear_to(x, together, ends); });
    EXPECT_LT(relative_error(output, other.forward(input, [&](const at::Tensor& x) { return grouped_linear(x, {apart}, counts); })), 1e-6);
    EXPECT_LT(relative_error(one.backward(above), other.backward(above)), 1e-6);
    EXPECT_LT(relative_error(together.gradient, apart.gradient), 1e-6) << "a second backward adds";
  }
  EXPECT_EQ(together.gradient.narrow(0, 4, 4).abs().max().item<float>(),
            random_leaf({12, 8}, 1).gradient.narrow(0, 4, 4).abs().max().item<double>());
}

TEST(GroupedLinear, MayHaveNoRowAtAll) {
  const Leaf weight = random_leaf({8, 6}, 1);
  Piece piece;
  EXPECT_EQ(piece.forward(at::zeros({0, 6}, at::kDouble),
                          [&](const at::Tensor& x) {
                            return grouped_linear(x, {weight}, {0, 0});
                          })
                .size(1),
            4);
  EXPECT_EQ(piece.backward(at::zeros({0, 4}, at::kDouble)).size(0), 0);
}

}  // namespace
}  // namespace executor
