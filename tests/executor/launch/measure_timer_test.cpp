#include "executor/launch/measure_timer.h"

#include <ATen/ops/full.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/zeros.h>

#include <chrono>
#include <thread>

#include "measure_test.h"

namespace executor {
namespace {

void rest(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }

TEST(MeasureTimer, TellsHowLongSomethingTakes) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, {.each = sim::Seconds(0.01)});
  EXPECT_GE(timer.time([] { rest(std::chrono::milliseconds(2)); }), sim::Seconds(0.002));
  EXPECT_GE(timer.time_together([] { rest(std::chrono::milliseconds(2)); }, {3}), sim::Seconds(0.002));
  EXPECT_GE(timer.time_after_work([] { rest(std::chrono::milliseconds(2)); }, {3}), sim::Seconds(0.002));
}

TEST(MeasureTimer, RunsForwardAndBackward) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty);
  int calls = 0;
  const auto time = timer.time_recorded(at::full({4}, 1, at::kFloat), [&](const at::Tensor& x) {
    ++calls;
    return at::mul(x, x);
  });
  EXPECT_GE(calls, 4);
  EXPECT_GT(time.forward.count(), 0);
  EXPECT_GT(time.backward.count(), 0);
}

// A card multiplies equal numbers faster.
TEST(MeasureTimer, GradientsDiffer) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty);
  const at::Tensor seen = at::zeros({4, 8}, at::kFloat);
  timer.time_recorded(at::full({4, 8}, 1, at::kFloat), [&](const at::Tensor& x) {
    const at::Tensor y = at::mul(x, 2);
    y.register_hook([&](const at::Tensor& gradient) { seen.copy_(gradient); });
    return y;
  });
  EXPECT_GT(seen.std().item<double>(), 0.1);
}

TEST(MeasureTimer, OperandsOfOneNumberAreSeen) {
  const auto made = makers_of_constants([](KernelTimer& timer) {
    at::zeros({8}, timer.of(at::kFloat));
    at::full({1}, 2, timer.of(at::kFloat));
  });
  EXPECT_TRUE(made.contains("aten::zeros"));
  EXPECT_FALSE(made.contains("aten::full")) << "one number";
}

TEST(MeasureTimer, WhatSurroundsAKernelIsTakenOff) {
  using std::chrono::microseconds;
  const CallTimes calls{
      .plain = microseconds(2), .recorded = microseconds(3), .backward = microseconds(6), .piece = {microseconds(10), microseconds(20)}};
  EXPECT_DOUBLE_EQ(calls.forward_kernel(microseconds(100)).count(), 89e-6);
  EXPECT_DOUBLE_EQ(calls.backward_kernel(microseconds(100)).count(), 76e-6);
  EXPECT_DOUBLE_EQ(calls.forward_kernel(microseconds(5)).count(), 1e-6);  // noise: never below half a call
}

TEST(MeasureTimer, CallsAreMeasured) {
  auto mesh = all_ranks();
  KernelTimer timer(mesh, kHasty);
  const CallTimes calls = time_calls(timer);
  EXPECT_GT(calls.plain.count(), 0);
  EXPECT_GE(calls.recorded, calls.plain);
  EXPECT_GE(calls.backward, calls.plain);
}

}  // namespace
}  // namespace executor
