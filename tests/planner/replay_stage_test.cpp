#include "planner/replay_stage.h"

#include <gtest/gtest.h>

#include "tests/planner/every_plan.h"

namespace planner {
namespace {

struct Staged {
  sim::ModelGraph model;
  sim::ParallelPlan plan;
  std::vector<StageLayerPrices> layers;
  std::vector<StageTransfers> transfers;
  std::vector<StageStepPrices> steps;
  StageOrders orders;

  explicit Staged(const PlanCandidate& candidate) {
    const SearchRequest request = small_request({.devices = candidate.mesh.ranks()});
    model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    plan = make_plan(request, candidate);
    const sim::TaskGraph devices = devices_of(model, plan);
    const Pricer pricer(model, plan, devices);
    layers = pricer.layers();
    transfers = pricer.transfers();
    steps = pricer.steps();
    orders = stage_orders(plan);
  }
  ReplayStage stage(std::int32_t index) const {
    return make_replay_stage(model, plan, {layers, transfers, steps}, orders, sim::StageIndex(index));
  }
};

TEST(ReplayStage, SumsTheLayersOfEachChunk) {
  const Staged staged({.mesh = {.data = 1, .pipeline = 2}, .schedule = 1});
  const StageLayerPrices& prices = staged.layers.front();
  EXPECT_EQ(staged.stage(0).chunks.front().forward, prices[kEmbedding].forward + prices[kBlock].forward + prices[kBlock].forward);
  EXPECT_EQ(staged.stage(1).chunks.front().backward, prices[kHead].backward + prices[kBlock].backward + prices[kBlock].backward);
}

TEST(ReplayStage, TheFirstRecomputationNeedNotWaitForTheGradient) {
  const Staged staged({.mesh = {.data = 1, .pipeline = 2}, .schedule = 1, .recompute = sim::Recompute::Full});
  const LayerPrice& block = staged.layers.front()[kBlock];
  EXPECT_EQ(staged.stage(0).chunks.front().ahead, block.recompute);
  EXPECT_EQ(staged.stage(0).chunks.front().backward,
            block.backward + block.recompute + block.backward + staged.layers.front()[kEmbedding].backward);
  EXPECT_EQ(staged.stage(1).chunks.front().ahead, PacedTime{});  // the head comes first there
}

// One stage, tied: the head reads the embedding's weights too.
TEST(ReplayStage, KnowsWhichBucketsALayerGathers) {
  const Staged staged({.mesh = {.data = 2}, .schedule = 1, .zero_stage = 3});
  const ReplayStage stage = staged.stage(0);
  const ReplayChunk& chunk = stage.chunks.front();
  EXPECT_EQ(chunk.buckets_of(chunk.layers.begin).size(), 1u);
  EXPECT_EQ(chunk.buckets_of(sim::LayerIndex(chunk.layers.end.value() - 1)).size(), 2u);
  EXPECT_EQ(stage.gathered.size(), 6u);
}

TEST(ReplayStage, OrdersAreThoseOfTheSchedule) {
  const Staged staged({.mesh = {.data = 1, .pipeline = 2}, .schedule = 1, .microbatch = 2});
  EXPECT_EQ(sim::to_text(staged.orders[0]), "F0 F1 B0 F2 B1 F3 B2 B3");
  EXPECT_EQ(sim::to_text(staged.orders[1]), "F0 B0 F1 B1 F2 B2 F3 B3");
}

}  // namespace
}  // namespace planner
