#include "sim/task_graph/task_graph_builder.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

TEST(TaskGraphBuilder, KeepsTheIssueOrderOfEachDevice) {
  TaskGraphBuilder builder;
  const DeviceId first = builder.add_device({.representative = Rank(0), .stage = StageIndex(0)});
  const DeviceId second = builder.add_device({.representative = Rank(1), .stage = StageIndex(1)});
  Task task;
  for (const DeviceId device : {first, second, first}) {
    task.device = device;
    builder.add_task(task);
  }
  const TaskGraph graph = std::move(builder).freeze();
  EXPECT_THAT(graph.issue_order(first), ::testing::ElementsAre(TaskId(0), TaskId(2)));
  EXPECT_THAT(graph.issue_order(second), ::testing::ElementsAre(TaskId(1)));
}

TEST(TaskGraphBuilder, APairIsAnEdgeBetweenPeers) {
  TaskGraphBuilder builder;
  Task task;
  task.device = builder.add_device({.representative = Rank(0), .stage = StageIndex(0)});
  const TaskId sends = builder.add_task(task);
  task.device = builder.add_device({.representative = Rank(1), .stage = StageIndex(1)});
  const TaskId receives = builder.add_task(task);
  builder.pair(sends, receives);
  const TaskGraph graph = std::move(builder).freeze();
  EXPECT_EQ(graph.task(sends).peer, DeviceId(1));
  EXPECT_EQ(graph.task(receives).peer, DeviceId(0));
  EXPECT_EQ(boost::num_edges(graph.edges()), 1u);
}

TEST(TaskGraphBuilder, CountsTheMembersOfAMeeting) {
  TaskGraphBuilder builder;
  Task task;
  task.device = builder.add_device({.representative = Rank(0), .stage = StageIndex(0)});
  const std::int32_t meeting = builder.add_rendezvous();
  builder.join(builder.add_task(task), meeting);
  builder.join(builder.add_task(task), meeting);
  EXPECT_THAT(std::move(builder).freeze().rendezvous_sizes(), ::testing::ElementsAre(2));
}

}  // namespace
}  // namespace sim
