#include "sim/task_graph/stage_program.h"

#include <gmock/gmock.h>

#include "sim/units/at.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

StageProgram program_of(const ParallelPlan& plan, StageIndex stage) {
  const ModelGraph model = make_model_graph(plan);
  return make_stage_program(model, plan, stage, make_buckets(model, plan, stage));
}

TEST(StageProgram, EdgesPointForwardInIssueOrder) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 2});
  plan.zero_stage = 3;
  plan.recompute = Recompute::Full;
  for (const auto& [before, after] : program_of(plan, StageIndex(1)).edges) EXPECT_LT(before, after);
}

TEST(StageProgram, PrefetchIssuesTheNextGathersBeforeThisLayerComputes) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1});
  plan.zero_stage = 3;
  const auto gathers_before_first_compute = [&] {
    int gathers = 0;
    for (const Task& task : program_of(plan, StageIndex(0)).tasks) {
      if (task.stream == Stream::Compute) break;
      gathers += task.key.operation == Operation::AllGather;
    }
    return gathers;
  };
  EXPECT_EQ(gathers_before_first_compute(), 2);
  for (plan.prefetch = 0; plan.prefetch <= kMostPrefetched; ++plan.prefetch) EXPECT_EQ(gathers_before_first_compute(), 1 + plan.prefetch);
}

// A forward that runs beside a backward computes while that one exchanges, and the other way round.
TEST(StageProgram, TokensAreExchangedBesideAnotherMicrobatch) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1, .expert = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  plan.workload.global_batch = 4;
  plan.microbatch_size = 1;
  plan.expert_overlap = true;
  std::vector<std::string> order;  // of the pair B0 F1, a word a task; runs of the same word once
  for (const Task& task : program_of(plan, StageIndex(0)).tasks) {
    const bool is_backward = task.key.phase == Phase::Backward && task.key.microbatch == MicrobatchIndex(0);
    const bool is_forward = task.key.phase == Phase::Forward && task.key.microbatch == MicrobatchIndex(1);
    if (!is_backward && !is_forward) continue;
    const std::string word = std::string(is_backward ? "B" : "F") + (task.stream == Stream::Exchange ? " exchanges" : "");
    if (order.empty() || order.back() != word) order.push_back(word);
  }
  ASSERT_GE(order.size(), 9u);
  EXPECT_THAT(std::vector(order.begin(), order.begin() + 9),
              ::testing::ElementsAre("B", "B exchanges", "F", "F exchanges", "B", "B exchanges", "F", "F exchanges", "B"));
  EXPECT_EQ(order.back(), "F") << "the forward ends last: what is sent on waits for both";
}

// Of each backward, beside another action or alone: gradients of weights behind the exchange that goes on without them, and all of them once.
TEST(StageProgram, WeightsComeBesideExchanges) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 1, .expert = 2});
  plan.model.experts = ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
  plan.workload.global_batch = 4;
  plan.microbatch_size = 1;
  plan.expert_overlap = plan.delay_wgrad = true;
  const LayerIndex last(static_cast<std::int32_t>(plan.model.layers));
  const StageProgram program = program_of(plan, StageIndex(0));
  for (MicrobatchIndex m(0); m.value() < 2; ++m) {
    using enum Operation;
    std::vector<std::pair<Phase, Operation>> order;
    for (const Task& task : program.tasks)
      if (task.key.microbatch == m && task.key.layer == last && (task.key.phase == Phase::Backward || task.key.phase == Phase::Weight))
        order.emplace_back(task.key.phase, task.key.operation);
    const Phase back = Phase::Backward, weight = Phase::Weight;
    EXPECT_THAT(
        order, ::testing::ElementsAre(::testing::Pair(back, ExpertOutput), ::testing::Pair(back, AllToAll), ::testing::Pair(back, Experts),
                                      ::testing::Pair(back, AllToAll), ::testing::Pair(weight, Experts), ::testing::Pair(back, ExpertInput),
                                      ::testing::Pair(back, Attention), ::testing::Pair(weight, Attention)));
  }
  for (const auto& [before, after] : program.edges)
    EXPECT_NE(sim::at(program.tasks, after).key.phase, Phase::Weight) << "waits for an exchange that it is to hide";
}

}  // namespace
}  // namespace sim
