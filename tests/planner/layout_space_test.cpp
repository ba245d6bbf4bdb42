#include "planner/layout_space.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/planner/layout_questions.h"

namespace planner {
namespace {

TEST(LayoutSpace, EveryLayoutUsesAllDevicesAndSamples) {
  const LayoutRequest request = expert_question();
  const std::vector<sim::RunDescription> space = layout_space(request);
  EXPECT_GT(space.size(), 100u);
  for (const sim::RunDescription& run : space) {
    const sim::Layout& cut = run.layout;
    EXPECT_EQ(cut.data * cut.tensor * cut.context * cut.pipeline, request.cluster.devices);
    EXPECT_EQ(cut.data * cut.micro_batch * cut.microbatches, request.global_batch);
    EXPECT_EQ(request.network.experts->experts % cut.expert, 0);
  }
}

TEST(LayoutSpace, HoldsEveryAxis) {
  std::set<std::int64_t> experts, contexts, stages, chunks;
  for (const sim::RunDescription& run : layout_space(expert_question())) {
    experts.insert(run.layout.expert);
    contexts.insert(run.layout.context);
    stages.insert(run.layout.zero_stage);
    chunks.insert(run.layout.chunks);
  }
  EXPECT_THAT(experts, testing::ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(contexts, testing::ElementsAre(1, 2, 4));
  EXPECT_THAT(stages, testing::ElementsAre(0, 1, 3));
  EXPECT_GT(chunks.size(), 1u);
}

TEST(LayoutSpace, StepsOfEndlesslyManyMicrobatchesAreLeftOut) {
  LayoutRequest request = expert_question();
  request.global_batch = 1'000'000'000;
  for (const sim::RunDescription& run : layout_space(request)) EXPECT_LE(run.layout.microbatches, sim::kMostMicrobatches);
}

TEST(LayoutSpace, FaultsAreListedTogether) {
  LayoutRequest request = expert_question();
  request.cluster.hardware.kernels.reset();
  request.global_batch = 0;
  request.network.sequence = 0;
  EXPECT_EQ(layout_violations(request).size(), 3u);
}

TEST(LayoutSpace, ASequenceEndsWithItsLearnedPositions) {
  LayoutRequest request = expert_question();
  request.network.positions = request.network.sequence;
  EXPECT_TRUE(layout_violations(request).empty());
  --request.network.positions;
  EXPECT_EQ(layout_violations(request).size(), 1u);
}

}  // namespace
}  // namespace planner
