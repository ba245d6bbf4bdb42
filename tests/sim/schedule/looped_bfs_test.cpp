#include "sim/schedule/looped_bfs.h"

#include <gmock/gmock.h>

#include "tests/sim/schedule/pipeline_run.h"

namespace sim {
namespace {

TEST(LoopedBfs, LooksLikeItsPicture) {
  for (StageIndex s(0); s.value() < 2; ++s)
    EXPECT_EQ(to_text(kLoopedBfsSchedule.order({.stages = 2, .microbatches = 2, .chunks = 2}, s)),
              "F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0");
}

TEST(LoopedBfs, HoldsEveryMicrobatchOfEveryChunk) {
  int shapes = 0;
  for (const PipelineShape shape : testing::many_shapes()) {
    if (kLoopedBfsSchedule.why_unsupported(shape)) continue;
    ++shapes;
    for (StageIndex s(0); s.value() < shape.stages; ++s)
      EXPECT_EQ(peak_in_flight(kLoopedBfsSchedule.order(shape, s)), shape.microbatches * shape.chunks);
  }
  EXPECT_GT(shapes, 50);
}

// The weights of a chunk are used in two runs without another chunk between: that is what sharded weights are gathered for.
TEST(LoopedBfs, UsesAChunkOnceAPass) {
  std::vector<std::int32_t> runs;
  for (const StageAction& action : kLoopedBfsSchedule.order({.stages = 4, .microbatches = 5, .chunks = 3}, StageIndex(1)))
    if (runs.empty() || runs.back() != action.chunk.value()) runs.push_back(action.chunk.value());
  EXPECT_THAT(runs, ::testing::ElementsAre(0, 1, 2, 1, 0));
}

TEST(LoopedBfs, NeedsTwoStagesAndTwoChunks) {
  const auto one_stage = kLoopedBfsSchedule.why_unsupported({.stages = 1, .microbatches = 4, .chunks = 2});
  ASSERT_TRUE(one_stage);
  EXPECT_THAT(*one_stage, ::testing::HasSubstr("use schedule=1f1b"));
  const auto one_chunk = kLoopedBfsSchedule.why_unsupported({.stages = 2, .microbatches = 4, .chunks = 1});
  ASSERT_TRUE(one_chunk);
  EXPECT_THAT(*one_chunk, ::testing::HasSubstr("use schedule=gpipe"));
  EXPECT_FALSE(kLoopedBfsSchedule.why_unsupported({.stages = 8, .microbatches = 1, .chunks = 2}));
}

}  // namespace
}  // namespace sim
