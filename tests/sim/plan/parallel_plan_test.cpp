#include "sim/plan/parallel_plan.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;

TEST(ParallelPlan, EvenCutSpreadsBlocksAsEvenAsWholeLayersAllow) {
  EXPECT_THAT(even_cut(4, {.stages = 2, .microbatches = 1, .chunks = 1}).first, ElementsAre(LayerIndex(0), LayerIndex(3)));
  EXPECT_THAT(even_cut(7, {.stages = 3, .microbatches = 1, .chunks = 1}).first, ElementsAre(LayerIndex(0), LayerIndex(3), LayerIndex(5)));
}

TEST(ParallelPlan, EvenCutLeavesEndsAloneWhereBlocksAreFew) {
  EXPECT_THAT(even_cut(2, {.stages = 3, .microbatches = 1, .chunks = 1}).first, ElementsAre(LayerIndex(0), LayerIndex(2), LayerIndex(3)));
  EXPECT_THAT(even_cut(2, {.stages = 4, .microbatches = 1, .chunks = 1}).first,
              ElementsAre(LayerIndex(0), LayerIndex(1), LayerIndex(2), LayerIndex(3)));
}

TEST(ParallelPlan, FirstAndLastStageHoldEmbeddingAndHead) {
  const ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  EXPECT_TRUE(plan.owns(StageIndex(0), LayerIndex(0)));
  EXPECT_TRUE(plan.owns(StageIndex(1), LayerIndex(5)));
  EXPECT_FALSE(plan.owns(StageIndex(0), LayerIndex(5)));
  EXPECT_EQ(plan.layers(StageIndex(1), ChunkIndex(0)).end, LayerIndex(6));
}

TEST(ParallelPlan, ChunksAlternateOverStages) {
  const ParallelPlan plan = testing::interleaved_plan({.data = 1, .pipeline = 2, .tensor = 1}, 2);
  EXPECT_EQ(plan.layers(StageIndex(0), ChunkIndex(1)).begin, LayerIndex(3));
  EXPECT_EQ(plan.layers(StageIndex(1), ChunkIndex(0)).begin, LayerIndex(2));
}

TEST(ParallelPlan, MicrobatchesFollowFromTheBatch) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.microbatch_size = 2;
  EXPECT_EQ(plan.num_microbatches(), 2);
}

}  // namespace
}  // namespace sim
