#include "executor/model/heads.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include "executor/model/rotary.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr HeadShape kShape{.heads = 4, .kv_heads = 2, .head_dim = 6, .sequence = 5};

// Hugging Face's apply_rotary_pos_emb, in operators. x [samples, heads, sequence, head_dim].
at::Tensor rotated(const at::Tensor& x, const at::Tensor& table) {
  const at::Tensor cosine = at::cat({table[0], table[0]}, 1), sine = at::cat({table[1], table[1]}, 1);
  const at::Tensor first = x.chunk(2, 3)[0], second = x.chunk(2, 3)[1];
  return x * cosine + at::cat({-second, first}, 3) * sine;
}

at::Tensor heads_of(const at::Tensor& joint, std::int64_t first, std::int64_t count) {
  return joint.view({2, 5, 8, 6}).narrow(2, first, count).transpose(1, 2);
}

TEST(Heads, SplitRotateAndRepeatWithGradient) {
  const at::Tensor table = rotary_table(unscaled_turns(kShape.head_dim, {100.0}), kShape.sequence, at::kDouble),
                   input = random_tensor({10, 48}, 1);
  const at::Tensor expected_input = recorded(input), x = recorded(input);
  const at::Tensor queries = rotated(heads_of(expected_input, 0, 4), table);
  const at::Tensor keys = rotated(heads_of(expected_input, 4, 2), table).repeat_interleave(2, 1);
  const at::Tensor values = heads_of(expected_input, 6, 2).repeat_interleave(2, 1);
  const HeadOperands operands = split_heads(x * 1.0, kShape, table);
  EXPECT_LT(relative_error(operands.queries.detach(), queries.detach()), 1e-14);
  EXPECT_LT(relative_error(operands.keys.detach(), keys.detach()), 1e-14);
  EXPECT_TRUE(at::equal(operands.values.detach(), values.detach()));

  const at::Tensor a = random_tensor({2, 4, 5, 6}, 2), b = random_tensor({2, 4, 5, 6}, 3), c = random_tensor({2, 4, 5, 6}, 4);
  ((queries * a) + (keys * b) + (values * c)).sum().backward();
  ((operands.queries * a) + (operands.keys * b) + (operands.values * c)).sum().backward();
  EXPECT_LT(relative_error(x.grad(), expected_input.grad()), 1e-14);
}

TEST(Heads, PositionsBeginAnewInEachDocument) {
  const at::Tensor table = rotary_table(unscaled_turns(kShape.head_dim, {100.0}), kShape.sequence, at::kDouble),
                   input = random_tensor({10, 48}, 1);
  const Documents documents({{.begin = 0, .count = 2}, {.begin = 2, .count = 3}, {.begin = 5, .count = 5}});
  const at::Tensor rows = at::tensor({0, 1, 0, 1, 2, 0, 1, 2, 3, 4}, at::kLong), turned = input.clone();
  apply_rotary(turned, kShape, table, Turn::Forth, documents);
  const at::Tensor each = rotary_table(unscaled_turns(kShape.head_dim, {100.0}), kShape.sequence, at::kDouble).index_select(1, rows);
  HeadShape long_rows = kShape;
  long_rows.sequence = 10;
  const at::Tensor expected = input.clone();
  apply_rotary(expected, long_rows, each.contiguous(), Turn::Forth);
  EXPECT_TRUE(at::equal(turned, expected));

  const at::Tensor x = recorded(input), slope = random_tensor({2, 4, 5, 6}, 2);
  (split_heads(x * 1.0, kShape, table, documents).queries * slope).sum().backward();
  const at::Tensor back = at::zeros({10, 48}, at::kDouble);
  back.view({2, 5, 8, 6}).narrow(2, 0, 4).copy_(slope.transpose(1, 2));
  apply_rotary(back, kShape, table, Turn::Back, documents);
  EXPECT_LT(relative_error(x.grad(), back), 1e-15);
}

TEST(Heads, WithoutTableNothingTurns) {
  const at::Tensor input = random_tensor({10, 48}, 1);
  EXPECT_TRUE(at::equal(split_heads(input.clone(), kShape, {}).queries, heads_of(input, 0, 4)));
}

// Positions on the first four of a head's six numbers: those turn as heads of that width, the others stay.
TEST(Heads, APartOfAHeadTurns) {
  const at::Tensor table = rotary_table(unscaled_turns(4, {100.0}), kShape.sequence, at::kDouble), input = random_tensor({10, 48}, 1);
  const at::Tensor is = split_heads(input.clone(), kShape, table).queries, before = heads_of(input, 0, 4);
  EXPECT_LT(relative_error(is.narrow(3, 0, 4), rotated(before.narrow(3, 0, 4), table)), 1e-14);
  EXPECT_TRUE(at::equal(is.narrow(3, 4, 2), before.narrow(3, 4, 2)));
}

// Values of four numbers behind keys of six, multiplied; three columns of gates behind them.
TEST(Heads, NarrowValuesAndGatesStandBehindTheKeys) {
  HeadShape shape = kShape;
  shape.value_dim = 4, shape.gates = 3, shape.value_factor = 0.5;
  ASSERT_EQ(shape.width(), 36 + 8 + 3);
  const at::Tensor table = rotary_table(unscaled_turns(6, {100.0}), 5, at::kDouble), input = random_tensor({10, 47}, 1);
  const at::Tensor plain = recorded(input), x = recorded(input);
  const at::Tensor queries = rotated(plain.narrow(1, 0, 24).view({2, 5, 4, 6}).transpose(1, 2), table);
  const at::Tensor values = (plain.narrow(1, 36, 8).view({2, 5, 2, 4}) * 0.5).transpose(1, 2).repeat_interleave(2, 1);
  const auto [operands, gates] = split_joint(x * 1.0, shape, table);
  EXPECT_LT(relative_error(operands.queries.detach(), queries.detach()), 1e-14);
  EXPECT_LT(relative_error(operands.values.detach(), values.detach()), 1e-15);
  EXPECT_TRUE(at::equal(gates.detach(), input.narrow(1, 44, 3)));

  const at::Tensor a = random_tensor({2, 4, 5, 6}, 2), b = random_tensor({2, 4, 5, 4}, 3), c = random_tensor({10, 3}, 4);
  ((queries * a).sum() + (values * b).sum() + (plain.narrow(1, 44, 3) * c).sum()).backward();
  ((operands.queries * a).sum() + (operands.values * b).sum() + (operands.keys * 0).sum() + (gates * c).sum()).backward();
  EXPECT_LT(relative_error(x.grad(), plain.grad()), 1e-14);
}

}  // namespace
}  // namespace executor
