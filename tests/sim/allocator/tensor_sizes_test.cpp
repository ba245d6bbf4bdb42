#include "sim/allocator/tensor_sizes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

Bytes sum(const std::vector<Bytes>& pieces) {
  Bytes all{};
  for (const Bytes piece : pieces) all += piece;
  return all;
}

struct Scene {
  ParallelPlan plan = testing::tiny_plan();
  ModelGraph model = make_model_graph(plan);
  TensorSizes sizes{model, plan, StageIndex(0)};
  TaskKey of_block{.layer = LayerIndex(1), .operation = Operation::Mlp};
};

TEST(TensorSizes, ParametersComeOneByOneAndStatesTwice) {
  const Scene scene;
  std::int64_t parameters = 0;
  for (const Layer& layer : scene.model.layers) parameters += std::ssize(layer.parameters);
  const Bytes much{std::int64_t{1} << 30};
  const std::vector<Bytes> weights = scene.sizes.of({.category = MemoryCategory::Parameters, .owner = {}, .size = much}),
                           states = scene.sizes.of({.category = MemoryCategory::OptimizerState, .owner = {}, .size = much});
  EXPECT_EQ(sum(weights), much);
  EXPECT_EQ(sum(states), much);
  EXPECT_NEAR(static_cast<double>(weights.size()), static_cast<double>(parameters), 1.0);
  EXPECT_NEAR(static_cast<double>(states.size()), static_cast<double>(2 * parameters), 1.0);
}

// Of a layer that is stepped by itself.
TEST(TensorSizes, StatesOfALayerAreItsParametersTwice) {
  const Scene scene;
  const Bytes much{std::int64_t{1} << 20};
  const std::vector<Bytes> states = scene.sizes.of({.category = MemoryCategory::OptimizerState, .owner = scene.of_block, .size = much});
  EXPECT_EQ(sum(states), much);
  EXPECT_NEAR(static_cast<double>(states.size()), static_cast<double>(2 * scene.model.layer(LayerIndex(1)).parameters.size()), 1.0);
}

TEST(TensorSizes, ActivationsAreNoWiderThanTheFeedForward) {
  const Scene scene;
  const Bytes widest = scene.plan.bytes(Numbers::Activations) * (scene.plan.shard_shape().tokens() * scene.plan.model.ffn);
  const Bytes amount = widest * std::int64_t{2} + Bytes(64);
  const std::vector<Bytes> pieces = scene.sizes.of({.category = MemoryCategory::Activations, .owner = scene.of_block, .size = amount});
  EXPECT_EQ(pieces, (std::vector<Bytes>{widest, widest, Bytes(64)}));
}

TEST(TensorSizes, GradientsAreNoLargerThanAParameterAndBuffersAreWhole) {
  const Scene scene;
  std::int64_t largest = 0;
  for (const Parameter& parameter : scene.model.layer(LayerIndex(1)).parameters) largest = std::max(largest, parameter.elements());
  const Bytes amount = scene.plan.bytes(Numbers::Gradients) * (3 * largest);
  EXPECT_EQ(scene.sizes.of({.category = MemoryCategory::Gradients, .owner = scene.of_block, .size = amount}).size(), 3u);
  EXPECT_EQ(scene.sizes.of({.category = MemoryCategory::Gradients, .owner = scene.of_block, .size = amount, .pool = MemoryPool::Reductions})
                .size(),
            1u);
  EXPECT_EQ(scene.sizes.of({.category = MemoryCategory::CommunicationBuffers, .owner = scene.of_block, .size = amount}).size(), 1u);
}

}  // namespace
}  // namespace sim
