// Tensor and pipeline parallelism and their compositions against one process, in fp64: relative L2 of every gradient and weight <= 1e-10.
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kSteps = 4;
constexpr Tolerance kTolerance{1e-10};

struct LayoutCase {
  std::string name;
  sim::DeviceMesh mesh;
  std::string schedule = "1f1b";
  std::int32_t chunks = 1;
  sim::Recompute recompute = sim::Recompute::None;
  sim::Accumulation accumulation = sim::Accumulation::ReduceLast;
  std::int64_t microbatch_size = 1;
};

sim::ParallelPlan plan_of(const LayoutCase& from, const sim::ModelConfig& model) {
  sim::ParallelPlan plan = with_precision(tiny_plan(model, from.mesh), sim::Precision::Fp64);
  plan.microbatch_size = from.microbatch_size;
  plan.recompute = from.recompute;
  plan.accumulation = from.accumulation;
  return with_schedule(plan, from.schedule, from.chunks);
}

class Layout : public testing::TestWithParam<LayoutCase> {
 protected:
  void SetUp() override {
    if (GetParam().mesh.ranks() != num_ranks()) GTEST_SKIP() << "needs " << GetParam().mesh.ranks() << " ranks";
  }
  static void expect_agreement(const sim::ModelConfig& model) {
    const sim::ParallelPlan plan = plan_of(GetParam(), model);
    sim::ParallelPlan alone = on_one_rank(plan);
    alone.recompute = sim::Recompute::None;
    const TrainingResult reference = train({.plan = alone, .steps = kSteps, .ranks = Ranks::Alone});
    EXPECT_EQ(difference(train({.plan = plan, .steps = kSteps}), reference, kTolerance), "");
  }
};

TEST_P(Layout, Gpt2AgreesWithOneProcess) { expect_agreement(tiny_gpt2()); }
TEST_P(Layout, LlamaAgreesWithOneProcess) {
  if (tiny_llama().kv_heads % GetParam().mesh.tensor != 0) GTEST_SKIP() << "two key/value heads";
  expect_agreement(tiny_llama());
}

using sim::Accumulation;
using sim::Recompute;
INSTANTIATE_TEST_SUITE_P(
    Layouts, Layout,
    testing::Values(LayoutCase{"T2", {.tensor = 2}}, LayoutCase{"T2_recompute", {.tensor = 2}, "1f1b", 1, Recompute::Full},
                    LayoutCase{"T4", {.tensor = 4}}, LayoutCase{"P2_gpipe", {.pipeline = 2}, "gpipe"},
                    LayoutCase{"P2_1f1b", {.pipeline = 2}}, LayoutCase{"P2_interleaved", {.pipeline = 2}, "interleaved", 2},
                    LayoutCase{"P2_gpipe_recompute", {.pipeline = 2}, "gpipe", 1, Recompute::Full},
                    LayoutCase{"P2_one_microbatch", {.pipeline = 2}, "1f1b", 1, Recompute::None, Accumulation::ReduceLast, 8},
                    LayoutCase{"P4_1f1b", {.pipeline = 4}},
                    LayoutCase{"P4_gpipe_two_microbatches", {.pipeline = 4}, "gpipe", 1, Recompute::None, Accumulation::ReduceLast, 4},
                    LayoutCase{"D2T2", {.data = 2, .tensor = 2}},
                    LayoutCase{"D2T2_reduce_each", {.data = 2, .tensor = 2}, "1f1b", 1, Recompute::None, Accumulation::ReduceEach},
                    LayoutCase{"D2P2_1f1b", {.data = 2, .pipeline = 2}},
                    LayoutCase{"D2P2_interleaved", {.data = 2, .pipeline = 2}, "interleaved", 2, Recompute::Full, Accumulation::ReduceEach},
                    LayoutCase{"T2P2_1f1b", {.pipeline = 2, .tensor = 2}},
                    LayoutCase{"T2P2_gpipe_recompute", {.pipeline = 2, .tensor = 2}, "gpipe", 1, Recompute::Full}),
    [](const auto& each) { return each.param.name; });

// Accumulating in microbatch order, the schedules are bitwise equal among themselves.
TEST(Schedules, AreBitwiseEqual) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const sim::ParallelPlan plan = tiny_plan(tiny_gpt2(), {.pipeline = 2});
  const TrainingResult one_f_one_b = train({.plan = plan, .steps = kSteps});
  EXPECT_EQ(bitwise_difference(train({.plan = with_schedule(plan, "gpipe", 1), .steps = kSteps}), one_f_one_b), "");
  EXPECT_EQ(bitwise_difference(train({.plan = with_schedule(plan, "interleaved", 2), .steps = kSteps}), one_f_one_b), "");
}

}  // namespace
}  // namespace parity
