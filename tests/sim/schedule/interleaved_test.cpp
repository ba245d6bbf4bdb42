#include "sim/schedule/interleaved.h"

#include <gmock/gmock.h>

#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

std::string interleaved_text(PipelineShape shape, std::int32_t stage) {
  return to_text(kInterleavedSchedule.order(shape, StageIndex(stage)));
}

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

// PyTorch's rounds where they divide (10 on 4 stages: two of 5); else the longer groups first (9: 5 and 4).
TEST(Interleaved, GroupsAreAsEvenAsMicrobatchesAllow) {
  const auto forwards_of_chunk_0 = [](PipelineShape shape) {  // groups show as runs of the first chunk in the order of forwards
    std::vector<std::int32_t> runs;
    bool in_run = false;
    for (const StageAction& action : kInterleavedSchedule.order(shape, StageIndex(0))) {
      if (action.kind != ActionKind::Forward) continue;
      const bool is_first = action.chunk == ChunkIndex(0);
      if (is_first && !in_run) runs.push_back(0);
      if (is_first) ++runs.back();
      in_run = is_first;
    }
    return runs;
  };
  using Runs = std::vector<std::int32_t>;
  EXPECT_EQ(forwards_of_chunk_0({.stages = 4, .microbatches = 3, .chunks = 2}), Runs{3});
  EXPECT_EQ(forwards_of_chunk_0({.stages = 4, .microbatches = 6, .chunks = 2}), Runs{6});
  EXPECT_EQ(forwards_of_chunk_0({.stages = 4, .microbatches = 10, .chunks = 2}), (Runs{5, 5}));
  EXPECT_EQ(forwards_of_chunk_0({.stages = 4, .microbatches = 9, .chunks = 2}), (Runs{5, 4}));
  EXPECT_EQ(forwards_of_chunk_0({.stages = 4, .microbatches = 14, .chunks = 3}), (Runs{5, 5, 4}));
}

TEST(Interleaved, LooksLikeItsPictureWhereGroupsAreUneven) {
  const PipelineShape shape{.stages = 2, .microbatches = 5, .chunks = 2};
  EXPECT_EQ(interleaved_text(shape, 0),
            "F0.0 F1.0 F2.0 F0.1 F1.1 F2.1 B0.1 F3.0 B1.1 F4.0 B2.1 F3.1 B0.0 F4.1 B1.0 B2.0 B3.1 B4.1 B3.0 B4.0");
  EXPECT_EQ(interleaved_text(shape, 1),
            "F0.0 F1.0 F2.0 F0.1 B0.1 F1.1 B1.1 F2.1 B2.1 F3.0 B0.0 F4.0 B1.0 F3.1 B2.0 F4.1 B3.1 B4.1 B3.0 B4.0");
}

// Megatron-LM's microbatch_group_size_per_vp_stage: the warm-up of stage 0 is 2 + 4.
TEST(Interleaved, GroupsHaveTheSizeThatIsGiven) {
  PipelineShape shape{.stages = 2, .microbatches = 4, .chunks = 2, .group = 4};
  EXPECT_EQ(interleaved_text(shape, 0), "F0.0 F1.0 F2.0 F3.0 F0.1 F1.1 F2.1 B0.1 F3.1 B1.1 B2.1 B3.1 B0.0 B1.0 B2.0 B3.0");
  EXPECT_FALSE(kInterleavedSchedule.why_unsupported(shape));
  for (const std::int32_t group : {1, 5, 3}) {  // shorter than the pipeline, longer than the step, one left
    shape.group = group;
    EXPECT_TRUE(kInterleavedSchedule.why_unsupported(shape)) << group;
  }
}

TEST(Interleaved, NeedsTwoStagesAndTwoChunks) {
  EXPECT_TRUE(kInterleavedSchedule.why_unsupported({.stages = 1, .microbatches = 4, .chunks = 2}));
  EXPECT_TRUE(kInterleavedSchedule.why_unsupported({.stages = 2, .microbatches = 4, .chunks = 1}));
}

TEST(Interleaved, HoldsTheWarmUpAndOneMore) {
  for (const PipelineShape shape : testing::many_shapes()) {
    if (kInterleavedSchedule.why_unsupported(shape)) continue;
    const std::int32_t groups = std::max(1, shape.microbatches / shape.stages), longest = (shape.microbatches + groups - 1) / groups;
    for (StageIndex s(0); s.value() < shape.stages; ++s) {
      const std::int32_t warm_up = 2 * (shape.stages - 1 - s.value()) + (shape.chunks - 1) * longest;
      EXPECT_EQ(peak_in_flight(kInterleavedSchedule.order(shape, s)), std::min(warm_up + 1, shape.microbatches * shape.chunks));
    }
  }
}

}  // namespace
}  // namespace sim
