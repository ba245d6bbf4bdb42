#include "executor/model/dropped_attention.h"

#include <ATen/record_function.h>

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/model/random_tensors.h"

namespace executor {
namespace {

constexpr std::int64_t kDroppedSamples = 3, kDroppedHeads = 4, kDroppedTokens = 6, kDroppedWidth = 5,
                       kBytesOfHead = 8 * kDroppedTokens * kDroppedTokens;
const Dropout kDropsTwoOfFive{
    .probability = 0.4, .key = random_key({7}), .first_element = 3 * kDroppedHeads * kDroppedTokens * kDroppedTokens};

struct DroppedHeadsFound {
  at::Tensor output, queries, keys, values;
};
struct DroppedCase {
  ScoreForm form;
  std::int64_t first = 0, count = kDroppedHeads, keys = kDroppedTokens, samples = kDroppedSamples, sharers = 1;
};

// Heads [first, first + count), as views of tokens' rows, which is how a model has them.
template <class Attend>
DroppedHeadsFound attended_with_slopes(c10::Device device, const DroppedCase& of, const Attend& attend) {
  const auto operand = [&](std::int64_t tokens, std::int64_t sharers, std::uint64_t seed) {
    return random_tensor({of.samples, tokens, kDroppedHeads, kDroppedWidth}, seed)
        .narrow(2, of.first / sharers, of.count / sharers)
        .to(device)
        .requires_grad_();
  };
  const at::Tensor queries = operand(kDroppedTokens, 1, 1), keys = operand(of.keys, of.sharers, 2),
                   values = operand(of.keys, of.sharers, 3);
  const at::Tensor slope = random_tensor({of.samples, kDroppedTokens, kDroppedHeads, kDroppedWidth}, 4).narrow(2, of.first, of.count);
  const at::Tensor output = attend(HeadOperands{queries.transpose(1, 2), keys.transpose(1, 2), values.transpose(1, 2)});
  output.backward(slope.reshape(output.sizes()).to(device));
  return {output.detach().cpu(), queries.grad().cpu(), keys.grad().cpu(), values.grad().cpu()};
}
DroppedHeadsFound dropped_on_device(const DroppedCase& of, ScoresAtOnce at_once = {}) {
  return attended_with_slopes(checked_device(), of, [&](const HeadOperands& all) {
    EXPECT_TRUE(attends_dropped(all, of.form, kDropsTwoOfFive));
    return attend_dropped(all, of.form, kDropsTwoOfFive, at_once);
  });
}
DroppedHeadsFound head_by_head(const DroppedCase& of) {
  return attended_with_slopes(c10::kCPU, of, [&](const HeadOperands& all) { return attend_heads(all, of.form, kDropsTwoOfFive); });
}
void expect_close_heads(const DroppedHeadsFound& is, const DroppedHeadsFound& expected) {
  EXPECT_LT(relative_error(is.output, expected.output), 1e-14);
  EXPECT_LT(relative_error(is.queries, expected.queries), 1e-13);
  EXPECT_LT(relative_error(is.keys, expected.keys), 1e-13);
  EXPECT_LT(relative_error(is.values, expected.values), 1e-13);
}
void expect_equal_heads(const DroppedHeadsFound& is, const DroppedHeadsFound& expected) {
  EXPECT_TRUE(at::equal(is.output, expected.output));
  EXPECT_TRUE(at::equal(is.queries, expected.queries));
  EXPECT_TRUE(at::equal(is.keys, expected.keys));
  EXPECT_TRUE(at::equal(is.values, expected.values));
}

TEST(DroppedAttention, IsThatOfTheCpuHeadByHead) {
  for (const DroppedCase& of : {DroppedCase{.form = {.heads = kDroppedHeads}}, DroppedCase{.form = {.heads = kDroppedHeads, .scale = 3}},
                                DroppedCase{.form = {.heads = kDroppedHeads, .is_causal = false}, .keys = kDroppedTokens + 3}})
    expect_close_heads(dropped_on_device(of), head_by_head(of));
}

// Each head of keys is repeated for every query on the CPU, and for none on the device.
TEST(DroppedAttention, QueriesShareKeys) {
  for (const std::int64_t sharers : {2, 4})
    for (const std::int64_t samples : {std::int64_t{1}, kDroppedSamples}) {
      const DroppedCase of{.form = {.heads = kDroppedHeads}, .samples = samples, .sharers = sharers};
      const DroppedHeadsFound found = dropped_on_device(of);
      expect_close_heads(found, head_by_head(of));
      for (const std::int64_t heads : {1, 3})  // a part has whole groups
        expect_equal_heads(dropped_on_device(of, {.most = sim::Bytes(heads * kBytesOfHead)}), found);
      DroppedCase again = of;
      again.form.keeps_scores = false;
      expect_equal_heads(dropped_on_device(again), found);
    }
}
TEST(DroppedAttention, NothingRepeatsKeys) {
  const DroppedCase of{.form = {.heads = kDroppedHeads}, .sharers = 2};
  attended_with_slopes(checked_device(), of, [&](const HeadOperands& all) {
    const at::Tensor output = attend_heads(all, of.form, kDropsTwoOfFive);
    for (const auto& edge : output.grad_fn()->next_edges()) EXPECT_EQ(edge.function->name(), "TransposeBackward0") << "the operand itself";
    return output;
  });
}

TEST(DroppedAttention, PartsEndInTheMiddleOfASample) {
  const DroppedCase of{.form = {.heads = kDroppedHeads}};
  for (const std::int64_t heads : {1, 3, 5})
    expect_equal_heads(dropped_on_device(of, {.most = sim::Bytes(heads * kBytesOfHead)}), dropped_on_device(of));
}

TEST(DroppedAttention, ScoresComputedAgainGiveTheSameBits) {
  expect_equal_heads(dropped_on_device({.form = {.heads = kDroppedHeads, .keeps_scores = false}}),
                     dropped_on_device({.form = {.heads = kDroppedHeads}}));
}

TEST(DroppedAttention, HeadsOfATensorRankHaveTheirOwnMasks) {
  const DroppedHeadsFound whole = dropped_on_device({.form = {.heads = kDroppedHeads}}),
                          second = dropped_on_device({.form = {.heads = kDroppedHeads, .first_head = 2}, .first = 2, .count = 2});
  EXPECT_TRUE(at::equal(second.queries, whole.queries.narrow(2, 2, 2)));
  EXPECT_TRUE(at::equal(second.values, whole.values.narrow(2, 2, 2)));
  EXPECT_FALSE(at::equal(dropped_on_device({.form = {.heads = kDroppedHeads}, .first = 2, .count = 2}).queries, second.queries));
}

// Batched products of a call, both ways.
std::int64_t products_of(const DroppedCase& of) {
  static std::int64_t count = 0;
  count = 0;
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback([](const at::RecordFunction& called) {
                                              if (std::string_view(called.name()) == "aten::bmm") ++count;
                                              return std::unique_ptr<at::ObserverContext>();
                                            }).scopes({at::RecordScope::FUNCTION}));
  dropped_on_device(of);
  at::removeCallback(handle);
  return count;
}
TEST(DroppedAttention, TakesAsManyProductsForMoreHeadsAndSamples) {
  const ScoreForm form{.heads = kDroppedHeads};
  const std::int64_t one = products_of({.form = form, .count = 1, .samples = 1});
  EXPECT_GT(one, 0);
  EXPECT_EQ(products_of({.form = form, .samples = 1}), one);
  EXPECT_EQ(products_of({.form = form}), one);
  EXPECT_EQ(products_of({.form = form, .sharers = 2}), one);
}

TEST(DroppedAttention, IsForScoresThatAreSoftmaxedAsTheyAre) {
  const at::Tensor there = at::ones({1, 1, kDroppedTokens, kDroppedWidth}, at::TensorOptions().dtype(at::kDouble).device(checked_device()));
  const HeadOperands all{there, there, there}, host{there.cpu(), there.cpu(), there.cpu()};
  EXPECT_FALSE(attends_dropped(host, {}, kDropsTwoOfFive));
  EXPECT_FALSE(attends_dropped(all, {}, {}));
  EXPECT_FALSE(attends_dropped(all, {.window = 2}, kDropsTwoOfFive));
  EXPECT_FALSE(attends_dropped(all, {.cap = 3}, kDropsTwoOfFive));
}

}  // namespace
}  // namespace executor
