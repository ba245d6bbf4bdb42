// The rules on sends and receives, each shown able to fail.
#include "tests/sim/check/graph_parts.h"
#include "tests/sim/model/pairs.h"

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

GraphParts straight_parts() {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 4});
  plan.model = small_pair("bart", {.layers = 2, .decoder_layers = 2});
  plan.cut.first = {LayerIndex(0), LayerIndex(2), LayerIndex(3), LayerIndex(5)};
  plan.direct_source = true;
  return GraphParts(plan, Fold::Symmetric);
}

// The encoder ends with layer 2: what it puts out goes to the last stage by itself, and back.
TEST(CheckTransfers, ASourceThatGoesToNobody) {
  GraphParts parts = straight_parts();
  EXPECT_THAT(parts.findings(), ::testing::IsEmpty());
  parts.drop(parts.find("forward.receive.pipeline.3"));
  EXPECT_THAT(parts.findings(), says("nobody receives s1.c0.m0.l2.forward.send.pipeline.3 of rank 1"));
}

TEST(CheckTransfers, ASourceWhoseGradientGoesToTheNeighbour) {
  GraphParts parts = straight_parts();
  parts.task("m1.l5.backward.send.pipeline.3").key.sequence = 2;
  EXPECT_THAT(parts.findings(), says("nobody sends what s1.c0.m1.l2.backward.receive.pipeline.3 of rank 1 awaits"));
}

}  // namespace
}  // namespace sim
