#include "planner/layer_memory.h"

#include <gtest/gtest.h>

#include "tests/planner/every_plan.h"

namespace planner {
namespace {

sim::Bytes through(const LayerMemories& layer) { return layer.forward.change + layer.backward.change + layer.weight.change; }

TEST(LayerMemory, AMicrobatchLeavesNothingBehind) {
  on_every_small_plan([](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    const ActivationMemory memory = activation_memory(model, plan);
    const sim::Bytes left =
        through(memory.layers[kEmbedding]) + through(memory.layers[kBlock]) * model.num_blocks() + through(memory.layers[kHead]);
    EXPECT_EQ(left.value(), 0);
    EXPECT_GE(memory.layers[kBlock].forward.peak, memory.layers[kBlock].forward.change);
  });
}

TEST(LayerMemory, RecomputationKeepsLess) {
  const SearchRequest request = small_request({.devices = 1});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const ActivationMemory all = activation_memory(model, make_plan(request, {}));
  const ActivationMemory inputs = activation_memory(model, make_plan(request, {.mesh = {}, .recompute = sim::Recompute::Full}));
  EXPECT_LT(inputs.layers[kBlock].forward.change * 4, all.layers[kBlock].forward.change);
}

TEST(LayerMemory, WeightsAreThoseOfTheStage) {
  const SearchRequest request = small_request({.devices = 2});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const sim::ParallelPlan plan = make_plan(request, {.mesh = {.data = 1, .pipeline = 2}, .schedule = 1});
  const std::vector<StageWeights> weights =
      stage_weights(model, plan, {make_buckets(model, plan, sim::StageIndex(0)), make_buckets(model, plan, sim::StageIndex(1))});
  std::int64_t block = 0;
  for (const sim::Parameter& parameter : model.layer(sim::LayerIndex(1)).parameters) block += parameter.elements();
  EXPECT_EQ(weights[0].by_layer[1].value(), 2 * block);
  EXPECT_EQ(weights[0].by_layer[3].value(), 0);
  EXPECT_EQ(weights[1].by_layer[3].value(), 2 * block);
  EXPECT_EQ(weights[0].resident[static_cast<std::size_t>(sim::MemoryCategory::OptimizerState)],
            weights[0].resident[static_cast<std::size_t>(sim::MemoryCategory::Parameters)] * 6);  // bf16 weights, fp32 master and moments
}

}  // namespace
}  // namespace planner
