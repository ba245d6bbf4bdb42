#include "sim/schedule/zero_bubble.h"

#include <gmock/gmock.h>

#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

std::string zero_bubble_text(const Schedule& schedule, PipelineShape shape, std::int32_t stage) {
  return to_text(schedule.order(shape, StageIndex(stage)));
}

TEST(ZeroBubble, LooksLikeItsPaper) {
  const PipelineShape shape{.stages = 2, .microbatches = 3};
  EXPECT_EQ(zero_bubble_text(kZb1pSchedule, shape, 0), "F0 F1 B0 W0 F2 B1 W1 B2 W2");
  EXPECT_EQ(zero_bubble_text(kZb1pSchedule, shape, 1), "F0 B0 F1 B1 W0 F2 B2 W1 W2");
}

// Where a microbatch that waits for its weights' gradients holds half of what it held, twice as many wait.
TEST(ZeroBubble, LighterWaitersWaitLonger) {
  const PipelineShape shape{.stages = 2, .microbatches = 4, .waiting = 50};
  EXPECT_EQ(zero_bubble_text(kZb1pSchedule, shape, 0), "F0 F1 B0 W0 F2 B1 W1 F3 B2 W2 B3 W3");
  EXPECT_EQ(zero_bubble_text(kZb1pSchedule, shape, 1), "F0 B0 F1 B1 F2 B2 W0 F3 B3 W1 W2 W3");
}

// Qi et al. 2024: with passes of equal length a stage idles (p - 1)(T_F + T_B - T_W); 1f1b idles (p - 1)(T_F + T_B + T_W).
TEST(ZeroBubble, OnePassPerLaterStageIsLeftOfTheBubble) {
  for (PipelineShape shape : testing::many_shapes()) {
    if (kZb1pSchedule.why_unsupported(shape) || shape.microbatches < shape.stages) continue;
    for (const Schedule* schedule : {&kZb1pSchedule, &kZb2pSchedule})
      for (const std::int32_t waiting : {50, 75, 100}) {
        shape.waiting = waiting;
        if (schedule == &kZb2pSchedule && shape.microbatches < 2 * shape.stages) continue;
        const std::int64_t duration = testing::PipelineRun(*schedule, shape).duration(), least = 3 * shape.microbatches + shape.stages - 1;
        // Those that wait longer end later; they are made for weights' gradients that are shorter than the others.
        EXPECT_GE(duration, least);
        EXPECT_LE(duration, waiting == 100 ? least : least + shape.stages - 1)
            << schedule->name << " p=" << shape.stages << " m=" << shape.microbatches << " waiting " << waiting;
      }
  }
}

// In percent of a microbatch, of which `waiting` are left when its input's gradient is made.
std::int32_t most_held(const std::vector<StageAction>& order, std::int32_t waiting) {
  std::int32_t held = 0, most = 0;
  for (const StageAction& action : order) {
    held += action.kind == ActionKind::Forward ? 100 : action.kind == ActionKind::Backward ? waiting - 100 : -waiting;
    most = std::max(most, held);
  }
  return most;
}

TEST(ZeroBubble, HoldsAsManyMicrobatchesAsItsNameSays) {
  for (const std::int32_t p : {2, 4, 8}) {
    for (const std::int32_t waiting : {50, 60, 75, 94, 100}) {
      const PipelineShape one{.stages = p, .microbatches = 8 * p, .waiting = waiting};
      for (StageIndex s(0); s.value() < p; ++s) {
        EXPECT_LE(most_held(kZb1pSchedule.order(one, s), waiting), 100 * p) << "waiting " << waiting << ", stage " << s.value();
        EXPECT_LE(most_held(kZb2pSchedule.order(one, s), waiting), 200 * p) << "waiting " << waiting << ", stage " << s.value();
      }
      EXPECT_GT(most_held(kZb2pSchedule.order(one, StageIndex(p - 1)), waiting), 200 * p - 100);
    }
    const PipelineShape two{.stages = p, .microbatches = 8 * p, .chunks = 2};
    for (StageIndex s(0); s.value() < p; ++s) {
      EXPECT_LE(peak_in_flight(kZbvSchedule.order(two, s)), 2 * p);  // in chunks: half a stage each
      EXPECT_LE(peak_in_flight(kVHalfSchedule.order(two, s)), p + 3);
      EXPECT_LE(peak_in_flight(kVMinSchedule.order(two, s)), 2 * p / 3 + 3);
    }
  }
}

// Total idle of the longest stage, in chunk passes: v-min leaves most, zbv next to nothing, all less than 1f1b's 6 (p - 1).
TEST(ZeroBubble, LessMemoryLeavesMoreBubble) {
  for (const std::int32_t p : {4, 6, 8, 12}) {
    const PipelineShape shape{.stages = p, .microbatches = 4 * p, .chunks = 2};
    const std::int64_t work = 6 * shape.microbatches;
    const std::int64_t zbv = testing::PipelineRun(kZbvSchedule, shape).duration() - work;
    const std::int64_t half = testing::PipelineRun(kVHalfSchedule, shape).duration() - work;
    const std::int64_t least = testing::PipelineRun(kVMinSchedule, shape).duration() - work;
    EXPECT_LE(zbv, 2 * p);
    EXPECT_LT(zbv, half);
    EXPECT_LE(half, least);
    EXPECT_LT(least, 6 * (p - 1));
  }
}

// Tied embeddings are complete with the first chunk's last weight gradient.
TEST(ZeroBubble, TheFirstChunksWeightsComeAfterTheSeconds) {
  for (const Schedule* schedule : {&kZbvSchedule, &kVHalfSchedule, &kVMinSchedule})
    for (const std::int32_t p : {2, 3, 4, 8})
      for (const std::int32_t m : {1, 2, 5, 16}) {
        std::int32_t up = 0, down = 0;
        for (const StageAction& action : schedule->order({.stages = p, .microbatches = m, .chunks = 2}, StageIndex(0))) {
          if (action.kind != ActionKind::Weight) continue;
          ++(action.chunk == ChunkIndex(1) ? up : down);
          EXPECT_LE(down, up);
        }
      }
}

TEST(ZeroBubble, RefusesOtherShapesWithTheirNumbers) {
  EXPECT_TRUE(kZb1pSchedule.why_unsupported({.stages = 1, .microbatches = 4}));
  EXPECT_TRUE(kZb1pSchedule.why_unsupported({.stages = 2, .microbatches = 4, .chunks = 2}));
  EXPECT_THAT(*kZbvSchedule.why_unsupported({.stages = 4, .microbatches = 4, .chunks = 3}), ::testing::HasSubstr("not 3 on 4"));
  EXPECT_FALSE(kZbvSchedule.why_unsupported({.stages = 4, .microbatches = 1, .chunks = 2}));
}

}  // namespace
}  // namespace sim
