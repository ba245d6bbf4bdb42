// Experts at their ends: ranks without a row, tokens that go everywhere or nowhere.
#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {
namespace {

class ExpertEnds : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
  static sim::ParallelPlan plan_of(const sim::ExpertForm& form) {
    sim::ParallelPlan plan = with_precision(tiny_plan(tiny_mixtral(), {.data = 2, .expert = 2}), sim::Precision::Fp64);
    plan.model.experts = form;
    return plan;
  }
  static void expect_agreement(const sim::ParallelPlan& plan) {
    const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 3, .ranks = Ranks::Alone});
    EXPECT_EQ(difference(train({.plan = plan, .steps = 3}), alone, {1e-10}), "");
    EXPECT_EQ(bitwise_difference(train({.plan = with_zero(plan, 3), .steps = 3}), train({.plan = plan, .steps = 3})), "");
  }
};

// One token, one expert: of the two ranks' tokens often both go to one rank, and the other computes nothing.
TEST_F(ExpertEnds, ARankWithoutARow) {
  sim::ParallelPlan plan = plan_of({.experts = 4, .topk = 1, .expert_ffn = 20});
  plan.workload.sequence = 1;
  expect_agreement(plan);
  plan.recompute = sim::Recompute::Full;
  expect_agreement(plan);
}

// One token a rank and step, of which one expert of four makes something: the others' weights have no gradient there, and two or three have none on
// any rank. Ranks reduce the same buckets in the same order, and what nobody wrote is zero.
TEST_F(ExpertEnds, ExpertsThatNobodyChose) {
  sim::ParallelPlan plan = with_precision(tiny_plan(tiny_mixtral(), {.data = 2}), sim::Precision::Fp64);
  plan.model.experts = sim::ExpertForm{.experts = 4, .topk = 1, .expert_ffn = 20};
  plan.workload.sequence = 1;
  plan.bucket_size = sim::Bytes(16384);
  for (const std::int64_t batch : {2, 4})
    for (const std::int32_t expert : {1, 2})
      for (const sim::Accumulation accumulation : {sim::Accumulation::ReduceLast, sim::Accumulation::ReduceEach}) {
        plan.workload.global_batch = batch;
        plan.mesh.expert = expert;
        plan.accumulation = accumulation;
        expect_agreement(plan);
      }
}

TEST_F(ExpertEnds, EveryTokenToEveryExpert) {
  expect_agreement(plan_of({.experts = 4, .topk = 4, .expert_ffn = 20, .renormalised = true}));
}

TEST_F(ExpertEnds, RoomForOneRowAnExpert) {
  for (const sim::ExpertDispatch dispatch : {sim::ExpertDispatch::Drop, sim::ExpertDispatch::Padded})
    expect_agreement(plan_of({.experts = 4, .topk = 2, .expert_ffn = 20, .capacity_factor = 0.05, .dispatch = dispatch}));
}

TEST_F(ExpertEnds, SigmoidScoresScaled) {
  expect_agreement(plan_of({.experts = 4,
                            .shared_experts = 1,
                            .topk = 2,
                            .expert_ffn = 20,
                            .shared_ffn = 12,
                            .score = sim::RouterScore::Sigmoid,
                            .renormalised = true,
                            .scaling = 2.5}));
}

// As the router says: ranks have more rows or fewer, of their own stretch of the tokens and of the other's.
TEST_F(ExpertEnds, WholeExpertsBesideTensorRanks) {
  for (const std::int64_t shared : {0, 1})
    for (const std::int32_t expert : {1, 2}) {
      sim::ParallelPlan plan =
          with_precision(tiny_plan(tiny_mixtral(), {.tensor = 2, .expert = expert, .expert_tensor = 1}), sim::Precision::Fp64);
      plan.sequence_parallel = true;
      plan.model.experts->balance_loss = 0;  // of each rank's own tokens
      plan.model.experts->shared_experts = shared;
      plan.model.experts->shared_ffn *= shared;
      expect_agreement(plan);
      plan.microbatch_size = 2;
      expect_agreement(plan);
    }
}

TEST_F(ExpertEnds, OneTokenARankOfWholeExperts) {
  sim::ParallelPlan plan = with_precision(tiny_plan(tiny_mixtral(), {.tensor = 2, .expert = 2, .expert_tensor = 1}), sim::Precision::Fp64);
  plan.sequence_parallel = true;
  plan.model.experts = sim::ExpertForm{.experts = 4, .topk = 1, .expert_ffn = 20};
  plan.workload.sequence = 2;
  expect_agreement(plan);
}

}  // namespace
}  // namespace parity
