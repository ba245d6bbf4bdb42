// What GPUs have operators of their own for (executor/kernels/gpu_operators.h): on a GPU as by its twin on the CPU. Skipped aloud without one.
#include <ATen/ops/full.h>
#include <ATen/ops/mm.h>
#include <c10/cuda/CUDAFunctions.h>

#include "executor/kernels/eight_bits.h"
#include "executor/kernels/gpu_operators.h"
#include "executor/model/attention.h"
#include "executor/model/block_attention.h"
#include "executor/model/dropout.h"
#include "executor/model/grouped_linear.h"
#include "executor/model/heads.h"
#include "executor/model/linear.h"
#include "executor/model/piece.h"
#include "executor/model/rotary.h"
#include "executor/model/token_order.h"
#include "executor/model/weight_gradients.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

const c10::Device kGpu(c10::kCUDA, 0);
constexpr double kOfSixteenBits = 2e-2, kOfEightBits = 3e-2;

#define NEEDS_A_GPU() \
  if (c10::cuda::device_count() == 0) GTEST_SKIP() << "no GPU: CUDA finds no device on this machine"

at::Tensor sixteen(at::IntArrayRef shape, std::uint64_t seed) { return random_tensor(shape, seed).to(at::kBFloat16); }
double error_there(const at::Tensor& there, const at::Tensor& here) {
  return relative_error(there.cpu().to(at::kDouble), here.to(at::kDouble));
}

// Of adapters whose inputs tensor ranks cut.
TEST(OnAGpu, DropsThePartsOfRowsThatTheCpuDrops) {
  NEEDS_A_GPU();
  const Dropout dropout{.probability = 0.3, .key = random_key({5}), .first_element = 1000, .columns = 96, .first_column = 24};
  at::Tensor here = sixteen({7, 24}, 1), there = here.to(kGpu);
  apply_dropout(here, dropout);
  apply_dropout(there, dropout);
  EXPECT_TRUE(at::equal(there.cpu(), here));
}

TEST(OnAGpu, TurnsThePartOfAHeadThatTheCpuTurns) {
  NEEDS_A_GPU();
  const HeadShape shape{.heads = 2, .kv_heads = 1, .head_dim = 24, .sequence = 5};
  const at::Tensor here = sixteen({10, shape.width()}, 1), there = here.to(kGpu),
                   table = rotary_table(unscaled_turns(16, {100.0}), shape.sequence, here.options());
  for (const Turn direction : {Turn::Forth, Turn::Back}) {
    apply_rotary(here, shape, table, direction);
    apply_rotary(there, shape, table.to(kGpu), direction);
    EXPECT_TRUE(at::equal(there.cpu(), here));
  }
}

TEST(OnAGpu, AWiderSumTakesProductsUnrounded) {
  NEEDS_A_GPU();
  ASSERT_TRUE(adds_unrounded(card_of(kGpu), {.product = at::kBFloat16, .sum = at::kFloat}));
  const at::Tensor dy = sixteen({128, 64}, 1), x = sixteen({128, 96}, 2), before = random_tensor({64, 96}, 3).to(at::kFloat);
  const at::Tensor there = before.to(kGpu), here = before.clone();
  add_product(there, dy.to(kGpu).t(), x.to(kGpu));
  add_product(here, dy.t(), x);
  const at::Tensor exact = before.to(at::kDouble) + at::mm(dy.to(at::kDouble).t(), x.to(at::kDouble));
  EXPECT_LT(error_there(there, exact), 1e-6);
  EXPECT_LT(error_there(there, here), kOfSixteenBits) << "its twin rounds once";
}

struct Heads {
  std::int64_t key, value, kv_heads;
};
class FlashOnAGpu : public testing::TestWithParam<Heads> {};
TEST_P(FlashOnAGpu, BlocksMergedAreThoseOfTheCpu) {
  NEEDS_A_GPU();
  constexpr std::int64_t kTokens = 64, kHeads = 4;
  const auto& [key, value, kv_heads] = GetParam();
  const HeadOperands all{sixteen({2, kTokens, kHeads, key}, 1), sixteen({2, 2 * kTokens, kv_heads, key}, 2),
                         sixteen({2, 2 * kTokens, kv_heads, value}, 3)};
  const at::Tensor slope = sixteen({2, kTokens, kHeads, value}, 4);
  struct Both {
    at::Tensor output, queries, keys, values;
  };
  const auto attend = [&](c10::Device device) {  // a block before, which all see, and the own one
    const auto block = [&](std::int64_t first) {
      return HeadOperands{all.queries.to(device), all.keys.narrow(1, first, kTokens).to(device),
                          all.values.narrow(1, first, kTokens).to(device)};
    };
    BlockScores merged = attend_block(block(0), BlockMask::None);
    merged.output = merged.output.to(at::kFloat);
    merge_scores(merged, attend_block(block(kTokens), BlockMask::Causal));
    const MergedScores given{.scores = {.output = merged.output.to(at::kBFloat16), .log_sum_exp = merged.log_sum_exp},
                             .output_gradient = slope.to(device)};
    const HeadOperands far = block_gradients(block(0), given, BlockMask::None),
                       own = block_gradients(block(kTokens), given, BlockMask::Causal);
    return Both{merged.output, far.queries + own.queries, far.keys, own.values};
  };
  ASSERT_TRUE(attends_by_blocks(card_of(kGpu), {.type = at::kBFloat16, .width = std::max(key, value)}));
  const Both here = attend(c10::kCPU), there = attend(kGpu);
  EXPECT_LT(error_there(there.output, here.output), kOfSixteenBits);
  EXPECT_LT(error_there(there.queries, here.queries), kOfSixteenBits);
  EXPECT_LT(error_there(there.keys, here.keys), kOfSixteenBits);
  EXPECT_LT(error_there(there.values, here.values), kOfSixteenBits);
}
INSTANTIATE_TEST_SUITE_P(Widths, FlashOnAGpu, testing::Values(Heads{64, 64, 4}, Heads{128, 128, 2}, Heads{20, 12, 1}), [](const auto& of) {
  return "keys" + std::to_string(of.param.key) + "heads" + std::to_string(of.param.kv_heads);
});

// By one kernel each way; on the CPU head by head. The same mask: another one would differ by far more.
TEST(OnAGpu, DropsTheProbabilitiesThatTheCpuDrops) {
  NEEDS_A_GPU();
  constexpr std::int64_t kTokens = 64, kHeads = 4, kHeadWidth = 16;
  struct Both {
    at::Tensor output, queries, keys;
  };
  const auto attend = [&](c10::Device device, bool keeps, at::ScalarType type) {
    const auto operand = [&](std::uint64_t seed) {
      return random_tensor({3, kTokens, kHeads, kHeadWidth}, seed).to(device, type).transpose(1, 2).detach().requires_grad_();
    };
    const HeadOperands all{operand(1), operand(2), operand(3)};
    const Dropout dropout{.probability = 0.1, .key = random_key({7}), .first_element = 5 * kHeads * kTokens * kTokens};
    const at::Tensor output = attend_heads(all, {.heads = kHeads, .keeps_scores = keeps}, dropout);
    output.backward(random_tensor(output.sizes(), 4).to(device, type));
    return Both{output.detach(), all.queries.grad(), all.keys.grad()};
  };
  for (const auto& [type, tolerance] :
       {std::pair{at::kDouble, 1e-12}, std::pair{at::kFloat, 1e-4}, std::pair{at::kBFloat16, kOfSixteenBits}}) {
    const Both here = attend(c10::kCPU, true, type), there = attend(kGpu, true, type), again = attend(kGpu, false, type);
    EXPECT_LT(error_there(there.output, here.output), tolerance);
    EXPECT_LT(error_there(there.queries, here.queries), tolerance);
    EXPECT_LT(error_there(there.keys, here.keys), tolerance);
    EXPECT_TRUE(again.queries.equal(there.queries)) << "computed again";
  }
}

TEST(OnAGpu, ExpertsAreOrderedAndMultipliedThere) {
  NEEDS_A_GPU();
  if (!multiplies_groups(card_of(kGpu), {.type = at::kBFloat16, .inputs = 64, .outputs = 32})) GTEST_SKIP() << "not on this card";
  const sim::ExpertForm form{.experts = 4, .topk = 2};
  Routing routing{.scores = {},  // none chose the last one
                  .experts = at::full({48, 2}, 1, at::kLong),
                  .weights = random_tensor({48, 2}, 1).abs()};
  routing.experts.select(1, 0).narrow(0, 0, 20).fill_(2);
  routing.experts.select(1, 1).fill_(0);
  const TokenOrder here = order_tokens(routing, form);
  routing.experts = routing.experts.to(kGpu);
  const TokenOrder there = order_tokens_there(routing, form);
  EXPECT_TRUE(there.tokens.cpu().equal(here.tokens));
  EXPECT_TRUE(there.rows.cpu().equal(here.rows));
  const auto leaf = [](c10::Device device) {
    return Leaf{.value = sixteen({4 * 32, 64}, 2).to(device), .gradient = sixteen({4 * 32, 64}, 3).to(device)};
  };
  const Leaf on_cpu = leaf(c10::kCPU), on_gpu = leaf(kGpu);
  const at::Tensor stream = sixteen({48, 64}, 4), above = sixteen({96, 32}, 5);
  Piece one, other;
  const at::Tensor expected =
      one.forward(to_rows(stream, here), [&](const at::Tensor& x) { return grouped_linear(x, {on_cpu}, here.counts); });
  const at::Tensor output =
      other.forward(to_rows(stream.to(kGpu), there), [&](const at::Tensor& x) { return grouped_linear_to(x, on_gpu, there.ends); });
  EXPECT_LT(error_there(output, expected), kOfSixteenBits);
  EXPECT_LT(error_there(other.backward(above.to(kGpu)), one.backward(above)), kOfSixteenBits);
  EXPECT_LT(error_there(on_gpu.gradient, on_cpu.gradient), kOfSixteenBits);
  EXPECT_TRUE(on_gpu.gradient.narrow(0, 96, 32).cpu().equal(sixteen({128, 64}, 3).narrow(0, 96, 32))) << "nothing is added where no row is";
}

class EightBitsOnAGpu : public testing::TestWithParam<sim::ScaleRecipe> {};
TEST_P(EightBitsOnAGpu, ALinearLayerIsThatOfTheCpu) {
  NEEDS_A_GPU();
  const sim::ScaleRecipe recipe = GetParam();
  const at::Tensor x = sixteen({128, 512}, 1), above = sixteen({128, 1024}, 2);
  struct Found {
    at::Tensor output, input_gradient, weight_gradient;
  };
  const auto trained = [&](c10::Device device) {
    const auto maxima = [&](double largest) { return at::full({3}, largest, at::TensorOptions().dtype(at::kFloat).device(device)); };
    const DelayedMaxima delayed =
        recipe == sim::ScaleRecipe::Delayed ? DelayedMaxima{.seen = maxima(0), .before = maxima(4)} : DelayedMaxima{};
    const Leaf weight{.value = sixteen({1024, 512}, 3).to(device),
                      .gradient = at::zeros({1024, 512}, at::TensorOptions().dtype(at::kFloat).device(device)),
                      .scaled = std::make_shared<const ScaledProduct>(recipe, delayed)};
    Piece piece;
    const at::Tensor output = piece.forward(x.to(device), [&](const at::Tensor& input) { return linear(input, weight); });
    return Found{output, piece.backward(above.to(device)), weight.gradient};
  };
  const Found here = trained(c10::kCPU), there = trained(kGpu);
  EXPECT_LT(error_there(there.output, here.output), kOfEightBits);
  EXPECT_LT(error_there(there.input_gradient, here.input_gradient), kOfEightBits);
  EXPECT_LT(error_there(there.weight_gradient, here.weight_gradient), kOfEightBits);
  const ScaledProduct scaled(recipe != sim::ScaleRecipe::Delayed ? recipe : sim::ScaleRecipe::Tensorwise);
  const ScaledProduct::Factor left{x.to(kGpu), sim::Operand::Input, ScaledProduct::Along::Columns},
      right{sixteen({1024, 512}, 3).to(kGpu), sim::Operand::Weight, ScaledProduct::Along::Columns};
  constexpr ScaledBy kBy[] = {ScaledBy::Tensor, ScaledBy::Tensor, ScaledBy::Row, ScaledBy::Mx, ScaledBy::Squares};  // by ScaleRecipe
  const EightBitProduct product{
      .scales = kBy[static_cast<std::size_t>(recipe)], .output = at::kBFloat16, .rows = 128, .inner = 512, .columns = 1024};
  EXPECT_EQ(scaled.by_unit(left, right, at::kBFloat16).defined(), multiplies_eight_bits(card_of(kGpu), product));
}
struct Scales {
  std::int64_t along, beside;
  ScaleRule rule;
};
constexpr Scales kScales[] = {{1 << 20, 1 << 20, ScaleRule::Exact},
                              {1 << 20, 1, ScaleRule::PowerOfTwo},
                              {128, 1, ScaleRule::Exact},
                              {128, 128, ScaleRule::Exact},
                              {32, 1, ScaleRule::Shared}};
// One kernel there, operators here; weights' scales of a row, too.
TEST(OnAGpu, RoundsToTheEightBitsOfTheCpu) {
  NEEDS_A_GPU();
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf})
    for (const bool is_turned : {false, true})
      for (const auto& [along, beside, rule] : kScales)
        for (const EightBits format : {EightBits::E4m3, EightBits::E5m2}) {
          const at::Tensor numbers = random_tensor({96, 208}, 1).to(type);
          const Tile tile{.rows = is_turned ? along : beside, .columns = is_turned ? beside : along};
          const at::Tensor largest = largest_of_tiles(numbers, tile);
          const UnitForm form{.format = format, .rule = rule, .is_turned = is_turned, .tile = tile};
          const UnitOperand here = unit_operand(numbers, largest, form), there = unit_operand(numbers.to(kGpu), largest.to(kGpu), form);
          EXPECT_TRUE(there.codes.view(at::kByte).cpu().equal(here.codes.view(at::kByte)));
          EXPECT_EQ(there.inverse.strides(), here.inverse.strides());
          EXPECT_TRUE(there.inverse.cpu().to(at::kFloat).equal(here.inverse.to(at::kFloat)));
        }
}

INSTANTIATE_TEST_SUITE_P(Recipes, EightBitsOnAGpu,
                         testing::Values(sim::ScaleRecipe::Delayed, sim::ScaleRecipe::Tensorwise, sim::ScaleRecipe::Rowwise,
                                         sim::ScaleRecipe::Blockwise, sim::ScaleRecipe::Mx));

}  // namespace
}  // namespace executor
