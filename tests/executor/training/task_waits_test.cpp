#include "executor/training/task_waits.h"

#include "tests/executor/training/tiny_training.h"

namespace executor {
namespace {

// Gathers before the computing that needs them, reductions behind the gradients that they reduce.
TEST(TaskWaits, AreTheGraphsEdgesBetweenStreams) {
  sim::ParallelPlan plan = tiny_plan({.data = 2});
  plan.zero_stage = 3;
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const sim::TaskGraph graph = sim::lower(model, plan);
  const std::vector<sim::Task> slice = sim::rank_slice(graph, plan, sim::Rank(1));
  const std::vector<TaskWaits> waits = waits_of_slice(graph, plan, sim::Rank(1));
  ASSERT_EQ(waits.size(), slice.size());
  std::size_t gathers_waited_for = 0, reductions_that_wait = 0;
  for (std::size_t at = 0; at < slice.size(); ++at) {
    for (const std::size_t before : waits[at].before) {
      EXPECT_LT(before, at);
      EXPECT_TRUE(waits[before].is_waited_for);
      EXPECT_NE(device_stream(slice[before].stream), device_stream(slice[at].stream));
      gathers_waited_for += slice[before].key.operation == sim::Operation::AllGather && slice[at].stream == sim::Stream::Compute;
    }
    reductions_that_wait += slice[at].key.operation == sim::Operation::ReduceScatter && !waits[at].before.empty();
  }
  EXPECT_GT(gathers_waited_for, 4U);
  EXPECT_GT(reductions_that_wait, 2U);
}

TEST(TaskWaits, SumsOverTensorRanksStandInTheStreamOfComputing) {
  EXPECT_EQ(device_stream(sim::Stream::Tensor), DeviceStream::Compute);
  sim::ParallelPlan plan = tiny_plan({.tensor = 2});
  const sim::TaskGraph graph = sim::lower(sim::make_model_graph(plan), plan);
  std::size_t waiting = 0;
  for (const TaskWaits& waits : waits_of_slice(graph, plan, sim::Rank(0))) waiting += waits.before.size();
  EXPECT_EQ(waiting, 2U) << "the step's sum over all ranks, and what follows it";
}

}  // namespace
}  // namespace executor
