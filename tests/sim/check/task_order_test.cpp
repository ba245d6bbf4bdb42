#include "sim/check/task_order.h"

#include <gmock/gmock.h>

#include "sim/task_graph/task_graph_builder.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

struct Builder {
  TaskGraphBuilder graph;
  TaskId add(DeviceId device, std::int32_t number, Stream stream = Stream::Compute) {
    Task task;
    task.key = {.stage = StageIndex(device.value()), .microbatch = MicrobatchIndex(number), .operation = Operation::Mlp};
    task.device = device;
    task.stream = stream;
    return graph.add_task(task);
  }
  DeviceId device(std::int32_t rank) { return graph.add_device({.representative = Rank(rank), .stage = StageIndex(rank)}); }
};

TEST(TaskOrder, ByStreamEdgeAndBoth) {
  Builder builder;
  const DeviceId device = builder.device(0);
  const TaskId a = builder.add(device, 0), b = builder.add(device, 1), sum = builder.add(device, 2, Stream::Reduce),
               c = builder.add(device, 3);
  builder.graph.add_edge(a, sum);
  const TaskGraph graph = std::move(builder.graph).freeze();
  const TaskOrder order(graph, StreamOrder::Overlapping);
  EXPECT_EQ(order.circle(), "");
  EXPECT_TRUE(order.is_before(a, c));
  EXPECT_TRUE(order.is_before(a, sum));
  EXPECT_FALSE(order.is_before(b, sum));
  EXPECT_FALSE(order.is_before(sum, c));
  EXPECT_FALSE(order.is_before(c, a));
  EXPECT_FALSE(order.is_before(a, a));
}

TEST(TaskOrder, NamesACircle) {
  Builder builder;
  const DeviceId first = builder.device(0), second = builder.device(1);
  const TaskId a = builder.add(first, 0), b = builder.add(first, 1), c = builder.add(second, 2), d = builder.add(second, 3);
  builder.graph.add_edge(b, c);
  builder.graph.add_edge(d, a);
  const TaskGraph graph = std::move(builder.graph).freeze();
  const std::string circle = TaskOrder(graph, StreamOrder::Overlapping).circle();
  for (const TaskId task : {a, b, c, d}) EXPECT_THAT(circle, HasSubstr(to_text(graph.task(task).key)));
  EXPECT_THAT(circle, HasSubstr("s0.c-.m0.l-.forward.mlp.none.0 of rank 0 waits for s1.c-.m3.l-.forward.mlp.none.0 of rank 1"));
}

// Two ranks go through two collectives in different orders: each waits for the other.
TEST(TaskOrder, NamesACircleOfCollectives) {
  for (const bool crossed : {false, true}) {
    Builder builder;
    const DeviceId first = builder.device(0), second = builder.device(1);
    const TaskId a = builder.add(first, 0), b = builder.add(first, 1), c = builder.add(second, 2), d = builder.add(second, 3);
    const std::int32_t one = builder.graph.add_rendezvous(), two = builder.graph.add_rendezvous();
    builder.graph.join(a, one);
    builder.graph.join(b, two);
    builder.graph.join(crossed ? d : c, one);
    builder.graph.join(crossed ? c : d, two);
    const TaskGraph graph = std::move(builder.graph).freeze();
    EXPECT_EQ(TaskOrder(graph, StreamOrder::Overlapping).circle().empty(), !crossed);
  }
}

// What streams that overlap can do, a rank that performs everything in order cannot.
TEST(TaskOrder, InOrderRanksHaveMoreCircles) {
  Builder builder;
  const DeviceId first = builder.device(0), second = builder.device(1);
  const TaskId a = builder.add(first, 0, Stream::Receive), b = builder.add(first, 1, Stream::Send);
  const TaskId c = builder.add(second, 2, Stream::Receive), d = builder.add(second, 3, Stream::Send);
  builder.graph.add_edge(d, a);
  builder.graph.add_edge(b, c);
  const TaskGraph graph = std::move(builder.graph).freeze();
  EXPECT_EQ(TaskOrder(graph, StreamOrder::Overlapping).circle(), "");
  EXPECT_NE(TaskOrder(graph, StreamOrder::InOrder).circle(), "");
}

TEST(TaskOrder, ATaskThatWaitsForItself) {
  Builder builder;
  const TaskId a = builder.add(builder.device(0), 0);
  builder.graph.add_edge(a, a);
  const TaskGraph graph = std::move(builder.graph).freeze();
  EXPECT_THAT(TaskOrder(graph, StreamOrder::Overlapping).circle(), HasSubstr("waits for s0.c-.m0"));
}

}  // namespace
}  // namespace sim
