#include "sim/schedule/one_f_one_b.h"

#include <gtest/gtest.h>

#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

std::string one_f_one_b_text(PipelineShape shape, std::int32_t stage) { return to_text(kOneFOneBSchedule.order(shape, StageIndex(stage))); }

TEST(OneFOneB, LooksLikeItsPicture) {
  EXPECT_EQ(one_f_one_b_text({.stages = 2, .microbatches = 4}, 0), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(one_f_one_b_text({.stages = 2, .microbatches = 4}, 1), "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST(OneFOneB, WarmsUpWithAllMicrobatchesWhereTheyAreFew) {
  EXPECT_EQ(one_f_one_b_text({.stages = 4, .microbatches = 2}, 0), "F0 F1 B0 B1");
  EXPECT_EQ(one_f_one_b_text({.stages = 4, .microbatches = 2}, 1), "F0 F1 B0 B1");
  EXPECT_EQ(one_f_one_b_text({.stages = 4, .microbatches = 2}, 2), "F0 F1 B0 B1");
  EXPECT_EQ(one_f_one_b_text({.stages = 4, .microbatches = 2}, 3), "F0 B0 F1 B1");
}

TEST(OneFOneB, HoldsOneMicrobatchALaterStage) {
  for (const PipelineShape shape : testing::many_shapes()) {
    if (kOneFOneBSchedule.why_unsupported(shape)) continue;
    for (StageIndex s(0); s.value() < shape.stages; ++s)
      EXPECT_EQ(peak_in_flight(kOneFOneBSchedule.order(shape, s)), std::min(shape.microbatches, shape.stages - s.value()));
  }
}

TEST(OneFOneB, RefusesChunks) { EXPECT_TRUE(kOneFOneBSchedule.why_unsupported({.stages = 2, .microbatches = 4, .chunks = 2})); }

TEST(OneFOneB, LooksLikeItsPictureWithSlices) {
  const PipelineShape shape{.stages = 2, .microbatches = 2, .slices = 2};
  EXPECT_EQ(to_text(kOneFOneBSchedule.order(shape, StageIndex(0))), "F0@0 F0@1 F1@0 B0@1 F1@1 B0@0 B1@1 B1@0");
  EXPECT_EQ(to_text(kOneFOneBSchedule.order(shape, StageIndex(1))), "F0@0 F0@1 B0@1 F1@0 B0@0 F1@1 B1@1 B1@0");
}

TEST(OneFOneB, HoldsSlicesOfFewSamples) {
  for (const PipelineShape shape : testing::sliced_shapes()) {
    if (kOneFOneBSchedule.why_unsupported(shape)) continue;
    for (StageIndex s(0); s.value() < shape.stages; ++s)
      EXPECT_EQ(peak_in_flight(kOneFOneBSchedule.order(shape, s)),
                std::min(shape.microbatches * shape.slices, shape.stages - s.value() + shape.slices - 1));
  }
}

}  // namespace
}  // namespace sim
