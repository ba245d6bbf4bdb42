#include "executor/training/parameter_store.h"

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

TEST(ParameterStore, LeavesHaveTheShapesOfTheirParameters) {
  const sim::ParallelPlan plan = tiny_plan();
  const sim::ModelGraph model = sim::make_model_graph(plan);
  ParameterStore store(model, plan, sim::Rank(0), c10::kCPU);
  store.fill_initial_values();
  for (sim::LayerIndex layer{0}; layer <= model.head(); ++layer)
    for (std::size_t at = 0; at < store.parameters(layer).size(); ++at) {
      const sim::Parameter& parameter = store.parameters(layer)[at];
      EXPECT_EQ(store.leaves(layer)[at].value.numel(), parameter.elements()) << parameter.name;
      EXPECT_EQ(store.leaves(layer)[at].value.dim(), parameter.columns > 1 ? 2 : 1) << parameter.name;
    }
}

TEST(ParameterStore, TiedHeadReadsTheEmbedding) {
  const sim::ParallelPlan plan = tiny_plan();
  const sim::ModelGraph model = sim::make_model_graph(plan);
  ParameterStore store(model, plan, sim::Rank(0), c10::kCPU);
  EXPECT_EQ(store.leaves(model.head()).back().value.data_ptr(), store.leaves(sim::LayerIndex(0)).front().value.data_ptr());
}

TEST(ParameterStore, ShardsTogetherAreTheInitialWeights) {
  const sim::ParallelPlan whole_plan = tiny_plan();
  sim::ParallelPlan sharded_plan = tiny_plan({.data = 2});
  sharded_plan.zero_stage = 3;
  const sim::ModelGraph model = sim::make_model_graph(whole_plan);
  ParameterStore whole(model, whole_plan, sim::Rank(0), c10::kCPU);
  whole.fill_initial_values();
  for (const sim::Rank rank : {sim::Rank(0), sim::Rank(1)}) {
    ParameterStore store(model, sharded_plan, rank, c10::kCPU);
    store.fill_initial_values();
    for (FlatBucket& bucket : store.buckets())
      for (const sim::BucketSlot& slot : bucket.layout().slots) {
        const auto part = ParameterStore::meet(slot, bucket.own_shard());
        if (part.range.count == 0) continue;
        const at::Tensor expected = whole.leaves(slot.layer)[static_cast<std::size_t>(slot.parameter)].value.view(-1);
        EXPECT_TRUE(at::equal(bucket.weights_of(part.range), expected.narrow(0, part.from.value, part.range.count)));
      }
  }
}

TEST(ParameterStore, SlotsMeetRanges) {
  const sim::BucketSlot slot{.layer = sim::LayerIndex(1), .parameter = 0, .offset = 64, .elements = 100};
  const auto inside = ParameterStore::meet(slot, {.begin = 128, .count = 128});
  EXPECT_EQ(inside.range.begin, 128);
  EXPECT_EQ(inside.range.count, 36);
  EXPECT_EQ(inside.from.value, 64);
  EXPECT_EQ(ParameterStore::meet(slot, {.begin = 0, .count = 64}).range.count, 0);
}

}  // namespace
}  // namespace executor
