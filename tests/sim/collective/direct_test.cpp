#include "sim/collective/direct.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

TEST(Direct, AllReduceIsOneExchangeThenOneGather) {
  const auto runs = kDirectAlgorithm.phases({CollectiveKind::AllReduce, 4, Bytes(400)});
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[0].repeat, 1);
  EXPECT_EQ(runs[0].phase, (CollectivePhase{.messages = 3, .bytes_sent = Bytes(300), .bytes_reduced = Bytes(400)}));
  EXPECT_EQ(runs[1].repeat, 1);
  EXPECT_EQ(runs[1].phase, (CollectivePhase{.messages = 3, .bytes_sent = Bytes(300), .bytes_reduced = Bytes(0)}));
}

TEST(Direct, PadsAnUnevenPayload) {
  const auto runs = kDirectAlgorithm.phases({CollectiveKind::ReduceScatter, 3, Bytes(10)});
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0].phase, (CollectivePhase{.messages = 2, .bytes_sent = Bytes(8), .bytes_reduced = Bytes(12)}));
}

TEST(Direct, BroadcastsWholeCopies) { EXPECT_EQ(bytes_on_wire(kDirectAlgorithm, {CollectiveKind::Broadcast, 5, Bytes(10)}), Bytes(40)); }

TEST(Direct, SendsOneMessageBetweenTwo) {
  EXPECT_EQ(bytes_on_wire(kDirectAlgorithm, {CollectiveKind::SendReceive, 2, Bytes(10)}), Bytes(10));
  EXPECT_TRUE(kDirectAlgorithm.why_unsupported({CollectiveKind::SendReceive, 3, Bytes(10)}));
}

}  // namespace
}  // namespace sim
