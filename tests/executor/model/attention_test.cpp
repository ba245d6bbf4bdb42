#include "executor/model/attention.h"

#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>

#include <limits>

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
    const at::Tensor is = causal_attention(grouped, {.heads = kHeads}, dropout),
                     expected = causal_attention(repeated, {.heads = kHeads}, dropout);
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

TEST(Attention, WithDropoutEqualsItsOperators) {
  const HeadOperands mine = random_operands(), theirs = random_operands();
  at::Tensor mask = at::ones({kSamples, kHeads, kSequence, kSequence}, at::kDouble);
  apply_dropout(mask, kDropout);
  const at::Tensor future = at::full({kSequence, kSequence}, -std::numeric_limits<double>::infinity(), at::kDouble).triu_(1);
  const at::Tensor scores = at::matmul(theirs.queries, theirs.keys.transpose(2, 3)) / std::sqrt(static_cast<double>(kWidth)) + future;
  const at::Tensor expected = at::matmul(at::softmax(scores, 3) * mask, theirs.values).transpose(1, 2).reshape({kSamples * kSequence, -1});
  const at::Tensor output = causal_attention(mine, {.heads = kHeads}, kDropout);
  EXPECT_LT(relative_error(output.detach(), expected.detach()), 1e-14);
  const at::Tensor slope = random_tensor({kSamples * kSequence, kHeads * kWidth}, 9);
  output.backward(slope);
  expected.backward(slope);
  EXPECT_LT(relative_error(mine.queries.grad(), theirs.queries.grad()), 1e-13);
  EXPECT_LT(relative_error(mine.keys.grad(), theirs.keys.grad()), 1e-13);
  EXPECT_LT(relative_error(mine.values.grad(), theirs.values.grad()), 1e-13);
}

TEST(Attention, HeadsOfATensorRankHaveTheirOwnMasks) {
  const HeadOperands all = random_operands();
  const at::Tensor whole = causal_attention(all, {.heads = kHeads}, kDropout).detach();
  const at::Tensor second = causal_attention(heads_from(all, 2, 2), {.heads = kHeads, .first_head = 2}, kDropout).detach();
  EXPECT_TRUE(at::equal(second, whole.narrow(1, 2 * kWidth, 2 * kWidth)));
  EXPECT_FALSE(at::equal(causal_attention(heads_from(all, 2, 2), {.heads = kHeads}, kDropout).detach(), second));
}

TEST(Attention, ScoresComputedAgainGiveTheSameBits) {
  const HeadOperands kept = random_operands(), again = random_operands();
  const at::Tensor slope = random_tensor({kSamples * kSequence, kHeads * kWidth}, 9);
  causal_attention(kept, {.heads = kHeads}, kDropout).backward(slope);
  causal_attention(again, {.heads = kHeads, .keeps_scores = false}, kDropout).backward(slope);
  EXPECT_TRUE(at::equal(kept.queries.grad(), again.queries.grad()));
  EXPECT_TRUE(at::equal(kept.keys.grad(), again.keys.grad()));
  EXPECT_TRUE(at::equal(kept.values.grad(), again.values.grad()));
}

TEST(Attention, WithoutDropoutIsTheFusedKernel) {
  const HeadOperands all = random_operands();
  const at::Tensor expected = at::scaled_dot_product_attention(all.queries, all.keys, all.values, {}, 0.0, true);
  EXPECT_TRUE(at::equal(causal_attention(all, {.heads = kHeads}, {}), expected.transpose(1, 2).reshape({kSamples * kSequence, -1})));
}

}  // namespace
}  // namespace executor
