#include "sim/check/expected_work.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

std::vector<std::string> names(const std::vector<ExpectedTask>& tasks) {
  std::vector<std::string> texts;
  for (const ExpectedTask& task : tasks) texts.push_back(to_text(task.key));
  return texts;
}

// One block, one microbatch, one process: written out by hand.
TEST(ExpectedWork, OfTheSmallestPlan) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.layers = 1;
  plan.microbatch_size = 8;
  plan.recompute = Recompute::Full;
  const ModelGraph model = make_model_graph(plan);
  const auto tasks = expected_work(model, plan, StageIndex(0), make_buckets(model, plan, StageIndex(0)));
  EXPECT_THAT(names(tasks), ::testing::ElementsAre("s0.c0.m0.l0.forward.embedding.none.0", "s0.c0.m0.l1.forward.attention.none.0",
                                                   "s0.c0.m0.l1.forward.mlp.none.0", "s0.c0.m0.l2.forward.head.none.0",
                                                   "s0.c0.m0.l2.backward.head.none.0", "s0.c0.m0.l1.recompute.attention.none.0",
                                                   "s0.c0.m0.l1.recompute.mlp.none.0", "s0.c0.m0.l1.backward.mlp.none.0",
                                                   "s0.c0.m0.l1.backward.attention.none.0", "s0.c0.m0.l0.backward.embedding.none.0",
                                                   "s0.c-.m-.l-.step.norm_part.none.0", "s0.c-.m-.l0.step.update.none.0"));
  for (std::size_t at = 0; at < tasks.size(); ++at)
    for (const std::size_t before : tasks[at].after) EXPECT_LT(before, at);
  EXPECT_THAT(tasks[7].after, ::testing::UnorderedElementsAre(2, 4, 6));  // a backward waits for its forward, its gradient, and recomputing
}

// One block in two slices: the second reads what the first has left, and goes backward before it.
TEST(ExpectedWork, OfSlices) {
  ParallelPlan plan = testing::tiny_plan();
  plan.model.layers = 1;
  plan.microbatch_size = 8;
  plan.slices = 2;
  const ModelGraph model = make_model_graph(plan);
  const auto tasks = expected_work(model, plan, StageIndex(0), make_buckets(model, plan, StageIndex(0)));
  const std::vector<std::string> all = names(tasks);
  const auto at = [&](const std::string& name) {
    const auto found = std::find(all.begin(), all.end(), "s0.c0.m0.l1." + name + ".none.0");
    EXPECT_NE(found, all.end()) << name;
    return static_cast<std::size_t>(found - all.begin());
  };
  const std::vector<std::size_t> forward = tasks[at("forward@1.attention_scores")].after;
  EXPECT_THAT(forward, ::testing::UnorderedElementsAre(at("forward@1.attention_input"), at("forward@0.mlp")));
  const std::vector<std::size_t> backward = tasks[at("backward@0.attention_scores")].after;
  EXPECT_THAT(backward, ::testing::UnorderedElementsAre(at("backward@0.attention_output"), at("backward@1.attention_input")));
  EXPECT_THAT(tasks[at("forward@0.attention_scores")].after, ::testing::ElementsAre(at("forward@0.attention_input")));
  EXPECT_THAT(tasks[at("backward@1.attention_scores")].after, ::testing::ElementsAre(at("backward@1.attention_output")));
}

TEST(ExpectedWork, SequenceParallelMirrors) {
  ParallelPlan plan = testing::tiny_plan({.tensor = 2});
  plan.sequence_parallel = true;
  const ModelGraph model = make_model_graph(plan);
  int gathers = 0, scatters = 0, sums = 0;
  Bytes gathered{}, scattered{};
  for (const ExpectedTask& task : expected_work(model, plan, StageIndex(0), make_buckets(model, plan, StageIndex(0)))) {
    if (task.key.operation == Operation::AllGather) ++gathers, gathered += task.payload;
    if (task.key.operation == Operation::ReduceScatter) ++scatters, scattered += task.payload;
    sums += task.key.operation == Operation::AllReduce && task.key.phase == Phase::Gradients;
  }
  // 8 microbatches, 4 blocks with 2 + 2 of each; the embedding scatters forward and gathers backward, the head the other way around.
  EXPECT_EQ(gathers, 8 * (4 * 4 + 2));
  EXPECT_EQ(scatters, gathers);
  EXPECT_EQ(gathered, scattered);
  EXPECT_EQ(sums, 1);
}

TEST(ExpectedWork, AnyMicrobatchMayCarryALastReduction) {
  ParallelPlan plan = testing::tiny_plan({.data = 2});
  const TaskKey key{.stage = StageIndex(0),
                    .microbatch = MicrobatchIndex(7),
                    .phase = Phase::Gradients,
                    .operation = Operation::AllReduce,
                    .group = MeshAxis::Data};
  EXPECT_FALSE(expected_form(key, plan).microbatch.exists());
  plan.accumulation = Accumulation::ReduceEach;
  EXPECT_EQ(expected_form(key, plan), key);
}

}  // namespace
}  // namespace sim
