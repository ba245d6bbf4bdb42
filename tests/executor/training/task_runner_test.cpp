#include "executor/training/task_runner.h"

#include <ATen/record_function.h>

#include "tests/executor/checked_device/checked_device.h"
#include "tests/executor/training/device_cases.h"

namespace executor {
namespace {

TEST(TaskRunner, RecordsExactlyItsSlice) {
  Training training(tiny_plan());
  training.step(0);
  const std::vector<sim::Task> slice = sim::rank_slice(sim::lower(training.model, training.plan), training.plan, sim::Rank(0));
  const std::vector<sim::Span>& spans = training.recorder.last().spans;
  ASSERT_EQ(spans.size(), slice.size());
  for (std::size_t at = 0; at < spans.size(); ++at) {
    EXPECT_EQ(spans[at].key, slice[at].key);
    EXPECT_LE(spans[at].start, spans[at].end);
    EXPECT_LE(spans[at > 0 ? at - 1 : 0].start, spans[at].start);
    if (at == 0) continue;
    EXPECT_LE(spans[at - 1].end, spans[at].start) << "one thread: one task at a time";
  }
  EXPECT_TRUE(training.recorder.last().ledger.empty()) << "one rank talks to nobody";
}

TEST(TaskRunner, TasksOfALongRunOnADeviceAreTimedInASampleOfSteps) {
  Training training(tiny_plan(), checked_device());
  for (std::int64_t step = 0; step < 32; ++step) training.step(step);
  EXPECT_EQ(training.recorder.last().spans.size(), training.runner.slice().size());
  training.step(32);
  EXPECT_TRUE(training.recorder.last().spans.empty());
  EXPECT_GT(training.recorder.duration(), sim::SimTime{}) << "each step is";
  EXPECT_EQ(training.recorder.steps().back().step, 31);
}

// Passes of a step that zero a tensor that is there; one that an operator makes for itself is none.
std::int64_t zeroing_passes(Training& training) {
  static std::int64_t passes = 0, inside = 0;
  passes = inside = 0;
  const auto begin = [](const at::RecordFunction& called) {
    const std::string_view name = called.name();
    if (inside == 0 && (name == "aten::zero_" || name == "aten::_foreach_zero_")) ++passes;
    if (name.starts_with("aten::")) ++inside;
    return std::unique_ptr<at::ObserverContext>();
  };
  const auto end = [](const at::RecordFunction& called, at::ObserverContext*) {
    if (std::string_view(called.name()).starts_with("aten::")) --inside;
  };
  const auto handle = at::addGlobalCallback(at::RecordFunctionCallback(begin, end).scopes({at::RecordScope::FUNCTION}));
  training.step(1);
  at::removeCallback(handle);
  return passes;
}

// What comes first is written: products, norms, biases, and of a tied embedding the head's. Positions are some rows of a table, which is zeroed.
TEST(TaskRunner, NoPassZeroesGradients) {
  sim::ParallelPlan plan = tiny_plan();
  Training absolute(plan);
  absolute.step(0);
  EXPECT_EQ(zeroing_passes(absolute), 1);
  plan.model.position = sim::Position::Rotary;
  Training rotary(plan);
  rotary.step(0);
  EXPECT_EQ(zeroing_passes(rotary), 0);
}

TEST(TaskRunner, LossFalls) {
  sim::ParallelPlan plan = tiny_plan();
  plan.training.learning_rate = plan.training.minimum_learning_rate = 1e-2;
  Training training(plan);
  const double first = training.step(0).loss;
  double last = first;
  for (std::int64_t step = 1; step < 60; ++step) last = training.step(step).loss;
  EXPECT_LT(last, 0.7 * first);
}

class OnADevice : public testing::TestWithParam<DeviceCase> {};

TEST_P(OnADevice, TrainsAsOnTheCpu) { expect_the_same_training(GetParam(), checked_device()); }
INSTANTIATE_TEST_SUITE_P(Plans, OnADevice, testing::ValuesIn(kDeviceCases), [](const auto& device_case) { return device_case.param.name; });

}  // namespace
}  // namespace executor
