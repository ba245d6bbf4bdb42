// The rules on sends and receives, each shown able to fail.
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using testing::says;

GraphParts two_stage_parts(Fold fold = Fold::Symmetric) { return GraphParts(testing::tiny_plan({.data = 2, .pipeline = 2}), fold); }

TEST(CheckTransfers, ASendThatNobodyReceives) {
  GraphParts parts = two_stage_parts();
  parts.drop(parts.find("m1.l3.forward.receive"));
  EXPECT_THAT(parts.findings(), says("nobody receives s0.c0.m1.l2.forward.send.pipeline.0 of rank 0"));
}

TEST(CheckTransfers, AReceiveThatNobodySends) {
  GraphParts parts = two_stage_parts();
  parts.drop(parts.find("m1.l3.backward.send"));
  EXPECT_THAT(parts.findings(), says("nobody sends what s0.c0.m1.l2.backward.receive.pipeline.0 of rank 0 awaits"));
}

TEST(CheckTransfers, AReceiveThatDoesNotWait) {
  GraphParts parts = two_stage_parts();
  parts.cut_edges_to(parts.find("m1.l3.forward.receive"));
  EXPECT_THAT(parts.findings(), says("m1.l3.forward.receive.pipeline.0 of rank 2 does not wait for its send"));
}

TEST(CheckTransfers, OtherBytes) {
  GraphParts parts = two_stage_parts();
  parts.task("m1.l3.forward.receive").payload += Bytes(1);
  EXPECT_THAT(parts.findings(), says("carry different bytes"));
}

TEST(CheckTransfers, ThePipelineOfAnotherDataRank) {
  GraphParts parts = two_stage_parts(Fold::None);
  const std::size_t send = parts.find("m1.l2.forward.send", 0), other = parts.find("m1.l2.forward.send", 1);
  for (auto& [from, to] : parts.edges)
    if (parts.tasks[to].key.operation == Operation::Receive && (from == send || from == other)) from = from == send ? other : send;
  EXPECT_THAT(parts.findings(), says("does not wait for its send"));
}

TEST(CheckTransfers, AnotherPeer) {
  GraphParts parts = two_stage_parts(Fold::None);
  parts.task("m1.l2.forward.send").peer = DeviceId(3);
  EXPECT_THAT(parts.findings(), says("name other peers"));
}

}  // namespace
}  // namespace sim
