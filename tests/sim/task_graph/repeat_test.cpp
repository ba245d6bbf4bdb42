#include "sim/task_graph/repeat.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

bool has_edge(const TaskGraph& graph, std::int32_t from, std::int32_t to) {
  const auto [begin, end] = boost::adjacent_vertices(static_cast<std::size_t>(from), graph.edges());
  return std::find(begin, end, static_cast<std::size_t>(to)) != end;
}

TEST(Repeat, EachStepIsACopyAndMeetsForItself) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.zero_stage = 1;
  plan.overlap_weight_gather = true;
  const TaskGraph one = lower(make_model_graph(plan), plan, Fold::None), three = repeated(one, {3});
  const auto size = static_cast<std::int32_t>(one.tasks().size());
  ASSERT_EQ(std::ssize(three.tasks()), 3 * size);
  EXPECT_EQ(three.rendezvous_sizes().size(), 3 * one.rendezvous_sizes().size());
  for (std::int32_t at = 0; at < size; ++at) {
    const Task &first = one.task(TaskId(at)), &last = three.task(TaskId(2 * size + at));
    EXPECT_EQ(first.key, last.key);
    const std::int64_t meeting = first.rendezvous < 0 ? -1 : first.rendezvous + 2 * std::ssize(one.rendezvous_sizes());
    EXPECT_EQ(last.rendezvous, meeting);
  }
  ASSERT_FALSE(one.edges_between_steps().empty());
  for (const auto& [before, after] : one.edges_between_steps()) {
    EXPECT_TRUE(has_edge(three, before.value(), size + after.value()));
    EXPECT_TRUE(has_edge(three, size + before.value(), 2 * size + after.value()));
  }
  EXPECT_EQ(three.issue_order(DeviceId(1)).size(), 3 * one.issue_order(DeviceId(1)).size());
}

TEST(Repeat, AStepStandsBehindTheEndOfTheOneBefore) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 2});
  plan.zero_stage = 1;
  plan.overlap_weight_gather = true;
  const TaskGraph one = lower(make_model_graph(plan), plan, Fold::None);
  ASSERT_TRUE(steps_meet(one));
  const MetStep met = behind_meeting(one);
  const auto front = static_cast<std::int32_t>(met.front.size());
  ASSERT_EQ(std::ssize(met.graph.tasks()), front + std::ssize(one.tasks()));
  for (std::int32_t task = 0; task < front; ++task) {
    EXPECT_EQ(met.graph.task(TaskId(task)).key.operation, Operation::Update);
    EXPECT_EQ(met.graph.task(TaskId(task)).key, one.task(TaskId(met.front[static_cast<std::size_t>(task)])).key);
  }
  for (const auto& [update, gather] : one.edges_between_steps()) {
    const auto copy = std::find(met.front.begin(), met.front.end(), update.value()) - met.front.begin();
    EXPECT_TRUE(has_edge(met.graph, static_cast<std::int32_t>(copy), front + gather.value()));
  }
  EXPECT_EQ(one.task(meeting_of(one, DeviceId(3))).key.group, MeshAxis::World);
}

TEST(Repeat, StepsThatCrossTheNormDoNotMeet) {
  ParallelPlan plan = testing::tiny_plan({.pipeline = 2});
  plan.cluster.hardware.overlaps_communication = true;
  plan.post_validation = PostValidation::Copies;
  EXPECT_FALSE(steps_meet(lower(make_model_graph(plan), plan)));
  plan.post_validation = PostValidation::None;
  EXPECT_FALSE(steps_meet(lower(make_model_graph(plan), plan)));  // they end at a barrier
}

}  // namespace
}  // namespace sim
