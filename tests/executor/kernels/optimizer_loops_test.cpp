#include "executor/kernels/optimizer_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace executor {
namespace {

std::vector<float> ramp(std::int64_t elements, float scale) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < elements; ++i) values.push_back(scale * static_cast<float>((i * 7919) % 1009 - 500));
  return values;
}

constexpr AdamWFactors<float> kFactors{.keep = 0.9997F,
                                       .beta1 = 0.9F,
                                       .one_minus_beta1 = 0.1F,
                                       .beta2 = 0.95F,
                                       .one_minus_beta2 = 0.05F,
                                       .step_size = 3e-3F,
                                       .root_correction = 4.4721F,
                                       .epsilon = 1e-8F,
                                       .gradient_factor = 0.37F};
constexpr std::int64_t kLength = 1003;

// One update of [begin, end) of fresh state.
std::vector<float> stepped(std::int64_t begin, std::int64_t end) {
  auto weights = ramp(kLength, 0.01F), gradients = ramp(kLength, 0.003F), first = ramp(kLength, 0.0007F), second = ramp(kLength, 0.0001F);
  for (float& value : second) value = value * value;
  adamw_loop(AdamWSpan<float, float>{.master = weights.data() + begin,
                                     .gradient = gradients.data() + begin,
                                     .first_moment = first.data() + begin,
                                     .second_moment = second.data() + begin,
                                     .elements = end - begin},
             kFactors);
  return weights;
}

// A shard may start anywhere: what one start does in the vector body, another does in the tail.
TEST(OptimizerLoops, BitsDoNotDependOnTheStart) {
  const auto whole = stepped(0, kLength);
  for (std::int64_t cut = 1; cut < 67; ++cut) {
    const auto left = stepped(0, cut), right = stepped(cut, kLength);
    ASSERT_TRUE(std::equal(whole.begin(), whole.begin() + cut, left.begin())) << "left of " << cut;
    ASSERT_TRUE(std::equal(whole.begin() + cut, whole.end(), right.begin() + cut)) << "right of " << cut;
  }
}

TEST(OptimizerLoops, OneElementAtATimeGivesTheSameBits) {
  const auto whole = stepped(0, kLength);
  for (std::int64_t i = 0; i < kLength; i += 13)
    ASSERT_EQ(stepped(i, i + 1)[static_cast<std::size_t>(i)], whole[static_cast<std::size_t>(i)]);
}

TEST(OptimizerLoops, SgdBitsDoNotDependOnTheStart) {
  const auto run = [](std::int64_t begin) {
    auto weights = ramp(kLength, 0.01F), velocity = ramp(kLength, 0.002F);
    const auto gradients = ramp(kLength, 0.003F);
    sgd_loop(SgdSpan<float, float>{.master = weights.data() + begin,
                                   .gradient = gradients.data() + begin,
                                   .velocity = velocity.data() + begin,
                                   .elements = kLength - begin},
             {.decay = 0.013F, .momentum = 0.9F, .learning_rate = 0.03F, .gradient_factor = 0.7F});
    return weights;
  };
  const auto whole = run(0);
  for (std::int64_t begin = 1; begin < 40; ++begin) {
    const auto part = run(begin);
    ASSERT_TRUE(std::equal(whole.begin() + begin, whole.end(), part.begin() + begin)) << begin;
  }
}

TEST(OptimizerLoops, RoundsToNearestEven) {
  const std::vector<float> from{1.0F,         1.00390625F, 1.01171875F,
                                -1.00390625F, 3.4e38F,     __builtin_nanf("")};  // 1 + 2^-8 and 1 + 3 * 2^-8 are ties
  std::vector<Bfloat16Bits> to(from.size());
  rounding_loop({.from = from.data(), .to = to.data(), .elements = static_cast<std::int64_t>(from.size())});
  EXPECT_EQ(to[0].bits, 0x3f80);
  EXPECT_EQ(to[1].bits, 0x3f80);
  EXPECT_EQ(to[2].bits, 0x3f82);
  EXPECT_EQ(to[3].bits, 0xbf80);
  EXPECT_EQ(to[4].bits, 0x7f80);  // beyond the largest bf16
  EXPECT_TRUE(load(to[5]) != load(to[5]));
}

}  // namespace
}  // namespace executor
