// Against transformers itself: tests/reference/transformers_test.py.
#include "executor/model/rotary.h"

#include <gmock/gmock.h>

#include <cmath>

namespace executor {
namespace {

sim::ModelConfig model(const sim::RopeScaling& scaling) {
  sim::ModelConfig config;
  config.position = sim::Position::Rotary;
  config.head_dim = 8;
  config.max_positions = 64;
  config.rope_theta = 10'000;
  config.rope_scaling = scaling;
  return config;
}

TEST(Rotary, TableStartsAtAngleZero) {
  const at::Tensor table = rotary_table(unscaled_turns(6, {100.0}), 5, at::kDouble);
  EXPECT_EQ(table.sizes(), (std::vector<std::int64_t>{2, 5, 3}));
  EXPECT_EQ(table[0][0].min().item<double>(), 1.0);
  EXPECT_EQ(table[1][0].abs().max().item<double>(), 0.0);
  EXPECT_NEAR(table[1][1][0].item<double>(), std::sin(1.0), 1e-15);
}

TEST(Rotary, UnscaledAndLinear) {
  EXPECT_EQ(rotary_turns(model({}), 16).frequencies, (std::vector<double>{1, 1e-1, 1e-2, std::pow(1e4, -0.75)}));
  EXPECT_THAT(rotary_turns(model({.kind = sim::RopeScalingKind::Linear, .factor = 4}), 16).frequencies,
              testing::ElementsAre(0.25, 0.025, 0.0025, std::pow(1e4, -0.75) / 4));
}

TEST(Rotary, DynamicScalesBeyondThePositionsAlone) {
  const sim::ModelConfig dynamic = model({.kind = sim::RopeScalingKind::Dynamic, .factor = 2});
  EXPECT_EQ(rotary_turns(dynamic, 64).frequencies, unscaled_turns(8, {1e4}).frequencies);
  EXPECT_DOUBLE_EQ(rotary_turns(dynamic, 128).frequencies[1], std::pow(1e4 * std::pow(3, 8.0 / 6), -0.25));
}

// A pair that turns often within the original positions stays; one that turns seldom is stretched by the factor.
TEST(Rotary, LlamaStretchesLongWavelengths) {
  const RotaryTurns turns = rotary_turns(
      model({.kind = sim::RopeScalingKind::Llama3, .factor = 8, .original_positions = 32, .low_frequency = 1, .high_frequency = 4}), 16);
  EXPECT_EQ(turns.frequencies[0], 1);  // 5.1 turns
  EXPECT_DOUBLE_EQ(turns.frequencies[3], std::pow(1e4, -0.75) / 8);
  EXPECT_EQ(turns.amplitude, 1);
}

TEST(Rotary, YarnStretchesAndAmplifies) {
  const sim::RopeScaling yarn{.kind = sim::RopeScalingKind::Yarn, .factor = 4, .original_positions = 32};
  const RotaryTurns turns = rotary_turns(model(yarn), 16);
  EXPECT_DOUBLE_EQ(turns.frequencies[0], 1);
  EXPECT_DOUBLE_EQ(turns.frequencies[3], std::pow(1e4, -0.75) / 4);
  EXPECT_DOUBLE_EQ(turns.amplitude, 0.1 * std::log(4) + 1);
  sim::RopeScaling balanced = yarn;
  balanced.mscale = balanced.mscale_all_dim = 1;
  EXPECT_DOUBLE_EQ(rotary_turns(model(balanced), 16).amplitude, 1);
  EXPECT_DOUBLE_EQ(latent_score_scale(model(balanced)), std::pow(0.1 * std::log(4) + 1, 2));
  EXPECT_EQ(latent_score_scale(model(yarn)), 1);
}

TEST(Rotary, LongRopeChoosesByTheLengthOfASample) {
  const sim::RopeScaling longrope{.kind = sim::RopeScalingKind::LongRope,
                                  .factor = 2,
                                  .original_positions = 32,
                                  .short_factor = {1, 1, 1, 1},
                                  .long_factor = {1, 2, 4, 8}};
  EXPECT_EQ(rotary_turns(model(longrope), 32).frequencies[1], 0.1);
  EXPECT_EQ(rotary_turns(model(longrope), 33).frequencies[1], 0.05);
  EXPECT_DOUBLE_EQ(rotary_turns(model(longrope), 32).amplitude, std::sqrt(1 + std::log(2) / std::log(32)));
}

}  // namespace
}  // namespace executor
