#include "executor/model/weight_gradients.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include "executor/model/gradient_place.h"
#include "executor/model/linear.h"
#include "executor/model/piece.h"

namespace executor {
namespace {

struct Layer {
  Leaf weight{at::arange(6, at::kDouble).reshape({2, 3}), at::zeros({2, 3}, at::kDouble)};
  Leaf bias{at::arange(2, at::kDouble), at::zeros({2}, at::kDouble)};
};

at::Tensor backward_through(const Layer& layer, Piece& piece) {
  const at::Tensor input = at::arange(12, at::kDouble).reshape({4, 3}), above = at::arange(8, at::kDouble).reshape({4, 2});
  piece.forward(input, [&](const at::Tensor& x) { return linear(x, layer.weight, layer.bias); });
  return piece.backward(above);
}

TEST(WeightGradients, AreTheSameLaterAsAtOnce) {
  const Layer at_once, put_off;
  Piece one, other;
  const at::Tensor expected = backward_through(at_once, one);
  WeightGradients later;
  at::Tensor input_gradient;
  {
    const PutOff scope(&later);
    input_gradient = backward_through(put_off, other);
  }
  EXPECT_TRUE(input_gradient.equal(expected));
  EXPECT_EQ(put_off.weight.gradient.count_nonzero().item<std::int64_t>(), 0);
  later.perform();
  EXPECT_TRUE(put_off.weight.gradient.equal(at_once.weight.gradient));
  EXPECT_TRUE(put_off.bias.gradient.equal(at_once.bias.gradient));
  later.perform();  // nothing is left
  EXPECT_TRUE(put_off.weight.gradient.equal(at_once.weight.gradient));
}

// Without a pass that copies it there: on a card one launch for two, four times a layer of GPT-2.
TEST(WeightGradients, TheFirstSumOfABiasIsWritten) {
  static int copies = 0;
  const auto begin = [](const at::RecordFunction& called) {
    if (std::string_view(called.name()) == "aten::copy_") ++copies;
    return std::unique_ptr<at::ObserverContext>();
  };
  const at::Tensor bias = at::zeros({2}, at::kDouble), above = at::arange(8, at::kDouble).reshape({4, 2});
  begin_gradient(bias);
  const auto add = [&](double share) {
    PutOff::sum_or_keep({.output_gradient = above, .input = {}, .weight = {}, .bias = bias, .bias_share = share});
  };
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(begin).scopes({at::RecordScope::FUNCTION}));
  add(1);
  at::removeCallback(handle);
  EXPECT_EQ(copies, 0);
  EXPECT_TRUE(bias.equal(above.sum(0)));
  add(1);
  EXPECT_TRUE(bias.equal(2 * above.sum(0)));
  begin_gradient(bias);
  add(0.5);
  EXPECT_TRUE(bias.equal(0.5 * above.sum(0)));
}

TEST(WeightGradients, ThoseOfEnteringProductsAloneArePutOff) {
  const Layer first{.bias = {}}, second{.weight = {at::ones({2, 2}, at::kDouble), at::zeros({2, 2}, at::kDouble)}, .bias = {}};
  Piece piece;
  piece.forward(at::ones({4, 3}, at::kDouble), [&](const at::Tensor& x) { return linear(linear(x, first.weight, {}), second.weight, {}); });
  WeightGradients later;
  {
    const PutOff scope(&later, PutOff::Products::Entering), none(nullptr);
    piece.backward(at::ones({4, 2}, at::kDouble));
  }
  EXPECT_GT(second.weight.gradient.count_nonzero().item<std::int64_t>(), 0);
  EXPECT_EQ(first.weight.gradient.count_nonzero().item<std::int64_t>(), 0);
  later.perform();
  EXPECT_GT(first.weight.gradient.count_nonzero().item<std::int64_t>(), 0);
}

TEST(WeightGradients, TheScopeEnds) {
  const Layer layer;
  WeightGradients later;
  { const PutOff scope(&later); }
  Piece piece;
  backward_through(layer, piece);
  EXPECT_GT(layer.weight.gradient.count_nonzero().item<std::int64_t>(), 0);
}

}  // namespace
}  // namespace executor
