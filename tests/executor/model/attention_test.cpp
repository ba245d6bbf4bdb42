#include "executor/model/attention.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/masked_fill.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kSamples = 2, kHeads = 4, kSequence = 5, kWidth = 3;
const Dropout kDropout{.probability = 0.4, .key = random_key({7}), .first_element = 3 * kHeads * kSequence * kSequence};

HeadOperands random_operands() {
  const auto operand = [](std::uint64_t seed) { return recorded(random_tensor({kSamples, kHeads, kSequence, kWidth}, seed)); };
  return {operand(1), operand(2), operand(3)};
}

HeadOperands heads_from(const HeadOperands& all, std::int64_t first, std::int64_t count) {
  const auto part = [&](const at::Tensor& operand) { return recorded(operand.detach().narrow(1, first, count)); };
  return {part(all.queries), part(all.keys), part(all.values)};
}

// Fewer heads of keys than of queries, as they come and repeated by hand.
TEST(Attention, TakesGroupedHeads) {
  constexpr std::int64_t kGroups = 2;
  for (const Dropout& dropout : {Dropout{}, kDropout}) {
    const HeadOperands all = random_operands();
    const HeadOperands grouped{all.queries, recorded(all.keys.detach().narrow(1, 0, kGroups)),
                               recorded(all.values.detach().narrow(1, 0, kGroups))};
    const HeadOperands repeated{recorded(all.queries.detach()), recorded(grouped.keys.detach().repeat_interleave(kHeads / kGroups, 1)),
                                recorded(grouped.values.detach().repeat_interleave(kHeads / kGroups, 1))};
    const at::Tensor is = attend_heads(grouped, {.heads = kHeads}, dropout), expected = attend_heads(repeated, {.heads = kHeads}, dropout);
    EXPECT_LT(relative_error(is.detach(), expected.detach()), 1e-14);
    const at::Tensor slope = random_tensor({kSamples * kSequence, kHeads * kWidth}, 9);
    is.backward(slope);
    expected.backward(slope);
    const auto summed = [&](const at::Tensor& gradient) {
      return gradient.view({kSamples, kGroups, kHeads / kGroups, kSequence, kWidth}).sum(2);
    };
    EXPECT_LT(relative_error(grouped.queries.grad(), repeated.queries.grad()), 1e-13);
    EXPECT_LT(relative_error(grouped.keys.grad(), summed(repeated.keys.grad())), 1e-13);
    EXPECT_LT(relative_error(grouped.values.grad(), summed(repeated.values.grad())), 1e-13);
  }
}

// Outputs, and gradients of all that they are made of.
struct Attended {
  HeadOperands operands;
  at::Tensor output;
};
void expect_equal(const Attended& mine, const Attended& theirs) {
  EXPECT_LT(relative_error(mine.output.detach(), theirs.output.detach()), 1e-14);
  const at::Tensor slope = random_tensor({kSamples * kSequence, kHeads * kWidth}, 9);
  mine.output.backward(slope);
  theirs.output.backward(slope);
  EXPECT_LT(relative_error(mine.operands.queries.grad(), theirs.operands.queries.grad()), 1e-13);
  EXPECT_LT(relative_error(mine.operands.keys.grad(), theirs.operands.keys.grad()), 1e-13);
  EXPECT_LT(relative_error(mine.operands.values.grad(), theirs.operands.values.grad()), 1e-13);
}

TEST(Attention, WithDropoutEqualsItsOperators) {
  const HeadOperands mine = random_operands(), theirs = random_operands();
  at::Tensor mask = at::ones({kSamples, kHeads, kSequence, kSequence}, at::kDouble);
  apply_dropout(mask, kDropout);
  const at::Tensor future = at::full({kSequence, kSequence}, -std::numeric_limits<double>::infinity(), at::kDouble).triu_(1);
  const at::Tensor scores = at::matmul(theirs.queries, theirs.keys.transpose(2, 3)) / std::sqrt(static_cast<double>(kWidth)) + future;
  const at::Tensor expected = at::matmul(at::softmax(scores, 3) * mask, theirs.values).transpose(1, 2).reshape({kSamples * kSequence, -1});
  const at::Tensor output = attend_heads(mine, {.heads = kHeads}, kDropout);
  expect_equal({mine, output}, {theirs, expected});
}

// Of a target that attends to a longer source: nothing is hidden, and the mask has a number for each pair.
TEST(Attention, PairsWithASourceAreDropped) {
  constexpr std::int64_t kSource = kSequence + 3;
  const auto operand = [](std::int64_t tokens, std::uint64_t seed) {
    return recorded(random_tensor({kSamples, kHeads, tokens, kWidth}, seed));
  };
  const HeadOperands mine{operand(kSequence, 1), operand(kSource, 2), operand(kSource, 3)},
      theirs{operand(kSequence, 1), operand(kSource, 2), operand(kSource, 3)};
  at::Tensor mask = at::ones({kSamples, kHeads, kSequence, kSource}, at::kDouble);
  apply_dropout(mask, kDropout);
  const at::Tensor scores = at::matmul(theirs.queries, theirs.keys.transpose(2, 3)) / std::sqrt(static_cast<double>(kWidth));
  const at::Tensor expected = at::matmul(at::softmax(scores, 3) * mask, theirs.values).transpose(1, 2).reshape({kSamples * kSequence, -1});
  const at::Tensor output = attend_heads(mine, {.heads = kHeads, .is_causal = false}, kDropout);
  expect_equal({mine, output}, {theirs, expected});
}

TEST(Attention, HeadsOfATensorRankHaveTheirOwnMasks) {
  const HeadOperands all = random_operands();
  const at::Tensor whole = attend_heads(all, {.heads = kHeads}, kDropout).detach();
  const at::Tensor second = attend_heads(heads_from(all, 2, 2), {.heads = kHeads, .first_head = 2}, kDropout).detach();
  EXPECT_TRUE(at::equal(second, whole.narrow(1, 2 * kWidth, 2 * kWidth)));
  EXPECT_FALSE(at::equal(attend_heads(heads_from(all, 2, 2), {.heads = kHeads}, kDropout).detach(), second));
}

TEST(Attention, ScoresComputedAgainGiveTheSameBits) {
  const HeadOperands kept = random_operands(), again = random_operands();
  const at::Tensor slope = random_tensor({kSamples * kSequence, kHeads * kWidth}, 9);
  attend_heads(kept, {.heads = kHeads}, kDropout).backward(slope);
  attend_heads(again, {.heads = kHeads, .keeps_scores = false}, kDropout).backward(slope);
  EXPECT_TRUE(at::equal(kept.queries.grad(), again.queries.grad()));
  EXPECT_TRUE(at::equal(kept.keys.grad(), again.keys.grad()));
  EXPECT_TRUE(at::equal(kept.values.grad(), again.values.grad()));
}

TEST(Attention, WithoutDropoutIsTheFusedKernel) {
  const HeadOperands all = random_operands();
  const at::Tensor expected = at::scaled_dot_product_attention(all.queries, all.keys, all.values, {}, 0.0, true);
  EXPECT_TRUE(at::equal(attend_heads(all, {.heads = kHeads}, {}), expected.transpose(1, 2).reshape({kSamples * kSequence, -1})));
}

// The formula of attention.h by LibTorch's operators, which record their own backward. A sink is one more key, whose value is nothing.
at::Tensor scored_by_operators(const HeadOperands& heads, const ScoreForm& form, const at::Tensor& sinks) {
  at::Tensor scores = at::matmul(heads.queries, heads.keys.transpose(2, 3)) / std::sqrt(form.scale);
  if (form.cap > 0) scores = at::tanh(scores / form.cap) * form.cap;
  if (form.slopes.defined()) scores = scores + form.slopes.view({1, -1, 1, 1}) * at::arange(kSequence, at::kDouble);
  const at::Tensor from = at::arange(kSequence, at::kLong).unsqueeze(1), to = at::arange(kSequence, at::kLong);
  const std::int64_t reach = form.is_causal ? form.window : (form.window + 1) / 2;
  at::Tensor hidden = form.is_causal ? to > from : to >= from + reach;
  if (form.window > 0) hidden = hidden.logical_or(to <= from - reach);
  scores = scores.masked_fill(hidden, -std::numeric_limits<double>::infinity());
  if (sinks.defined()) scores = at::cat({scores, sinks.view({1, -1, 1, 1}).expand({kSamples, -1, kSequence, 1})}, 3);
  const at::Tensor probabilities = at::softmax(scores, 3).narrow(3, 0, kSequence);
  return at::matmul(probabilities, heads.values).transpose(1, 2).reshape({kSamples * kSequence, -1});
}

ScoreForm scored_form() {
  return {.heads = kHeads,
          .window = 3,
          .scale = 5,
          .cap = 1.5,
          .slopes = alibi_slopes(kHeads, {.first = 0, .count = kHeads}, at::kDouble),
          .sinks = random_leaf({kHeads}, 8)};
}

TEST(Attention, WithScoresOfItsOwnEqualsItsOperators) {
  for (const auto& leave_out :
       std::vector<void (*)(ScoreForm&)>{[](ScoreForm&) {}, [](ScoreForm& form) { form.sinks = {}; }, [](ScoreForm& form) { form.cap = 0; },
                                         [](ScoreForm& form) { form.slopes = at::Tensor(); }, [](ScoreForm& form) { form.window = 0; },
                                         [](ScoreForm& form) { form.is_causal = false; }}) {
    ScoreForm form = scored_form();
    leave_out(form);
    const at::Tensor sinks = form.sinks.value.defined() ? recorded(form.sinks.value) : at::Tensor();
    const HeadOperands mine = random_operands(), theirs = random_operands();
    const at::Tensor is = attend_heads(mine, form, {}), expected = scored_by_operators(theirs, form, sinks);
    EXPECT_LT(relative_error(is.detach(), expected.detach()), 1e-14);
    const at::Tensor slope = random_tensor({kSamples * kSequence, kHeads * kWidth}, 9);
    is.backward(slope);
    expected.backward(slope);
    EXPECT_LT(relative_error(mine.queries.grad(), theirs.queries.grad()), 1e-13);
    EXPECT_LT(relative_error(mine.keys.grad(), theirs.keys.grad()), 1e-13);
    EXPECT_LT(relative_error(mine.values.grad(), theirs.values.grad()), 1e-13);
    if (!sinks.defined()) continue;
    EXPECT_LT(relative_error(form.sinks.gradient, sinks.grad()), 1e-13);
  }
}

// Planted bugs, which that comparison sees.
TEST(Attention, AWindowOffByOneAndAForgottenSinkAreOtherNumbers) {
  const ScoreForm right = scored_form();
  const HeadOperands heads = random_operands();
  const at::Tensor expected = scored_by_operators(heads, right, right.sinks.value).detach();
  const auto error = [&](const ScoreForm& wrong) { return relative_error(attend_heads(heads, wrong, {}).detach(), expected); };
  ScoreForm wider = right, narrower = right, sinkless = right, ahead = right;
  ahead.is_causal = false;
  wider.window += 1;
  narrower.window -= 1;
  sinkless.sinks = {};
  for (const ScoreForm& wrong : {wider, narrower, sinkless, ahead}) EXPECT_GT(error(wrong), 1e-3);
}

TEST(Attention, SlopesAreThoseOfThePaper) {
  const at::Tensor eight = alibi_slopes(8, {.first = 0, .count = 8}, at::kDouble),
                   six = alibi_slopes(6, {.first = 2, .count = 4}, at::kDouble);
  for (std::int64_t head = 0; head < 8; ++head) EXPECT_EQ(eight[head].item<double>(), std::exp2(-static_cast<double>(head + 1)));
  const double expected[] = {std::exp2(-6), std::exp2(-8), std::exp2(-1), std::exp2(-3)};  // of 4 heads, then every second of 8
  for (std::int64_t head = 0; head < 4; ++head) EXPECT_EQ(six[head].item<double>(), expected[head]);
}

}  // namespace
}  // namespace executor
