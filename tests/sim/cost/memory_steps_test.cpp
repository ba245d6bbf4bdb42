#include "sim/cost/memory_steps.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

constexpr MemoryCategory kActivations = MemoryCategory::Activations, kGradients = MemoryCategory::Gradients;

TEST(MemorySteps, TheFullestMomentIsHeldAndTheRestIsLeft) {
  MemorySteps steps;
  steps.take(kActivations, Bytes(100)).take(kGradients, Bytes(30)).free(kActivations, Bytes(80)).take(kGradients, Bytes(20));
  const MemoryEffect effect = effect_of(steps);
  EXPECT_TRUE(effect.at_start.empty());
  ASSERT_EQ(effect.temporary.size(), 2u);
  EXPECT_EQ(effect.temporary[0].amount + effect.temporary[1].amount, Bytes(130));
  ASSERT_EQ(effect.at_end.size(), 2u);
  EXPECT_EQ(effect.at_end[0].amount + effect.at_end[1].amount, Bytes(70));
}

TEST(MemorySteps, WhatOnlyFreesHoldsNothing) {
  MemorySteps steps;
  steps.free(kActivations, Bytes(10)).pass(kActivations, Bytes(4));
  EXPECT_TRUE(effect_of(steps).temporary.empty());
  EXPECT_EQ(effect_of(steps).at_end.front().amount, Bytes(-10));
}

TEST(MemorySteps, AnEffectAsStepsHasTheSamePeak) {
  const MemoryEffect effect{.at_start = {{kActivations, Bytes(50)}, {kGradients, Bytes(-20)}},
                            .temporary = {{kActivations, Bytes(7)}},
                            .at_end = {{kActivations, Bytes(-50)}},
                            .on_sender = {}};
  const MemoryEffect again = effect_of(steps_of(effect));
  Bytes peak{}, left{};
  for (const MemoryChange& change : again.temporary) peak += change.amount;
  for (const MemoryChange& change : again.at_end) left += change.amount;
  EXPECT_EQ(peak, Bytes(37));
  EXPECT_EQ(left, Bytes(-20));
}

}  // namespace
}  // namespace sim
