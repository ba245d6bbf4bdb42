#include "sim/schedule/order_times.h"

#include <gtest/gtest.h>

namespace sim {
namespace {

StageOrders orders_of(const char* name, PipelineShape shape) {
  StageOrders orders;
  for (StageIndex stage(0); stage.value() < shape.stages; ++stage) orders.push_back(find_schedule(name)->order(shape, stage));
  return orders;
}

PipelineTimes equal_times(std::int32_t stages) {
  const PassTimes passes{SimTime(1000), SimTime(1000), SimTime(1000)};
  return {.stages = std::vector<PassTimes>(static_cast<std::size_t>(stages), passes)};
}

// As the closed forms of zero_bubble_steps_test have it.
TEST(OrderTimes, EqualPassesHaveTheirClosedForms) {
  for (const std::int32_t stages : {2, 4, 8}) {
    const PipelineShape shape{.stages = stages, .microbatches = 3 * stages};
    const SimTime work(9000 * stages), ramp(1000 * (stages - 1));
    EXPECT_EQ(work_of(equal_times(stages), shape), work);
    EXPECT_EQ(step_time_of(orders_of("zb-2p", shape), equal_times(stages), StepEnd::Barrier), work + ramp);
    EXPECT_EQ(step_time_of(orders_of("zb-2p", shape), equal_times(stages), StepEnd::Cross), work);
    EXPECT_EQ(step_time_of(orders_of("zb-1p", shape), equal_times(stages), StepEnd::Barrier), work + ramp);
    EXPECT_EQ(step_time_of(orders_of("zb-1p", shape), equal_times(stages), StepEnd::Cross), work + ramp);
  }
}

// Two stages, one microbatch: forward twice, its gradient twice, weights; what crosses twice.
TEST(OrderTimes, TransfersAreOnTheWay) {
  PipelineTimes times = equal_times(2);
  times.transfer = SimTime(10);
  times.stages[1].weight = SimTime(7);
  const PipelineShape shape{.stages = 2, .microbatches = 1};
  EXPECT_EQ(step_time_of(orders_of("zb-1p", shape), times, StepEnd::Barrier), SimTime(5020));
}

TEST(OrderTimes, ACircleHasNoTime) {
  StageOrders orders = orders_of("zb-1p", {.stages = 2, .microbatches = 1});
  std::swap(orders[0][0], orders[0][1]);
  EXPECT_EQ(step_time_of(orders, equal_times(2), StepEnd::Barrier), std::nullopt);
}

}  // namespace
}  // namespace sim
