#include "sim/schedule/interleaved.h"

#include <gmock/gmock.h>

#include "tests/sim/schedule/in_flight.h"
#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

std::string interleaved_text(PipelineShape shape, std::int32_t stage) { return to_text(kInterleavedSchedule.order(shape, StageIndex(stage))); }

TEST(Interleaved, LooksLikeItsPicture) {
  const PipelineShape shape{.stages = 2, .microbatches = 2, .chunks = 2};
  EXPECT_EQ(interleaved_text(shape, 0), "F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0");
  EXPECT_EQ(interleaved_text(shape, 1), "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0");
}

// Megatron's table for p = 2, m = 4, v = 2: warm-up of stage 0 is 2 + 2 = 4, of stage 1 is 2.
TEST(Interleaved, GoesByGroupsOfTheStages) {
  const PipelineShape shape{.stages = 2, .microbatches = 4, .chunks = 2};
  EXPECT_EQ(interleaved_text(shape, 0), "F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0");
  EXPECT_EQ(interleaved_text(shape, 1), "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0");
}

TEST(Interleaved, TakesEqualGroupsWhereStagesDoNotDivide) {
  EXPECT_FALSE(kInterleavedSchedule.why_unsupported({.stages = 4, .microbatches = 6, .chunks = 2}));   // one group of 6
  EXPECT_FALSE(kInterleavedSchedule.why_unsupported({.stages = 4, .microbatches = 10, .chunks = 2}));  // two groups of 5
  EXPECT_FALSE(kInterleavedSchedule.why_unsupported({.stages = 4, .microbatches = 3, .chunks = 2}));   // fewer than stages
  const auto why = kInterleavedSchedule.why_unsupported({.stages = 4, .microbatches = 9, .chunks = 2});
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, ::testing::AllOf(::testing::HasSubstr("9 microbatches"), ::testing::HasSubstr("2 groups"),
                                     ::testing::HasSubstr("use 8 microbatches")));
}

TEST(Interleaved, NeedsTwoStagesAndTwoChunks) {
  EXPECT_TRUE(kInterleavedSchedule.why_unsupported({.stages = 1, .microbatches = 4, .chunks = 2}));
  EXPECT_TRUE(kInterleavedSchedule.why_unsupported({.stages = 2, .microbatches = 4, .chunks = 1}));
}

TEST(Interleaved, HoldsTheWarmUpAndOneMore) {
  for (const PipelineShape shape : testing::many_shapes()) {
    if (kInterleavedSchedule.why_unsupported(shape) || shape.microbatches % shape.stages != 0) continue;
    for (StageIndex s(0); s.value() < shape.stages; ++s) {
      const std::int32_t warm_up = 2 * (shape.stages - 1 - s.value()) + (shape.chunks - 1) * shape.stages;
      EXPECT_EQ(testing::peak_in_flight(kInterleavedSchedule.order(shape, s)), std::min(warm_up + 1, shape.microbatches * shape.chunks));
    }
  }
}

}  // namespace
}  // namespace sim
