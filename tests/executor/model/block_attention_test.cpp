#include "executor/model/block_attention.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>

#include <cmath>

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kBatch = 2, kQueryHeads = 4, kTokens = 6, kHeadWidth = 3;

HeadOperands token_operands(std::int64_t kv_heads) {
  const auto operand = [](std::int64_t heads, std::uint64_t seed) {
    return recorded(random_tensor({kBatch, kTokens, heads, kHeadWidth}, seed));
  };
  return {operand(kQueryHeads, 1), operand(kv_heads, 2), operand(kv_heads, 3)};
}

// By LibTorch's plain operators, recorded by autograd: [samples, tokens, heads, width].
at::Tensor plain_attention(const HeadOperands& operands, bool is_causal) {
  const auto heads = [&](const at::Tensor& tensor) { return tensor.repeat_interleave(kQueryHeads / tensor.size(2), 2).transpose(1, 2); };
  at::Tensor scores =
      at::matmul(heads(operands.queries), heads(operands.keys).transpose(2, 3)) / std::sqrt(static_cast<double>(kHeadWidth));
  if (is_causal) scores = scores + at::full({kTokens, kTokens}, -std::numeric_limits<double>::infinity(), at::kDouble).triu_(1);
  return at::matmul(at::softmax(scores, 3), heads(operands.values)).transpose(1, 2);
}

HeadOperands keys_from(const HeadOperands& all, std::int64_t first, std::int64_t count) {
  return {all.queries.detach(), all.keys.detach().narrow(1, first, count), all.values.detach().narrow(1, first, count)};
}
HeadOperands there(const HeadOperands& operands, c10::Device device) {
  return {operands.queries.to(device), operands.keys.to(device), operands.values.to(device)};
}

class BlockAttention : public testing::TestWithParam<c10::Device> {};

// Two blocks of four and of two keys, merged: as all six at once, forward and backward. Grouped keys, too.
TEST_P(BlockAttention, BlocksMergedAreTheWhole) {
  for (const std::int64_t kv_heads : {4, 2, 1}) {
    const HeadOperands operands = token_operands(kv_heads);
    const at::Tensor expected = plain_attention(operands, false), slope = random_tensor({kBatch, kTokens, kQueryHeads, kHeadWidth}, 9);
    expected.backward(slope);
    const HeadOperands first = there(keys_from(operands, 0, 4), GetParam()), second = there(keys_from(operands, 4, 2), GetParam());
    const BlockScores merged = attend_block(first, BlockMask::None);
    merge_scores(merged, attend_block(second, BlockMask::None));
    EXPECT_LT(relative_error(merged.output.cpu(), expected.detach()), 1e-13);
    const MergedScores given{.scores = merged, .output_gradient = slope.to(GetParam())};
    const HeadOperands one = block_gradients(first, given, BlockMask::None), other = block_gradients(second, given, BlockMask::None);
    EXPECT_LT(relative_error((one.queries + other.queries).cpu(), operands.queries.grad()), 1e-13);
    EXPECT_LT(relative_error(one.keys.cpu(), operands.keys.grad().narrow(1, 0, 4)), 1e-13);
    EXPECT_LT(relative_error(other.values.cpu(), operands.values.grad().narrow(1, 4, 2)), 1e-13);
  }
}

TEST_P(BlockAttention, TheDiagonalBlockIsCausal) {
  const HeadOperands operands = token_operands(2);
  const at::Tensor expected = plain_attention(operands, true), slope = random_tensor({kBatch, kTokens, kQueryHeads, kHeadWidth}, 9);
  expected.backward(slope);
  const HeadOperands block = there(keys_from(operands, 0, kTokens), GetParam());
  const BlockScores scores = attend_block(block, BlockMask::Causal);
  EXPECT_LT(relative_error(scores.output.cpu(), expected.detach()), 1e-13);
  const HeadOperands gradients = block_gradients(block, {.scores = scores, .output_gradient = slope.to(GetParam())}, BlockMask::Causal);
  EXPECT_LT(relative_error(gradients.queries.cpu(), operands.queries.grad()), 1e-13);
  EXPECT_LT(relative_error(gradients.keys.cpu(), operands.keys.grad()), 1e-13);
  EXPECT_LT(relative_error(gradients.values.cpu(), operands.values.grad()), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Devices, BlockAttention, testing::Values(c10::Device(c10::kCPU), checked_device()),
                         [](const auto& each) { return std::string(each.param.is_cpu() ? "cpu" : "checked"); });

// Scores that differ by more than a float's exponent: weights of 0 and 1, and no NaN.
TEST(MergeScores, FarApartIsTheLargerOne) {
  const auto scores = [](double output, double log_sum_exp) {
    return BlockScores{.output = at::full({1, 1, 1, 2}, output, at::kFloat), .log_sum_exp = at::full({1, 1, 1}, log_sum_exp, at::kFloat)};
  };
  const BlockScores into = scores(3, -400);
  merge_scores(into, scores(5, 400));
  EXPECT_EQ(into.output.max().item<float>(), 5);
  EXPECT_EQ(into.log_sum_exp.item<float>(), 400);
}

TEST(MergeScores, SixteenBitOutputsJoinAWiderSum) {
  const BlockScores into{.output = at::full({1, 1, 1, 2}, 1, at::kFloat), .log_sum_exp = at::full({1, 1, 1}, 0, at::kFloat)};
  merge_scores(into, {.output = at::full({1, 1, 1, 2}, 2, at::kBFloat16), .log_sum_exp = at::full({1, 1, 1}, 0, at::kFloat)});
  EXPECT_FLOAT_EQ(into.output.max().item<float>(), 1.5);
  EXPECT_EQ(into.output.scalar_type(), at::kFloat);
}

}  // namespace
}  // namespace executor
