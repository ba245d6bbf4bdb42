#include "sim/collective/collective.h"

#include <gmock/gmock.h>

#include <set>

namespace sim {
namespace {

constexpr CollectiveKind kKinds[] = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather,
                                     CollectiveKind::Broadcast, CollectiveKind::SendReceive};

TEST(Collective, RowsAreNamedAndFound) {
  std::set<std::string_view> names;
  for (const CollectiveAlgorithm& algorithm : all_collective_algorithms()) {
    EXPECT_TRUE(names.insert(algorithm.name).second);
    EXPECT_EQ(find_collective_algorithm(algorithm.name), &algorithm);
    EXPECT_FALSE(algorithm.summary.empty());
    EXPECT_FALSE(algorithm.source.empty());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("ring", "direct"));
  EXPECT_EQ(find_collective_algorithm("carrier pigeon"), nullptr);
}

TEST(Collective, EveryKindHasAnAlgorithm) {
  for (const CollectiveKind kind : kKinds) {
    int able = 0;
    for (const CollectiveAlgorithm& algorithm : all_collective_algorithms()) able += !algorithm.why_unsupported({kind, 2, Bytes(8)});
    EXPECT_GT(able, 0) << static_cast<int>(kind);
  }
}

TEST(Collective, OneRankSendsNothing) {
  for (const CollectiveAlgorithm& algorithm : all_collective_algorithms())
    for (const CollectiveKind kind : kKinds) {
      EXPECT_TRUE(algorithm.phases({kind, 1, Bytes(1 << 20)}).empty());
      EXPECT_EQ(bytes_on_wire(algorithm, {kind, 1, Bytes(1 << 20)}), Bytes(0));
    }
}

// What a rank sends at least: all but its own piece must leave (reduce) or arrive (gather).
TEST(Collective, NothingIsBelowTheBandwidthBound) {
  for (const CollectiveAlgorithm& algorithm : all_collective_algorithms())
    for (const std::int32_t n : {2, 3, 5, 16})
      for (const std::int64_t payload : {1, 7, 64, 1'000'003}) {
        EXPECT_GE(bytes_on_wire(algorithm, {CollectiveKind::ReduceScatter, n, Bytes(payload)}).value() * n, (n - 1) * payload);
        EXPECT_GE(bytes_on_wire(algorithm, {CollectiveKind::AllReduce, n, Bytes(payload)}).value() * n, 2 * (n - 1) * payload);
      }
}

}  // namespace
}  // namespace sim
