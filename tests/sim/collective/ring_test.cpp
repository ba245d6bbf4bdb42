#include "sim/collective/ring.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(Ring, SumsEachArrivalWithTheOwnPiece) {
  const auto runs = kRingAlgorithm.phases({CollectiveKind::ReduceScatter, 4, Bytes(400)});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].repeat, 3);
  EXPECT_EQ(runs[0].phase, (CollectivePhase{.messages = 1, .bytes_sent = Bytes(100), .bytes_reduced = Bytes(200)}));
}

TEST(Ring, GathersWithoutSumming) {
  const auto runs = kRingAlgorithm.phases({CollectiveKind::AllGather, 4, Bytes(400)});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].repeat, 3);
  EXPECT_EQ(runs[0].phase, (CollectivePhase{.messages = 1, .bytes_sent = Bytes(100), .bytes_reduced = Bytes(0)}));
}

TEST(Ring, PadsAnUnevenPayload) { EXPECT_EQ(bytes_on_wire(kRingAlgorithm, {CollectiveKind::AllReduce, 3, Bytes(10)}), Bytes(2 * 2 * 4)); }

TEST(Ring, CarriesNoBroadcast) {
  EXPECT_TRUE(kRingAlgorithm.why_unsupported({CollectiveKind::Broadcast, 4, Bytes(8)}));
  EXPECT_TRUE(kRingAlgorithm.why_unsupported({CollectiveKind::SendReceive, 2, Bytes(8)}));
  EXPECT_FALSE(kRingAlgorithm.why_unsupported({CollectiveKind::AllGather, 4, Bytes(8)}));
}

}  // namespace
}  // namespace sim
