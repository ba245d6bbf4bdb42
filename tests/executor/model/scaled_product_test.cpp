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

using Say = std::function<void(const at::Tensor&)>;
std::shared_ptr<const RankQuestions> asking(Say largest, Say sum = {}, std::function<at::Tensor()> tiles_of_rows = {}) {
  return std::make_shared<const RankQuestions>(RankQuestions{std::move(largest), std::move(sum), std::move(tiles_of_rows)});
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
        const auto largest = [&](const at::Tensor& own) {
          listens ? own.copy_(at::maximum(own, of_other.at(asked++))) : of_other.emplace_back(own.clone());
        };
        const ScaledProduct shard(recipe, {}, {.split = split, .ranks = asking(largest)});
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
    const auto others = [&](const at::Tensor& own) {
      said.push_back(own.clone());
      own.mul_(said.size() == 1 ? 3 : 5);
    };
    const ScaledProduct whole(recipe), part(recipe, {}, {.cuts_tokens = true, .ranks = asking(others)});
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

// Two ranks have every other piece of 16 of 64 tokens, two tiles: of each tile both have a half. Of one tile there would be nothing left beside the other.
TEST(ScaledProductTest, TilesThatRanksCutHaveOneScale) {
  const at::Tensor all = waves(64, 6, 0.7), own = at::arange(32, at::kLong).add(at::arange(32, at::kLong).div(16, "floor").mul(16)),
                   weight = waves(4, 6, 0.3);
  all.narrow(0, 32, 32).mul_(1e7);
  const at::Tensor rows = all.index_select(0, own);
  const at::Tensor of_all = all.abs().view({2, 32, 6}).amax(1);
  const auto questions = asking(
      [&](const at::Tensor& mine) {
        ASSERT_EQ(mine.numel(), of_all.numel());
        mine.copy_(at::maximum(mine, of_all.reshape({-1})));
      },
      {}, [&] { return own.div(32, "floor"); });
  const ScaledProduct whole(sim::ScaleRecipe::Mx),
      part(sim::ScaleRecipe::Mx, {}, {.cuts_tokens = true, .tiles_of_tokens = 2, .ranks = questions});
  ScaledProduct::Agreed agreed;
  part.agree_forward({&agreed, 1}, {{rows, weight}});
  for (const Along along : {Along::Rows, Along::Columns})
    EXPECT_TRUE(
        part.operand(rows, sim::Operand::Input, along, agreed).equal(whole.operand(all, sim::Operand::Input, along).index_select(0, own)));
  EXPECT_FALSE(whole.operand(rows, sim::Operand::Input, Along::Rows)
                   .equal(whole.operand(all, sim::Operand::Input, Along::Rows).index_select(0, own)));
}

// Rows of the second of two microbatches, whose numbers stand behind the first one's.
TEST(ScaledProductTest, MicrobatchesHavePlacesOfTheirOwn) {
  std::vector<at::Tensor> said;
  const auto questions = asking([&](const at::Tensor& mine) {
    said.push_back(mine.clone());
    mine.select(0, 1).mul_(3);
  });
  const ScaledProduct part(sim::ScaleRecipe::Tensorwise, {}, {.cuts_tokens = true, .microbatches = 2, .microbatch = 1, .ranks = questions});
  const at::Tensor rows = waves(4, 6, 0.7);
  ScaledProduct::Agreed agreed;
  part.agree_forward({&agreed, 1}, {{rows, waves(3, 6, 0.3)}});
  ASSERT_EQ(said.size(), 1);
  EXPECT_EQ(said[0].select(0, 0).item<double>(), 0);
  const at::Tensor more = at::cat({rows, rows * 3});
  EXPECT_TRUE(part.operand(rows, sim::Operand::Input, Along::Columns, agreed)
                  .equal(ScaledProduct(sim::ScaleRecipe::Tensorwise).operand(more, sim::Operand::Input, Along::Columns).narrow(0, 0, 4)));
}

// Half the gradient here and half on another rank, twice: the same as all of it, in one place.
TEST(ScaledProductTest, WholeProductsGiveTheirShareOfASum) {
  const at::Tensor x = waves(5, 6, 0.7).requires_grad_(), weight = waves(4, 6, 0.3), gradient = at::zeros({4, 6}, at::kDouble),
                   dy = waves(5, 4, 0.9);
  const auto gradients_of = [&](const ScaleAgreement& agreement, const at::Tensor& here) {
    x.mutable_grad() = at::Tensor();
    gradient.zero_();
    linear(x, {.value = weight,
               .gradient = gradient,
               .scaled = std::make_shared<const ScaledProduct>(sim::ScaleRecipe::Rowwise, DelayedMaxima{}, agreement)})
        .backward(here);
    return at::cat({x.grad(), gradient});
  };
  const at::Tensor one_process = gradients_of({}, dy);
  const auto questions = asking({}, [&](const at::Tensor& mine) { mine.add_(dy * 0.5); });
  EXPECT_TRUE(gradients_of({.share = 0.5, .ranks = questions}, dy * 0.5).mul(2).equal(one_process));
}

// What is made again has the answers of the first time.
TEST(ScaledProductTest, NobodyAsksTwice) {
  std::int64_t asked = 0;
  const auto questions = asking([&](const at::Tensor& mine) { mine.mul_(2 + asked++); });
  const Leaf leaf{.value = waves(4, 6, 0.3),
                  .gradient = {},
                  .scaled = std::make_shared<const ScaledProduct>(sim::ScaleRecipe::Tensorwise, DelayedMaxima{},
                                                                  ScaleAgreement{.split = sim::TensorSplit::Columns, .ranks = questions})};
  const auto products = [&] { return at::cat({linear(waves(5, 6, 0.7), leaf), linear(waves(5, 6, 0.9), leaf)}); };
  RankAnswers answers;
  const auto answering = [&](Answering::How how) {
    const Answering one(answers, how);
    return products();
  };
  const at::Tensor first = answering(Answering::How::Keep);
  EXPECT_TRUE(answering(Answering::How::Repeat).equal(first));
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(products().equal(first)) << "others have larger numbers by now";
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
