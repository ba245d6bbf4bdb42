// The rules on collectives, each shown able to fail.
#include "tests/sim/check/graph_parts.h"

namespace sim {
namespace {

using testing::GraphParts;
using testing::says;

GraphParts replicated_parts(Fold fold = Fold::None) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.bucket_size = Bytes(1 << 14);
  return GraphParts(plan, fold);
}

TEST(CheckCollectives, AMemberThatStaysAway) {
  GraphParts parts = replicated_parts();
  parts.task("step.all_reduce.world", 2).rendezvous = -1;
  EXPECT_THAT(parts.findings(), says("meets 3 devices instead of the 4 of its group"));
  EXPECT_THAT(parts.findings(), says("meets 1 devices instead of the 4 of its group"));
}

TEST(CheckCollectives, StagesMeetThoughTheirRanksAreFolded) {
  GraphParts parts = replicated_parts(Fold::Symmetric);
  parts.task("step.all_reduce.world", 1).rendezvous = -1;
  EXPECT_THAT(parts.findings(), says("meets 1 devices instead of the 2 of its group"));
  parts = replicated_parts(Fold::Symmetric);
  parts.task("gradients.all_reduce.embedding", 0).rendezvous = -1;
  EXPECT_THAT(parts.findings(), says("meets 1 devices instead of the 2 of its group"));
}

TEST(CheckCollectives, TheWrongGroup) {
  GraphParts parts = replicated_parts();
  const std::size_t bucket_of_first = parts.find("gradients.all_reduce.data"),
                    of_last = parts.find("s1.c0.m3.l3.gradients.all_reduce.data");
  std::swap(parts.tasks[bucket_of_first].rendezvous, parts.tasks[of_last].rendezvous);
  EXPECT_THAT(parts.findings(), says("meets 2 devices instead of the 2 of its group"));
}

TEST(CheckCollectives, AnotherCollective) {
  GraphParts parts = replicated_parts();
  parts.task("step.all_reduce.world", 1).payload = Bytes(1);
  EXPECT_THAT(parts.findings(), says("which is another collective"));
}

TEST(CheckCollectives, AnotherOrder) {
  GraphParts parts = replicated_parts();
  const std::size_t first = parts.find("s0.c0.m3.l2.gradients.all_reduce.data.0"),
                    second = parts.find("s0.c0.m3.l1.gradients.all_reduce.data");
  parts.swap(first, second);
  EXPECT_THAT(parts.findings(), says("go through the collectives of their data group in different orders"));
}

TEST(CheckCollectives, AComputingTaskMeetsNobody) {
  GraphParts parts = replicated_parts();
  parts.task("m0.l1.forward.mlp").rendezvous = 0;
  EXPECT_THAT(parts.findings(), says("is no collective"));
}

}  // namespace
}  // namespace sim
