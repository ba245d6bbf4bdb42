#include "executor/model/scaled_product.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "executor/model/linear.h"

namespace executor {
namespace {

using Along = ScaledProduct::Along;
constexpr sim::ScaleRecipe kOfTheStep[] = {sim::ScaleRecipe::Tensorwise, sim::ScaleRecipe::Rowwise, sim::ScaleRecipe::Mx,
                                           sim::ScaleRecipe::Blockwise};

at::Tensor waves(std::int64_t rows, std::int64_t columns, double pace) {
  return at::arange(rows * columns, at::kDouble).mul_(pace).sin_().view({rows, columns});
}
double lost(const at::Tensor& rounded, const at::Tensor& exact) {
  return rounded.sub(exact).norm().item<double>() / exact.norm().item<double>();
}

TEST(ScaledProductTest, OperandsLoseThreeBitsOfMantissaAtMost) {
  const at::Tensor numbers = waves(130, 260, 0.37);
  for (const sim::ScaleRecipe recipe : kOfTheStep)
    for (const Along along : {Along::Rows, Along::Columns})
      for (const sim::Operand which : {sim::Operand::Input, sim::Operand::Weight, sim::Operand::OutputGradient}) {
        const double share = lost(ScaledProduct(recipe).operand(numbers, which, along), numbers);
        EXPECT_GT(share, 1e-3);
        EXPECT_LT(share, 0.08);
      }
}

// A row of small numbers beside one of large ones: where they share a scale, e4m3 has nothing left of them.
TEST(ScaledProductTest, ARecipeSaysWhichNumbersShareAScale) {
  at::Tensor numbers = waves(2, 8, 0.37).abs_().add_(0.1);
  numbers.select(0, 0).mul_(1e-7);
  const auto keeps = [&](sim::ScaleRecipe recipe, Along along) {
    return ScaledProduct(recipe).operand(numbers, sim::Operand::Input, along).select(0, 0).abs().max().item<double>() > 0;
  };
  EXPECT_FALSE(keeps(sim::ScaleRecipe::Tensorwise, Along::Columns));
  for (const sim::ScaleRecipe recipe : {sim::ScaleRecipe::Rowwise, sim::ScaleRecipe::Mx, sim::ScaleRecipe::Blockwise}) {
    EXPECT_TRUE(keeps(recipe, Along::Columns));
    EXPECT_FALSE(keeps(recipe, Along::Rows));
  }
}

TEST(ScaledProductTest, DelayedScalesAreOfBeforeAndRememberTheLargest) {
  const DelayedMaxima maxima{.seen = at::zeros({3}, at::kFloat), .before = at::zeros({3}, at::kFloat)};
  const ScaledProduct product(sim::ScaleRecipe::Delayed, maxima);
  const at::Tensor numbers = waves(4, 4, 0.37);
  product.operand(numbers * 3, sim::Operand::Weight, Along::Columns);
  product.operand(numbers, sim::Operand::Weight, Along::Rows);
  const auto largest = static_cast<float>(numbers.mul(3).abs().max().item<double>());
  EXPECT_EQ(maxima.seen.select(0, 1).item<float>(), largest);
  EXPECT_EQ(maxima.seen.select(0, 0).item<float>(), 0);
  maxima.before.fill_(1e-3);  // far too small: all saturate
  const at::Tensor saturated = product.operand(numbers + 2, sim::Operand::Input, Along::Columns);
  EXPECT_LT(saturated.max().item<double>(), 1.1e-3);
}

// The three products of a linear layer are those of rounded operands.
TEST(ScaledProductTest, LinearMultipliesWhatIsRounded) {
  const at::Tensor x = waves(5, 6, 0.7).requires_grad_(), weight = waves(4, 6, 0.3), gradient = at::zeros({4, 6}, at::kDouble);
  const auto scaled = std::make_shared<const ScaledProduct>(sim::ScaleRecipe::Rowwise);
  const at::Tensor y = linear(x, {.value = weight, .gradient = gradient, .scaled = scaled}), dy = waves(5, 4, 0.9);
  y.backward(dy);
  const at::Tensor plain = x.detach();
  const auto of = [&](const at::Tensor& numbers, sim::Operand which, Along along) { return scaled->operand(numbers, which, along); };
  using enum sim::Operand;
  EXPECT_TRUE(y.detach().equal(at::mm(of(plain, Input, Along::Columns), of(weight, Weight, Along::Columns).t())));
  EXPECT_TRUE(x.grad().equal(at::mm(of(dy, OutputGradient, Along::Columns), of(weight, Weight, Along::Rows))));
  EXPECT_LT(lost(gradient, at::mm(of(dy, OutputGradient, Along::Rows).t(), of(plain, Input, Along::Rows))), 1e-15);
  EXPECT_GT(lost(gradient, at::mm(dy.t(), plain)), 1e-3);
}

// Two ranks' shards beside the whole product: what each has a part of is scaled as the whole, in all three products.
TEST(ScaledProductTest, ShardsHaveTheScalesOfTheWhole) {
  const at::Tensor x = waves(5, 8, 0.7), weight = waves(6, 8, 0.3), dy = waves(5, 6, 0.9);
  for (const sim::ScaleRecipe recipe : {sim::ScaleRecipe::Tensorwise, sim::ScaleRecipe::Rowwise})
    for (const sim::TensorSplit split : {sim::TensorSplit::Rows, sim::TensorSplit::Columns}) {
      const bool by_rows = split == sim::TensorSplit::Rows;
      const ScaledProduct whole(recipe);
      const auto part = [](const at::Tensor& of, std::int64_t dimension, std::int64_t rank) {
        return of.chunk(2, dimension)[static_cast<std::size_t>(rank)];
      };
      const auto x_of = [&](std::int64_t rank) { return by_rows ? x : part(x, 1, rank); };
      const auto weight_of = [&](std::int64_t rank) { return part(weight, by_rows ? 0 : 1, rank); };
      const auto dy_of = [&](std::int64_t rank) { return by_rows ? part(dy, 1, rank) : dy; };
      std::vector<at::Tensor> of_other;  // what the other rank says, in the order in which both ask
      const auto agreed_on = [&](std::int64_t rank, bool listens) {
        std::size_t asked = 0;
        const auto largest = std::make_shared<const std::function<void(const at::Tensor&)>>([&](const at::Tensor& own) {
          listens ? own.copy_(at::maximum(own, of_other.at(asked++))) : of_other.emplace_back(own.clone());
        });
        const ScaledProduct shard(recipe, {}, {.split = split, .largest_of_ranks = largest});
        ScaledProduct::Agreed agreed;
        shard.agree_forward({&agreed, 1}, {{x_of(rank), weight_of(rank)}});
        shard.agree_backward({&agreed, 1}, {{dy_of(rank), weight_of(rank)}});
        return agreed;
      };
      agreed_on(1, /*listens=*/false);
      const ScaledProduct::Agreed agreed = agreed_on(0, /*listens=*/true);
      EXPECT_FALSE(of_other.empty());
      const auto expect_same = [&](const at::Tensor& own, const at::Tensor& all, sim::Operand which, Along along, std::int64_t dimension) {
        const at::Tensor rounded = whole.operand(all, which, along),
                         expected = own.sizes() == all.sizes() ? rounded : part(rounded, dimension, 0);
        EXPECT_TRUE(whole.operand(own, which, along, agreed).equal(expected))
            << by_rows << static_cast<int>(which) << static_cast<int>(along);
      };
      using enum sim::Operand;
      for (const Along along : {Along::Columns, Along::Rows}) {
        expect_same(x_of(0), x, Input, along, 1);
        expect_same(weight_of(0), weight, Weight, along, by_rows ? 0 : 1);
        expect_same(dy_of(0), dy, OutputGradient, along, 1);
      }
    }
}

// Tokens of two ranks, and two products in one message, of which one has no token here.
TEST(ScaledProductTest, TokensOfOtherRanksShareScales) {
  const at::Tensor weight = waves(6, 8, 0.3), x = waves(5, 8, 0.7), dy = waves(5, 6, 0.9), more_x = x * 3, more_dy = dy * 5;
  for (const sim::ScaleRecipe recipe : {sim::ScaleRecipe::Tensorwise, sim::ScaleRecipe::Rowwise}) {
    std::vector<at::Tensor> said;
    const auto others = std::make_shared<const std::function<void(const at::Tensor&)>>([&](const at::Tensor& own) {
      said.push_back(own.clone());
      own.mul_(said.size() == 1 ? 3 : 5);
    });
    const ScaledProduct whole(recipe), part(recipe, {}, {.cuts_tokens = true, .largest_of_ranks = others});
    std::vector<ScaledProduct::Agreed> agreed(2);
    part.agree_forward(agreed, {{x, weight}, {x.narrow(0, 0, 0), weight}});
    part.agree_backward(agreed, {{dy, weight}, {dy.narrow(0, 0, 0), weight}});
    ASSERT_EQ(said.size(), 2);
    for (const at::Tensor& message : said) EXPECT_EQ(message.chunk(2).at(1).max().item<double>(), 0);
    using enum sim::Operand;
    const auto expect_same = [&](const at::Tensor& own, const at::Tensor& all, sim::Operand which) {
      for (const Along along : {Along::Columns, Along::Rows})
        EXPECT_TRUE(part.operand(own, which, along, agreed.front())
                        .equal(whole.operand(at::cat({own, all}), which, along).narrow(0, 0, own.size(0))))
            << static_cast<int>(which) << static_cast<int>(along);
    };
    expect_same(x, more_x, Input);
    expect_same(dy, more_dy, OutputGradient);
  }
}

// LibTorch has the operator for CPUs, too, with one scale a tensor: what a GPU's units are given is what is rounded here.
TEST(ScaledProductTest, AUnitMultipliesTheSameNumbers) {
  using enum sim::Operand;
  const ScaledProduct scaled(sim::ScaleRecipe::Tensorwise);
  const at::Tensor x = waves(32, 48, 0.7).to(at::kFloat), weight = waves(16, 48, 0.3).to(at::kFloat),
                   dy = waves(32, 16, 0.9).to(at::kFloat);
  const auto rounded = [&](const ScaledProduct::Factor& of) {
    const at::Tensor numbers = scaled.operand(of.numbers, of.which, of.along);
    return of.along == Along::Columns ? numbers : numbers.t();
  };
  const std::pair<ScaledProduct::Factor, ScaledProduct::Factor> products[] = {
      {{x, Input, Along::Columns}, {weight, Weight, Along::Columns}},
      {{dy, OutputGradient, Along::Columns}, {weight, Weight, Along::Rows}},
      {{dy, OutputGradient, Along::Rows}, {x, Input, Along::Rows}}};
  for (const auto& [left, right] : products) {
    EXPECT_LT(lost(scaled.unit_product(left, right, at::kFloat), at::mm(rounded(left), rounded(right).t())), 1e-6);
    EXPECT_FALSE(scaled.by_unit(left, right, at::kFloat).defined()) << "a CPU is asked for none";
  }
}

}  // namespace
}  // namespace executor
