// Whole tensors on data ranks, as FairScale's OSS deals them out.
#include "sim/sharding/owners.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

ParallelPlan dealt_plan(DeviceMesh mesh, std::int32_t stage) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.zero_stage = stage;
  plan.state_shards = StateShards::Tensors;
  plan.bucket_size = Bytes(40'000);
  return plan;
}

using Place = std::pair<LayerIndex, std::int32_t>;

// As the buckets say it.
std::map<Place, std::int32_t> owners_of(const std::vector<Bucket>& buckets) {
  std::map<Place, std::int32_t> owners;
  for (const Bucket& bucket : buckets)
    for (std::int32_t shard = 0; shard < bucket.shards; ++shard)
      for (const BucketSlot& slot : bucket.slots) {
        const ShardRange owned = range_of(bucket, shard);
        if (slot.offset >= owned.begin && slot.offset + slot.elements <= owned.end()) owners[{slot.layer, slot.parameter}] = shard;
      }
  return owners;
}

// fairscale/optim/oss.py, partition_parameters: no sorting, argmin of the sizes so far.
TEST(Owners, EachTensorGoesToTheLeastLoadedRankInTheModelsOrder) {
  for (const std::int32_t ranks : {2, 3, 4, 8}) {
    const ParallelPlan plan = dealt_plan({.data = ranks}, 1);
    const ModelGraph model = make_model_graph(plan);
    const std::map<Place, std::int32_t> owners = owners_of(make_buckets(model, plan, StageIndex(0)));
    std::vector<std::int64_t> sizes(count_of(ranks));
    for (LayerIndex layer{0}; layer <= model.head(); ++layer) {
      const std::vector<Parameter> parameters = parameters_of(model, plan, layer);
      for (std::size_t at = 0; at < parameters.size(); ++at) {
        const auto least = std::min_element(sizes.begin(), sizes.end());
        EXPECT_EQ(owners.at({layer, static_cast<std::int32_t>(at)}), least - sizes.begin()) << layer.value() << " " << at;
        *least += parameters[at].elements();
      }
    }
  }
}

TEST(Owners, FrozenTensorsCountOne) {
  ParallelPlan plan = dealt_plan({.data = 2}, 1);
  std::vector<Violation> wrong;
  plan.model.adapters = parse_adapters("rank 4 on q,k,v,o", wrong);
  const ModelGraph model = make_model_graph(plan);
  std::int64_t least = 0, most = 0;
  for (std::int32_t shard : {0, 1}) {
    std::int64_t owned = 0;
    for (const Bucket& bucket : make_buckets(model, plan, StageIndex(0)))
      if (!bucket.frozen) owned += range_of(bucket, shard).count;
    (shard == 0 ? least : most) = owned;
  }
  EXPECT_GT(std::min(least, most), 0);
  EXPECT_LT(std::max(least, most), 2 * std::min(least, most));  // were frozen matrices counted, all pairs might go to one rank
}

TEST(Owners, ShardsCoverABucketAndTearNoTensor) {
  for (const DeviceMesh mesh : {DeviceMesh{.data = 2}, DeviceMesh{.data = 8}, DeviceMesh{.data = 3, .pipeline = 2, .tensor = 2}})
    for (const std::int32_t stage : {1, 2}) {
      const ParallelPlan plan = dealt_plan(mesh, stage);
      const ModelGraph model = make_model_graph(plan);
      for (StageIndex at{0}; at.value() < mesh.pipeline; ++at) {
        const std::vector<Bucket> buckets = make_buckets(model, plan, at);
        std::size_t slots = 0;
        for (const Bucket& bucket : buckets) {
          slots += bucket.slots.size();
          std::int64_t end = 0;
          for (std::int32_t shard = 0; shard < bucket.shards; ++shard) {
            EXPECT_EQ(range_of(bucket, shard).begin, end);
            EXPECT_EQ(end % kSlotAlignment, 0);
            end = range_of(bucket, shard).end();
          }
          EXPECT_EQ(end, bucket.elements);
        }
        EXPECT_EQ(owners_of(buckets).size(), slots);
      }
    }
}

// What ranks wait for, and what memory is judged by.
TEST(Owners, TheFullestOwnersShareStandsForAll) {
  const ParallelPlan plan = dealt_plan({.data = 3}, 2);
  std::map<std::int32_t, std::int64_t> owned;
  std::int64_t fullest = 0;
  for (const Bucket& bucket : make_buckets(make_model_graph(plan), plan, StageIndex(0))) {
    fullest += bucket.shard_elements;
    for (std::int32_t shard = 0; shard < bucket.shards; ++shard) owned[shard] += range_of(bucket, shard).count;
  }
  for (const auto& [shard, elements] : owned) EXPECT_LE(elements, fullest + 64 * kSlotAlignment) << shard;
  EXPECT_GT(fullest, owned[0] + owned[1] + owned[2] - 3 * fullest);
}

// Muon keeps one moment of a matrix and two of the rest: most elements are not most bytes.
TEST(Owners, MuonDealsWithoutBeingAsked) {
  ParallelPlan plan = testing::tiny_plan({.data = 4});
  const ModelGraph model = make_model_graph(plan);
  const auto dealt = [&](OptimizerKind optimizer, std::int32_t stage) {
    plan.workload.optimizer = optimizer;
    plan.zero_stage = stage;
    return deals_tensors(plan) && !make_buckets(model, plan, StageIndex(0)).front().first_of.empty();
  };
  EXPECT_TRUE(dealt(OptimizerKind::Muon, 1));
  EXPECT_TRUE(dealt(OptimizerKind::Muon, 2));
  EXPECT_FALSE(dealt(OptimizerKind::Muon, 0));
  EXPECT_FALSE(dealt(OptimizerKind::AdamW, 1));
}

TEST(Owners, CastWeightsTravelIn16Bit) {
  ParallelPlan plan = dealt_plan({.data = 2}, 1);
  const Bucket bucket = make_buckets(make_model_graph(plan), plan, StageIndex(0)).front();
  const ShardRange owned = range_of(bucket, bucket.fullest);
  EXPECT_EQ(sent_bytes(plan, bucket, owned), Bytes(4 * owned.count));
  plan.weight_sync = WeightSync::BroadcastFp16;
  EXPECT_EQ(sent_bytes(plan, bucket, owned), Bytes(2 * owned.count));
}

}  // namespace
}  // namespace sim
