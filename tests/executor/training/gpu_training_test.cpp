// On a GPU: one rank trains as on the CPU, and the recorder's figures are those of events and of LibTorch's pool. Skipped aloud without one.
#include <c10/cuda/CUDAFunctions.h>

#include "tests/executor/training/device_cases.h"

namespace executor {
namespace {

const c10::Device kGpu(c10::kCUDA, 0);

bool has_gpu() { return c10::cuda::device_count() > 0; }
#define NEEDS_A_GPU() \
  if (!has_gpu()) GTEST_SKIP() << "no GPU: CUDA finds no device on this machine"

class OnAGpu : public testing::TestWithParam<DeviceCase> {};
TEST_P(OnAGpu, TrainsAsOnTheCpu) {
  NEEDS_A_GPU();
  expect_the_same_training(GetParam(), kGpu, {.factor = 100});
}
INSTANTIATE_TEST_SUITE_P(Plans, OnAGpu, testing::ValuesIn(kDeviceCases), [](const auto& device_case) { return device_case.param.name; });

// A stream that can be captured stays current from here on.
TEST_P(OnAGpu, AGraphTrainsAsTasksIssuedOneByOne) {
  NEEDS_A_GPU();
  sim::ParallelPlan plan = tiny_plan();
  GetParam().change(plan);
  RunnerOptions options;
  options.graph = cuda_graph(kGpu);
  Training issued(plan, kGpu), replayed(plan, kGpu, options);
  for (std::int64_t step = 0; step < 8; ++step)
    EXPECT_NEAR(replayed.step(step).loss / issued.step(step).loss, 1, GetParam().tolerance * 100) << step;
  EXPECT_EQ(replayed.recorder.steps().size(), 3U);
}

// Ordered on the card, so that a graph may hold them. Sizes that the grouped product takes.
void with_experts(sim::ParallelPlan& plan) {
  plan.model.model_type = "mixtral";
  plan.model.norm = sim::Norm::RmsNorm;
  plan.model.position = sim::Position::Rotary;
  plan.model.activation = sim::Activation::Silu;
  plan.model.gated_mlp = true;
  plan.model.attention_bias = plan.model.projection_bias = plan.model.mlp_bias = plan.model.tied_embeddings = false;
  plan.model.experts = sim::ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 24};
  plan.workload.precision = sim::Precision::Bf16;
}

TEST(OnAGpu, ExpertsTrainAsOnTheCpu) {
  NEEDS_A_GPU();
  expect_the_same_training({.name = "experts", .change = with_experts, .tolerance = 2e-2}, kGpu, {.factor = 100});
}

TEST(OnAGpu, AGraphMayHoldExpertsThatTheCardOrders) {
  NEEDS_A_GPU();
  sim::ParallelPlan plan = tiny_plan();
  with_experts(plan);
  const sim::ModelGraph model = sim::make_model_graph(plan);
  if (!why_no_graph(plan, sim::rank_slice(sim::lower(model, plan), plan, sim::Rank(0)), {.device = kGpu}).empty())
    GTEST_SKIP() << "not on this card";
  RunnerOptions options;
  options.graph = cuda_graph(kGpu);
  Training issued(plan, kGpu), replayed(plan, kGpu, options);
  for (std::int64_t step = 0; step < 8; ++step) EXPECT_NEAR(replayed.step(step).loss / issued.step(step).loss, 1, 5e-2) << step;
}

TEST(OnAGpu, SpansLieBetweenEventsAndMemoryIsTheGpus) {
  NEEDS_A_GPU();
  Training training(tiny_plan(), kGpu);
  training.step(0);
  training.step(1);
  const sim::MeasuredStep& step = training.recorder.last();
  ASSERT_EQ(step.spans.size(), training.runner.slice().size());
  for (std::size_t at = 0; at < step.spans.size(); ++at) {
    EXPECT_LE(step.spans[at].start, step.spans[at].end);
    EXPECT_LE(step.spans[at > 0 ? at - 1 : 0].start, step.spans[at].start) << "issue order, on one stream";
    EXPECT_LE(step.spans[at].end, step.duration);
  }
  const DeviceMemory& memory = training.recorder.memory();
  EXPECT_GT(memory.allocated_peak, sim::Bytes(0));
  EXPECT_LE(memory.allocated_peak, memory.active_peak);
  EXPECT_LE(memory.active_peak, memory.reserved_peak);
  EXPECT_LE(memory.reserved_peak, memory.device_used);
  EXPECT_LT(memory.device_used, memory.device_total);
}

}  // namespace
}  // namespace executor
