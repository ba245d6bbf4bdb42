#include "sim/cost/map_operators.h"

#include <gmock/gmock.h>

#include "sim/cost/kernel_prices.h"
#include "sim/cost/modelled_kernels.h"
#include "sim/model/map_writer.h"
#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

ParallelPlan gpu_plan() {
  ParallelPlan plan = testing::tiny_plan({});
  plan.cluster = testing::described({testing::small_gpu(), 1, {}}, false);
  plan.workload.sequence = 1;
  plan.microbatch_size = 2;
  return plan;
}

Operator written(void (*write)(MapWriter&)) {
  MapWriter net({32, 16});
  net.cut();
  write(net);
  return std::move(net).finish_with_loss(1).back().segments.front().operators.front();
}

TEST(MapOperators, AConvolutionIsTheProductOfItsImplicitMatrix) {
  const ParallelPlan plan = gpu_plan();
  const Operator op = written([](MapWriter& net) { net.convolve(64, {3, 3, 2, 4}); });
  const std::vector<KernelCall> calls = map_forward(op, plan);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].shape, (KernelShape{2 * 8 * 8, 16, 8 * 9, 4}));
  const Flops flops = kernel_work(calls[0].kernel, calls[0].shape, Precision::Fp32).flops;
  EXPECT_EQ(flops, forward_flops(op, plan.model, {.microbatch = 2}));
  EXPECT_EQ(calls[0].moved, forward_bytes(op, plan.model, {.microbatch = 2}, plan.bytes(Numbers::Activations)));
  EXPECT_EQ(map_backward(op, plan).size(), 2u);
}

TEST(MapOperators, WhatItMovesIsReadOnce) {
  const ParallelPlan plan = gpu_plan();
  const Operator op = written([](MapWriter& net) { net.convolve(2, {3, 3}); });
  const KernelPrices prices(plan.cluster.hardware, Precision::Fp32, {1});
  const KernelCall call = map_forward(op, plan).front();
  EXPECT_LT(prices.roofline(call), prices.roofline(call.kernel, call.shape));
}

// Where ranks exchange statistics in between.
TEST(MapOperators, HalvesOfANormMoveWhatAllOfItDoes) {
  const ParallelPlan plan = gpu_plan();
  const Operator norm = written([](MapWriter& net) { net.norm(); });
  constexpr MapPart kFirst{.first = true, .second = false}, kSecond{.first = false, .second = true};
  const auto moved = [](const std::vector<KernelCall>& calls) { return calls.front().shape[0]; };
  EXPECT_EQ(moved(map_forward(norm, plan, kFirst)) + moved(map_forward(norm, plan, kSecond)), moved(map_forward(norm, plan)));
  EXPECT_EQ(2 * moved(map_forward(norm, plan, kFirst)), moved(map_forward(norm, plan, kSecond)));
  EXPECT_EQ(moved(map_backward(norm, plan, kFirst)) + moved(map_backward(norm, plan, kSecond)), moved(map_backward(norm, plan)));
}

TEST(MapOperators, NobodyAsksForTheGradientOfImages) {
  MapWriter net({3, 16});
  net.convolve(64, {3, 3});
  const Operator op = std::move(net).finish_with_loss(1).front().segments.front().operators.front();
  const std::vector<KernelCall> calls = map_backward(op, gpu_plan());
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].kernel, Kernel::LinearWeightGradient);
}

TEST(MapOperators, AKernelTakesAsLongAsItsClockSays) {
  const ParallelPlan plan = gpu_plan();
  const ModelledKernels kernels(plan);
  const Operator wide = written([](MapWriter&net) {
    net.convolve(256, {3, 3});
  }),
                 grouped = written([](MapWriter&net) {
                   net.convolve(256, {3, 3, 1, 32});
                 });
  EXPECT_GT(kernels.work(map_forward(wide, plan).front()).device, 0);
  EXPECT_NE(kernels.work(map_forward(wide, plan).front()).device, kernels.work(map_forward(grouped, plan).front()).device);
}

// A norm of 2 x 32 x 16 x 16 numbers goes over them three times; a copy twice over its shape.
TEST(MapOperators, OthersGoByTheirPasses) {
  ParallelPlan plan = gpu_plan();
  const std::int64_t bytes = 2 * 32 * 16 * 16 * plan.bytes(Numbers::Activations).value();
  const Operator norm = written([](MapWriter&net) { net.norm(); }), activation = written([](MapWriter&net) { net.activate(); });
  EXPECT_EQ(map_forward(norm, plan).front().shape[0], bytes * 3 / 2);
  EXPECT_EQ(map_backward(norm, plan).front().shape[0], bytes * 5 / 2);
  EXPECT_EQ(kept_of_map(norm, plan), Bytes(0));
  EXPECT_EQ(kept_of_map(activation, plan), Bytes(bytes));
  EXPECT_EQ(kept_of_map(written([](MapWriter& net) { net.norm_kept(); }), plan), Bytes(bytes));
  plan.cluster.software.fused_residual = true;
  EXPECT_TRUE(map_forward(activation, plan).empty());
}

}  // namespace
}  // namespace sim
