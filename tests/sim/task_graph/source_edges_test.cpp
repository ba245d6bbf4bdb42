#include "sim/task_graph/source_edges.h"

#include <gmock/gmock.h>

#include "sim/task_graph/task_graph.h"
#include "tests/sim/model/pairs.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Embedding, two blocks of an encoder, four of a decoder (each layer two), head; 8 tokens of the source and 24 of the target, fp32, hidden 64.
ParallelPlan straight_plan(std::vector<std::int32_t> first) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = static_cast<std::int32_t>(first.size())});
  plan.model = small_pair("bart", {.layers = 2, .decoder_layers = 2});
  plan.model.source_tokens = 8;
  plan.cut.first.clear();
  for (const std::int32_t layer : first) plan.cut.first.emplace_back(layer);
  plan.direct_source = true;
  return plan;
}

TEST(SourceEdges, GoToReadersBehindTheNextStage) {
  const SourceEdges edges = source_edges(straight_plan({0, 2, 3, 5, 7}));
  EXPECT_EQ(edges.from, StageIndex(1));
  EXPECT_THAT(edges.readers, ElementsAre(StageIndex(3))) << "2 is a neighbour, and the head reads nothing of the source";
  EXPECT_EQ(edges.rows, Bytes(straight_plan({0}).microbatch_size * 8 * 64 * 4));
  EXPECT_FALSE(edges.leave_out(StageIndex(1)));
  EXPECT_TRUE(edges.leave_out(StageIndex(2)));
  EXPECT_THAT(source_edges(straight_plan({0, 4})).readers, IsEmpty());
}

TEST(SourceEdges, AreNoneUnlessAskedFor) {
  ParallelPlan plan = straight_plan({0, 2, 3, 5, 7});
  plan.direct_source = false;
  EXPECT_FALSE(source_edges(plan).from.exists());
}

// What crosses: as much to a reader by itself as its neighbour no longer passes on.
TEST(SourceEdges, MessagesBehindTheEncoderHoldTheTarget) {
  const ParallelPlan plan = straight_plan({0, 2, 3, 5, 7});
  const TaskGraph graph = lower(make_model_graph(plan), plan, Fold::Symmetric);
  const Bytes row = plan.bytes(Numbers::Activations) * (plan.microbatch_size * 64);
  int straight = 0;
  for (const Task& task : graph.tasks()) {
    if (task.key.operation != Operation::Receive || task.key.phase == Phase::Step) continue;
    if (is_of_source(task.key)) {
      ++straight;
      EXPECT_EQ(task.payload, row * 8) << to_text(task.key);
      EXPECT_EQ(task.key.stage, StageIndex(task.key.phase == Phase::Forward ? 3 : 1));
      EXPECT_EQ(graph.devices()[task.peer.position()].stage, StageIndex(task.key.phase == Phase::Forward ? 1 : 3));
      continue;
    }
    const std::int32_t front = task.key.stage.value() - (task.key.phase == Phase::Forward ? 1 : 0);
    EXPECT_EQ(task.payload, row * (front > 1 ? 24 : 32)) << to_text(task.key);
  }
  EXPECT_EQ(straight, 2 * plan.num_microbatches());
}

}  // namespace
}  // namespace sim
