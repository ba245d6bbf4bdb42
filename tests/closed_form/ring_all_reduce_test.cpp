// Ring all-reduce in whole phases: 2(n-1) of payload / n, so 2(n-1)/n of the payload on the wire. Exact.
#include <gtest/gtest.h>

#include "sim/collective/collective.h"

namespace sim {
namespace {

TEST(RingAllReduce, TakesTwiceTheOthersInPhases) {
  for (const std::int32_t n : {1, 2, 3, 4, 8, 1000, 1024}) {
    const Bytes payload(n * std::int64_t{12'345});
    const CollectiveShape shape{CollectiveKind::AllReduce, n, payload};
    const CollectiveAlgorithm& ring = *find_collective_algorithm("ring");
    std::int64_t phases = 0;
    for (const PhaseRun& run : ring.phases(shape)) {
      phases += run.repeat;
      EXPECT_EQ(run.phase.bytes_sent, Bytes(12'345));
      EXPECT_EQ(run.phase.messages, 1);
    }
    EXPECT_EQ(phases, 2 * (n - 1));
    EXPECT_EQ(bytes_on_wire(ring, shape).value() * n, 2 * (n - 1) * payload.value());
  }
}

TEST(RingAllReduce, IsReduceScatterThenAllGather) {
  for (const CollectiveAlgorithm& algorithm : all_collective_algorithms())
    for (const std::int32_t n : {1, 2, 3, 7, 64})
      for (const std::int64_t payload : {0LL, 1LL, 1000LL, 1LL << 40}) {
        const auto sent = [&](CollectiveKind kind) { return bytes_on_wire(algorithm, {kind, n, Bytes(payload)}); };
        EXPECT_EQ(sent(CollectiveKind::AllReduce), sent(CollectiveKind::ReduceScatter) + sent(CollectiveKind::AllGather));
      }
}

// Every algorithm that keeps nothing twice moves the same bytes; they differ in phases and messages.
TEST(RingAllReduce, MovesAsMuchAsDirectExchange) {
  for (const std::int32_t n : {2, 3, 8}) {
    const CollectiveShape shape{CollectiveKind::AllReduce, n, Bytes(n * 100)};
    EXPECT_EQ(bytes_on_wire(*find_collective_algorithm("ring"), shape), bytes_on_wire(*find_collective_algorithm("direct"), shape));
  }
}

}  // namespace
}  // namespace sim
