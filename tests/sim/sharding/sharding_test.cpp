#include "sim/sharding/sharding.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

std::vector<ParallelPlan> plans() {
  std::vector<ParallelPlan> all;
  for (const DeviceMesh mesh : {DeviceMesh{1, 1, 1}, DeviceMesh{2, 1, 1}, DeviceMesh{4, 1, 2}, DeviceMesh{2, 2, 1}, DeviceMesh{1, 4, 2}})
    for (const std::int32_t zero : {0, 1, 2, 3})
      for (const ModelConfig& model : {testing::tiny_gpt2(), testing::tiny_llama()}) {
        ParallelPlan plan = testing::tiny_plan(mesh);
        plan.model = model;
        plan.zero_stage = zero;
        plan.bucket_size = Bytes(40'000);
        all.push_back(plan);
      }
  return all;
}

TEST(Buckets, HoldEveryParameterOfTheStageExactlyOnce) {
  for (const ParallelPlan& plan : plans()) {
    const ModelGraph model = make_model_graph(plan);
    for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage) {
      std::map<std::pair<LayerIndex, std::int32_t>, int> seen;
      for (const Bucket& bucket : make_buckets(model, plan, stage))
        for (const BucketSlot& slot : bucket.slots) ++seen[{slot.layer, slot.parameter}];
      std::size_t expected = 0;
      for (LayerIndex layer{0}; layer <= model.head(); ++layer)
        if (plan.owns(stage, layer)) expected += parameters_of(model, plan, layer).size();
      EXPECT_EQ(seen.size(), expected);
      for (const auto& [slot, times] : seen) EXPECT_EQ(times, 1);
    }
  }
}

TEST(Buckets, SlotsAreAlignedAndDoNotOverlap) {
  for (const ParallelPlan& plan : plans())
    for (const Bucket& bucket : make_buckets(make_model_graph(plan), plan, StageIndex(0))) {
      std::int64_t end = 0;
      for (const BucketSlot& slot : bucket.slots) {
        EXPECT_EQ(slot.offset % kSlotAlignment, 0);
        EXPECT_GE(slot.offset, end);
        end = slot.offset + slot.elements;
      }
      EXPECT_LE(end, bucket.elements);
      EXPECT_EQ(bucket.shard_elements * plan.mesh.data, bucket.elements);
      EXPECT_EQ(bucket.shard_elements % kSlotAlignment, 0);
    }
}

// Buckets of DDP have one type each, and travel in it: 16 bits of blocks, 32 of a head in full precision.
TEST(Buckets, UnitsInFullPrecisionStandApart) {
  for (ParallelPlan plan : plans()) {
    plan.model.tied_embeddings = false;
    plan.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(EndUnit::Head);
    const ModelGraph model = make_model_graph(plan);
    for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage)
      for (const Bucket& bucket : make_buckets(model, plan, stage)) {
        const bool is_head = bucket.slots.front().layer == model.head();
        for (const BucketSlot& slot : bucket.slots) EXPECT_EQ(slot.layer == model.head(), is_head);
        EXPECT_EQ(gathered_bytes(plan, bucket), Bytes(is_head ? 4 : 2) * bucket.elements);
        EXPECT_EQ(plan.bytes(Numbers::Wire, bucket.ready_after), Bytes(is_head ? 4 : 2));
      }
  }
}

// Likewise blocks, in a unit with others, too; experts of theirs stand apart from both.
TEST(Buckets, BlocksInFullPrecisionStandApart) {
  for (ParallelPlan plan : plans())
    for (const std::int32_t layers_per_unit : {1, 2}) {
      plan.layers_per_unit = layers_per_unit;
      plan.workload.precision = PrecisionPolicy(Precision::Bf16).with_full(BlockRanges{{1, 1}});
      const ModelGraph model = make_model_graph(plan);
      EXPECT_NE(model.kind(LayerIndex(1)), model.kind(LayerIndex(2)));
      std::int64_t wide = 0;
      for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage)
        for (const Bucket& bucket : make_buckets(model, plan, stage)) {
          const bool is_full = bucket.slots.front().layer == LayerIndex(2);
          for (const BucketSlot& slot : bucket.slots) EXPECT_EQ(slot.layer == LayerIndex(2), is_full);
          EXPECT_EQ(gathered_bytes(plan, bucket), Bytes(is_full ? 4 : 2) * bucket.elements);
          wide += is_full ? 1 : 0;
        }
      EXPECT_GE(wide, model.layer(LayerIndex(2)).parameters.back().expert ? 2 : 1);
    }
}

// Wherever a tensor lies, its blocks of moments are the same, and no shard ends within one.
TEST(Buckets, BlocksOfMomentsAreWhole) {
  for (ParallelPlan plan : plans()) {
    plan.workload.optimizer = OptimizerKind::AdamW8bit;
    for (const Bucket& bucket : make_buckets(make_model_graph(plan), plan, StageIndex(0))) {
      for (const BucketSlot& slot : bucket.slots) EXPECT_EQ(slot.offset % kMomentBlock, 0);
      for (std::int32_t shard = 0; shard < bucket.shards; ++shard) EXPECT_EQ(range_of(bucket, shard).begin % kMomentBlock, 0);
    }
  }
}

TEST(Buckets, MatricesOfBlocksAreGatheredIn8BitWhereThePlanSaysSo) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.zero_stage = 3;
  plan.workload.precision = PrecisionPolicy(Precision::Bf16).with(ScaleRecipe::Tensorwise, true);
  const ModelGraph model = make_model_graph(plan);
  for (const Bucket& bucket : make_buckets(model, plan, StageIndex(0))) {
    const bool is_block = bucket.ready_after != LayerIndex(0) && bucket.ready_after != model.head();
    const double share = static_cast<double>(gathered_bytes(plan, bucket).value()) / static_cast<double>(2 * bucket.elements);
    EXPECT_NEAR(share, is_block ? 0.5 : 1, 0.02);
  }
}

TEST(Buckets, ReadyAfterTheSmallestLayerInside) {
  for (const ParallelPlan& plan : plans())
    for (const Bucket& bucket : make_buckets(make_model_graph(plan), plan, StageIndex(0)))
      for (const BucketSlot& slot : bucket.slots) EXPECT_GE(slot.layer, bucket.ready_after);
}

TEST(Buckets, StageThreeHasOneAUnit) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  EXPECT_EQ(make_buckets(make_model_graph(plan), plan, StageIndex(0)).size(), 6u);
}

// Norms of 64 numbers; queries' bias of 64 and keys' of 16, which lie together, count one by one.
TEST(Buckets, SmallParametersOfStageThreeStayTogether) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.model = testing::tiny_llama();
  plan.zero_stage = 3;
  plan.persistence_threshold = plan.model.hidden;
  const ModelGraph model = make_model_graph(plan);
  const auto persistent = [&] {
    std::vector<Bucket> found = make_buckets(model, plan, StageIndex(0));
    std::erase_if(found, [](const Bucket& bucket) { return !bucket.persistent; });
    return found;
  };
  const std::vector<Bucket> kept = persistent();
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].slots.size(), count_of(2 * plan.model.layers + 1)) << "norms of the blocks, and the last one";
  EXPECT_EQ(kept[0].ready_after, LayerIndex(1));
  EXPECT_EQ(make_buckets(model, plan, StageIndex(0)).size(), 7u);
  plan.bucket_size = Bytes(1);
  EXPECT_EQ(persistent().size(), kept[0].slots.size()) << "as buckets of gradients are cut";
  plan.persistence_threshold = plan.model.hidden - 1;
  EXPECT_TRUE(persistent().empty());
  Parameter joint{.name = "joint", .rows = 96, .columns = 1, .row_blocks = {64, 16, 16}};
  plan.persistence_threshold = 64;
  EXPECT_TRUE(persists(joint, plan));
  joint.frozen = true;
  EXPECT_FALSE(persists(joint, plan));
}

TEST(Buckets, OfStageThreeHoldTheBlocksOfAUnitOfTheirChunk) {
  ParallelPlan plan = testing::interleaved_plan({.data = 2, .pipeline = 2, .tensor = 1}, 2);  // blocks 1-2 | 3-4 | 5-6 | 7-8
  plan.model.layers = 10;
  plan.cut.first = {LayerIndex(0), LayerIndex(4), LayerIndex(6), LayerIndex(9)};
  plan.zero_stage = 3;
  plan.layers_per_unit = 2;
  const auto layers = [&](StageIndex stage) {
    std::vector<std::pair<int, int>> ranges;
    for (const Bucket& bucket : make_buckets(make_model_graph(plan), plan, stage))
      if (!bucket.tied) ranges.emplace_back(bucket.ready_after.value(), bucket.slots.front().layer.value());
    return ranges;
  };
  EXPECT_THAT(layers(StageIndex(0)),
              ::testing::ElementsAre(std::pair(8, 8), std::pair(6, 7), std::pair(3, 3), std::pair(1, 2), std::pair(0, 0)));
  EXPECT_THAT(layers(StageIndex(1)), ::testing::ElementsAre(std::pair(11, 11), std::pair(9, 10), std::pair(4, 5)));
  EXPECT_EQ(unit_of(plan, LayerIndex(7)).begin, LayerIndex(6));
  EXPECT_EQ(unit_of(plan, LayerIndex(3)).end, LayerIndex(4));
  EXPECT_EQ(unit_of(plan, LayerIndex(11)).begin, LayerIndex(11));
}

TEST(Buckets, LimitSplitsAndALargeParameterStandsAlone) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.bucket_size = Bytes(1);
  std::size_t parameters = 0;
  const ModelGraph model = make_model_graph(plan);
  for (const Layer& layer : model.layers) parameters += layer.parameters.size();
  EXPECT_EQ(make_buckets(model, plan, StageIndex(0)).size(), parameters);
}

TEST(Buckets, TheFirstMayBeSmaller) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.bucket_size = Bytes(400'000);
  const std::vector<Bucket> usual = make_buckets(make_model_graph(plan), plan, StageIndex(0));
  plan.first_bucket_size = Bytes(1'000);
  const std::vector<Bucket> early = make_buckets(make_model_graph(plan), plan, StageIndex(0));
  EXPECT_LT(early.front().elements, usual.front().elements);
  EXPECT_GT(early.front().ready_after, usual.front().ready_after);
  EXPECT_LE(early[1].elements * 4, 400'000 + 4 * 64 * 2);
  EXPECT_GT(early[1].elements, early.front().elements);
}

TEST(Buckets, EndWithTheTensorThatReachesTheirSizeWhereTheProgramFillsThem) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.bucket_size = Bytes(40'000);
  const auto sizes = [&] {
    std::vector<std::pair<std::int64_t, std::int64_t>> all;  // of a bucket, and of its last tensor
    for (const Bucket& bucket : make_buckets(make_model_graph(plan), plan, StageIndex(0)))
      all.emplace_back(bucket.elements * 4, bucket.slots.back().elements * 4);
    return all;
  };
  for (const auto& [bucket, last] : sizes()) EXPECT_LE(bucket, std::max<std::int64_t>(40'000, last + 1024));
  plan.cluster.software.own_memory = plan.cluster.software.fills_buckets = true;
  const auto filled = sizes();
  for (std::size_t at = 0; at + 1 < filled.size(); ++at) {
    EXPECT_GE(filled[at].first, 40'000);
    EXPECT_LT(filled[at].first - filled[at].second, 40'000 + 1024);
  }
}

TEST(Buckets, TiedEmbeddingOfTwoStagesStandsAloneOnBoth) {
  const ParallelPlan plan = testing::tiny_plan({.data = 1, .pipeline = 2, .tensor = 1});
  const ModelGraph model = make_model_graph(plan);
  for (const StageIndex stage : {StageIndex(0), StageIndex(1)}) {
    const Bucket last = make_buckets(model, plan, stage).back();
    EXPECT_TRUE(last.tied);
    ASSERT_EQ(last.slots.size(), 1u);
    EXPECT_EQ(last.slots.front().elements, 256 * 64);
  }
}

TEST(ShardingStrategies, EachStageShardsMore) {
  int before = -1;
  for (const ShardingStrategy& strategy : all_sharding_strategies()) {
    const int sharded = strategy.shards_optimizer + strategy.shards_gradients + strategy.shards_parameters;
    EXPECT_GT(sharded, before);
    before = sharded;
  }
}

TEST(Buckets, FrozenWeightsStandByThemselves) {
  for (const std::int32_t zero : {0, 3}) {
    ParallelPlan plan = testing::tiny_plan({.data = 2});
    std::vector<Violation> wrong;
    plan.model.adapters = parse_adapters("rank 4 on qkv,o base nf4", wrong);
    plan.zero_stage = zero;
    const ModelGraph model = make_model_graph(plan);
    std::int64_t trained = 0, matrices = 0;
    Bytes gathered{};
    for (const Bucket& bucket : make_buckets(model, plan, StageIndex(0)))
      for (const BucketSlot& slot : bucket.slots) {
        EXPECT_EQ(slot.frozen, bucket.frozen);
        if (!slot.frozen) trained += slot.elements;
        if (slot.frozen && slot.is_matrix_of_block) matrices += slot.elements, gathered += gathered_bytes(plan, slot);
      }
    EXPECT_EQ(trained, 4 * 4 * (64 + 192 + 64 + 64));
    EXPECT_NEAR(static_cast<double>(gathered.value()) / static_cast<double>(matrices), 0.516, 0.001);
  }
}

}  // namespace
}  // namespace sim
