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

}  // namespace
}  // namespace sim
