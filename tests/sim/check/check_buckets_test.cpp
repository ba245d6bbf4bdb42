// The rules on buckets, each shown able to fail.
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using testing::says;

GraphParts small_buckets() {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.bucket_size = Bytes(1 << 14);
  return GraphParts(plan);
}

TEST(CheckBuckets, AParameterLeftOut) {
  GraphParts parts = small_buckets();
  parts.buckets[0][1].slots.pop_back();
  EXPECT_THAT(parts.findings(), says("is in no bucket"));
}

TEST(CheckBuckets, AParameterTwice) {
  GraphParts parts = small_buckets();
  parts.buckets[0][1].slots.push_back(parts.buckets[0][0].slots.front());
  EXPECT_THAT(parts.findings(), says("are not there, or are there twice"));
}

TEST(CheckBuckets, ASlotOffByOne) {
  GraphParts parts = small_buckets();
  parts.buckets[0][0].slots.back().offset += 1;
  EXPECT_THAT(parts.findings(), says("overlaps, or is not aligned"));
}

TEST(CheckBuckets, SlotsThatOverlap) {
  GraphParts parts = small_buckets();
  parts.buckets[0][0].slots.back().offset = 0;
  parts.buckets[0][0].slots.front().elements += kSlotAlignment;
  EXPECT_THAT(parts.findings(), says("overlaps"));
}

TEST(CheckBuckets, ShardsThatDoNotAddUp) {
  GraphParts parts = small_buckets();
  parts.buckets[0][0].shard_elements -= 1;
  EXPECT_THAT(parts.findings(), says("in 2 shards of"));
}

TEST(CheckBuckets, ReadyTooEarly) {
  GraphParts parts = small_buckets();
  parts.buckets[0].back().ready_after = LayerIndex(3);
  EXPECT_THAT(parts.findings(), says("is ready after layer 3"));
}

GraphParts dealt_buckets() {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  plan.bucket_size = Bytes(1 << 16);
  plan.zero_stage = 2;
  plan.state_shards = StateShards::Tensors;
  plan.weight_sync = WeightSync::Broadcast;
  return GraphParts(plan);
}

TEST(CheckBuckets, ATensorOfTwoOwners) {
  GraphParts parts = dealt_buckets();
  EXPECT_THAT(parts.findings(), ::testing::IsEmpty());
  Bucket& bucket = parts.buckets[0][0];
  bucket.first_of[1] += 1;
  EXPECT_THAT(parts.findings(), says("is of two owners"));
}

TEST(CheckBuckets, OwnersThatDoNotCoverTheBucket) {
  GraphParts parts = dealt_buckets();
  parts.buckets[0][0].first_of.back() -= kSlotAlignment;
  EXPECT_THAT(parts.findings(), says("are not those of 2 owners"));
}

TEST(CheckBuckets, AnOwnerWhoHadMoreThanAnother) {
  GraphParts parts = dealt_buckets();
  for (Bucket& bucket : parts.buckets[0]) {  // all of it to the first
    bucket.first_of = {0, bucket.elements, bucket.elements};
    bucket.fullest = 0;
    bucket.shard_elements = bucket.elements;
  }
  EXPECT_THAT(parts.findings(), says("while another owns 0"));
}

TEST(CheckBuckets, SlicesWhereTensorsAreDealt) {
  GraphParts parts = dealt_buckets();
  parts.buckets[0][0].first_of.clear();
  EXPECT_THAT(parts.findings(), says("tensors are cut in even slices"));
}

TEST(CheckBuckets, AnOwnerThatSendsNothing) {
  GraphParts parts = dealt_buckets();
  parts.drop(parts.find("step.broadcast.data"));
  EXPECT_THAT(parts.findings(), says("of rank 0 is missing"));
}

}  // namespace
}  // namespace sim
