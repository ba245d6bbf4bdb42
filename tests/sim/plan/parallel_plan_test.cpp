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

// They read the token table on a stage of their own, which holds a copy of it, and hand the streams of all depths to the head.
TEST(ParallelPlan, PredictionsMayStandApartFromTheHead) {
  const ParallelPlan plan = testing::plan_with_predictions_apart({.data = 2, .pipeline = 4}, 2);
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  EXPECT_EQ(plan.model.inner_layers(), 5);
  EXPECT_EQ(plan.head(), make_model_graph(plan).head());
  EXPECT_EQ(plan.predicting(), LayerIndex(5));
  EXPECT_TRUE(plan.owns(StageIndex(2), LayerIndex(5)));
  EXPECT_TRUE(plan.holds_copy(LayerIndex(5)));
  EXPECT_FALSE(plan.holds_copy(plan.head()));
  EXPECT_THAT(plan.group(Rank(1), MeshAxis::Embedding), ElementsAre(Rank(1), Rank(5)));
  EXPECT_EQ(plan.message_into(plan.head()), plan.message_into(LayerIndex(5)) * std::int64_t{3});
  ParallelPlan beside = plan;
  beside.model.mtp_apart = false;
  beside.cut.first = {LayerIndex(0), LayerIndex(2), LayerIndex(3), LayerIndex(4)};
  EXPECT_EQ(beside.predicting(), beside.head());
  EXPECT_EQ(beside.reader_stage(), StageIndex(3));
  EXPECT_EQ(beside.message_into(beside.head()), plan.message_into(LayerIndex(5)));
}

TEST(ParallelPlan, PredictionsOnTheEmbeddingsStageReadItsTable) {
  ParallelPlan plan = testing::interleaved_plan({.pipeline = 2}, 2);
  plan.model = testing::tiny_llama();
  plan.model.mtp_layers = 1;
  plan.model.mtp_apart = true;
  plan.cut.first = {LayerIndex(0), LayerIndex(3), LayerIndex(5), LayerIndex(6)};
  EXPECT_THAT(violations(plan), ::testing::IsEmpty());
  EXPECT_EQ(plan.reader_stage(), StageIndex(0));
  EXPECT_TRUE(plan.reads_embedding(LayerIndex(5)));
  EXPECT_FALSE(plan.holds_copy(LayerIndex(5)));
}

TEST(ParallelPlan, ChunksAlternateOverStages) {
  const ParallelPlan plan = testing::interleaved_plan({.data = 1, .pipeline = 2, .tensor = 1}, 2);
  EXPECT_EQ(plan.layers(StageIndex(0), ChunkIndex(1)).begin, LayerIndex(3));
  EXPECT_EQ(plan.layers(StageIndex(1), ChunkIndex(0)).begin, LayerIndex(2));
}

// 32 h of 34 h + 5 a s: 36 and 67 % of it; never below a half.
TEST(ParallelPlan, WhatWaitsForWeightsFollowsFromKeptScores) {
  ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  plan.model.hidden = 2304;
  plan.model.heads = 24;
  plan.workload.sequence = 1024;
  EXPECT_EQ(plan.percent_waiting(), 100) << "the worker's kernel keeps none";
  plan.cluster.software = load_software("megatron-lm-2021");
  EXPECT_EQ(plan.percent_waiting(), 50);
  plan.workload.sequence = 256;
  EXPECT_EQ(plan.percent_waiting(), 67);
  plan.recompute = Recompute::Selective;
  EXPECT_EQ(plan.percent_waiting(), 100);
}

TEST(ParallelPlan, MicrobatchesFollowFromTheBatch) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.microbatch_size = 2;
  EXPECT_EQ(plan.num_microbatches(), 2);
}

}  // namespace
}  // namespace sim
