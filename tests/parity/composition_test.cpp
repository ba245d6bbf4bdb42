// Every composition against one process, in fp64: relative L2 of every gradient and weight <= 1e-10. Within it, DDP = ZeRO-1 = 2 = 3 bit for
// bit.
#include <gtest/gtest.h>

#include "sim/schedule/searched_order.h"
#include "tests/parity/compositions.h"
#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

constexpr std::int64_t kSteps = 3;
constexpr Tolerance kTolerance{1e-10};

class Compositions : public testing::TestWithParam<Composition> {
 protected:
  void SetUp() override {
    if (GetParam().mesh.ranks() != num_ranks()) GTEST_SKIP() << "needs " << GetParam().mesh.ranks() << " ranks";
    const bool is_of_cpus = GetParam().network != nullptr || GetParam().offload_parameters || !GetParam().offload_modules.empty();
    if (is_of_cpus && !device().is_cpu()) GTEST_SKIP() << "of CPU ranks";
  }
  static bool has_copies_of_experts() { return GetParam().experts && GetParam().mesh.expert_copies() > 1; }
  // Another test proves it: the table of docs/figures/compositions.md says which.
  static bool is_left_to(const char* test) {
    if (test != nullptr) RecordProperty("proven_by", test);
    return test != nullptr;
  }
  // What is lost on the way one process loses as well, and parts of matrices are another optimizer than the whole.
  static const char* agreement_is_left_to() {
    if (!GetParam().codecs.empty()) return "wire_test";
    return GetParam().optimizer == sim::OptimizerKind::Muon && GetParam().mesh.tensor > 1 ? "muon_test" : nullptr;
  }
  // Codecs are of one way to shard, weights on the host of stage 3, the others not of stages 1 and 2.
  static const char* stages_are_left_to(const sim::ParallelPlan& plan) {
    if (!GetParam().codecs.empty()) return "wire_test";
    if (plan.offload_parameters) return "OffloadingIsBitwiseEqual";
    return plan.sums_by_priority() || plan.optimizer_in_backward ? "data_parallel_test" : nullptr;
  }
  static void expect_agreement(const sim::ModelConfig& model) {
    if ((GetParam().partition_size > sim::Bytes(0) || GetParam().in_backward) && !device().is_cpu()) GTEST_SKIP() << "of CPU ranks";
    if (is_left_to(agreement_is_left_to())) GTEST_SKIP() << "proven by a test of its own";
    const sim::ParallelPlan plan = with_precision(plan_of(GetParam(), model), sim::Precision::Fp64);
    const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = kSteps, .ranks = Ranks::Alone});
    TrainingResult together = train({.plan = plan, .steps = kSteps});
    if (GetParam().own_statistics) std::erase_if(together.weights, [](const auto& one) { return one.first.starts_with("running_"); });
    EXPECT_EQ(difference(together, alone, kTolerance), "");
  }
};

TEST_P(Compositions, ItsModelAgreesWithOneProcess) { expect_agreement(model_of(GetParam())); }
TEST_P(Compositions, LlamaAgreesWithOneProcess) {
  if (GetParam().has_model()) GTEST_SKIP() << "has a model of its own";
  sim::ParallelPlan plan;
  plan.mesh = GetParam().mesh, plan.context_algorithm = GetParam().context_algorithm;
  if (tiny_llama().kv_heads % (plan.mesh.tensor * plan.head_ranks()) != 0) GTEST_SKIP() << "two key/value heads";
  expect_agreement(tiny_llama());
}

TEST_P(Compositions, ZeroStagesAreBitwiseEqual) {
  if (GetParam().mesh.copies() == 1 && !has_copies_of_experts()) GTEST_SKIP() << "nobody else has the same weights";
  sim::ParallelPlan plan = plan_of(GetParam(), model_of(GetParam()));
  plan.bucket_size = sim::Bytes(16384);
  if (is_left_to(stages_are_left_to(plan))) GTEST_SKIP() << "proven by a test of its own";
  const bool is_whole = plan.workload.optimizer == sim::OptimizerKind::Muon;  // stage 0 would step each matrix on every rank
  const TrainingResult ddp = train({.plan = is_whole ? by_owner(plan, 3 - plan.zero_stage) : in_slices(plan, 0), .steps = kSteps});
  if (GetParam().owners > 0) {
    EXPECT_EQ(bitwise_difference(train({.plan = plan, .steps = kSteps}), ddp), "") << "owners";
    return;
  }
  for (std::int32_t stage = 1; stage <= GetParam().last_stage(); ++stage)
    EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, stage), .steps = kSteps}), ddp), "") << "zero" << stage;
}

// What lies on the host changes no bit.
TEST_P(Compositions, OffloadingIsBitwiseEqual) {
  if (!GetParam().offload_optimizer && !plan_of(GetParam(), model_of(GetParam())).keeps_on_host())
    GTEST_SKIP() << "all of it is on the device";
  sim::ParallelPlan plan = plan_of(GetParam(), model_of(GetParam()));
  const bool is_alone = GetParam().mesh.ranks() == 1 && plan.num_microbatches() > 1;
  if (is_alone && GetParam().offload_parameters) GTEST_SKIP() << "the host adds microbatch by microbatch, an embedding token by token";
  plan.bucket_size = sim::Bytes(16384);
  for (const std::int32_t stage : {0, 2, 3}) {
    const bool brings_weights = GetParam().offload_parameters;
    if (stage > GetParam().last_stage()) continue;
    if (brings_weights ? stage < 3 : stage > 0 && GetParam().mesh.copies() == 1) continue;
    const sim::ParallelPlan there = with_zero(plan, stage);
    sim::ParallelPlan here = there.mesh.copies() > 1 ? there : with_zero(plan, 0);
    here.offload_optimizer = here.offload_parameters = here.offload_activations = false;
    here.offload_modules = {};
    EXPECT_EQ(bitwise_difference(train({.plan = there, .steps = kSteps}), train({.plan = here, .steps = kSteps})), "") << "zero" << stage;
  }
}

// Whoever takes turns: the same sums in the same order.
TEST_P(Compositions, PairingIsBitwiseEqual) {
  if (!GetParam().expert_overlap) GTEST_SKIP() << "each action ends before the next begins";
  const sim::ParallelPlan paired = plan_of(GetParam(), model_of(GetParam()));
  sim::ParallelPlan apart = paired;
  apart.expert_overlap = apart.delay_wgrad = false;
  EXPECT_EQ(bitwise_difference(train({.plan = paired, .steps = kSteps}), train({.plan = apart, .steps = kSteps})), "");
}

// Of all microbatches: the same sums in the same order.
TEST_P(Compositions, WaitingForTheLastBackwardIsBitwiseEqual) {
  if (GetParam().delay_head_wgrad == 0) GTEST_SKIP() << "the head's weights have their gradients with its backward";
  sim::ParallelPlan later = plan_of(GetParam(), model_of(GetParam())), at_once = later;
  later.delay_head_wgrad = static_cast<std::int32_t>(later.num_microbatches());
  at_once.delay_head_wgrad = 0;
  EXPECT_EQ(bitwise_difference(train({.plan = later, .steps = kSteps}), train({.plan = at_once, .steps = kSteps})), "");
}

INSTANTIATE_TEST_SUITE_P(All, Compositions, testing::ValuesIn(compositions()), [](const auto& each) { return each.param.name; });

// Tied embeddings of a V are summed on one stage, not over two: another order of the same sums.
sim::ParallelPlan untied(sim::ParallelPlan plan) {
  plan.model.tied_embeddings = false;
  return plan;
}

// Whoever comes first: sends overtake, collectives wait.
TEST(Dawdling, ChangesNoBit) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  for (const sim::DeviceMesh mesh :
       {sim::DeviceMesh{.data = 2, .tensor = 2}, sim::DeviceMesh{.data = 2, .pipeline = 2}, sim::DeviceMesh{.pipeline = 2, .tensor = 2}}) {
    const sim::ParallelPlan plan = with_zero(tiny_plan(tiny_gpt2(), mesh), mesh.data > 1 ? 3 : 0);
    EXPECT_EQ(bitwise_difference(train({.plan = plan, .steps = 2, .dawdle = true}), train({.plan = plan, .steps = 2})), "");
  }
}

// Accumulating in microbatch order, the schedules are bitwise equal among themselves.
TEST(Schedules, AreBitwiseEqual) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  const sim::ParallelPlan plan = tiny_plan(tiny_gpt2(), {.pipeline = 2});
  const TrainingResult one_f_one_b = train({.plan = plan, .steps = kSteps});
  EXPECT_EQ(bitwise_difference(train({.plan = with_schedule(plan, "gpipe", 1), .steps = kSteps}), one_f_one_b), "");
  EXPECT_EQ(bitwise_difference(train({.plan = with_schedule(plan, "interleaved", 2), .steps = kSteps}), one_f_one_b), "");
  EXPECT_EQ(bitwise_difference(train({.plan = with_schedule(plan, "looped-bfs", 2), .steps = kSteps}), one_f_one_b), "");
  sim::ParallelPlan five = plan;  // groups of three and two
  five.workload.global_batch = 5;
  EXPECT_EQ(
      bitwise_difference(train({.plan = with_schedule(five, "interleaved", 2), .steps = kSteps}), train({.plan = five, .steps = kSteps})),
      "");
  for (const std::string name : {"zb-1p", "zb-2p"})
    EXPECT_EQ(bitwise_difference(train({.plan = with_schedule(plan, name, 1), .steps = kSteps}), one_f_one_b), "") << name;
  for (const std::string name : {"zbv", "v-half", "v-min", "dualpipev"})
    EXPECT_EQ(bitwise_difference(train({.plan = with_schedule(untied(plan), name, 2), .steps = kSteps}),
                                 train({.plan = untied(plan), .steps = kSteps})),
              "")
        << name;
  sim::ParallelPlan written = with_schedule(plan, "zb-1p", 1);
  written.take_order(written.order_table());
  EXPECT_EQ(bitwise_difference(train({.plan = written, .steps = kSteps}), one_f_one_b), "");
  // As found for passes that are not equally long.
  const sim::PassTimes passes{sim::SimTime(1000), sim::SimTime(1400), sim::SimTime(500)};
  sim::OrderProblem problem;  // field by field: g++ -O3 takes vectors of a braced one for read before they are written
  problem.times.stages.assign(2, passes);
  problem.times.transfer = sim::SimTime(100);
  problem.shape = written.pipeline_shape();
  problem.memory.assign(2, {.limit = 400});
  problem.end = sim::StepEnd::Cross;
  written.take_order(sim::searched_order(problem));
  EXPECT_NE(written.order_table().stages, with_schedule(plan, "zb-2p", 1).order_table().stages);
  EXPECT_EQ(bitwise_difference(train({.plan = written, .steps = kSteps}), one_f_one_b), "");
}

}  // namespace
}  // namespace parity
