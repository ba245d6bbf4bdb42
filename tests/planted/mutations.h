// What the tests of planted bugs share: each plants one and expects a comparison to see it.
#pragma once

#include <gtest/gtest.h>

#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"
#include "tests/parity/training_result.h"

namespace parity {

using executor::PlantedBug;
inline constexpr std::int64_t kFewSteps = 3;
inline constexpr sim::ContextAlgorithm kRing = sim::ContextAlgorithm::Ring, kAllGather = sim::ContextAlgorithm::AllGather,
                                       kAllToAll = sim::ContextAlgorithm::AllToAll;

inline void expect_caught_bitwise(const sim::ParallelPlan& plan, PlantedBug bug) {
  const TrainingResult right = train({.plan = plan, .steps = kFewSteps}), wrong = train({.plan = plan, .steps = kFewSteps, .bug = bug});
  EXPECT_NE(bitwise_difference(wrong, right), "") << "a planted bug went unseen";
}

inline void expect_caught_beside_one_process(const sim::ParallelPlan& plan, PlantedBug bug) {
  const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = kFewSteps, .ranks = Ranks::Alone});
  EXPECT_NE(difference(train({.plan = plan, .steps = kFewSteps, .bug = bug}), alone, {1e-10}), "") << "a planted bug went unseen";
}

inline void expect_caught_in_fp64(const sim::ParallelPlan& plan, PlantedBug bug) {
  expect_caught_beside_one_process(with_precision(plan, sim::Precision::Fp64), bug);
}

class OnTwoRanks : public testing::Test {
 protected:
  void SetUp() override {
    if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  }
  const sim::ParallelPlan data_ = tiny_plan(tiny_gpt2(), {.data = 2}), tensor_ = tiny_plan(tiny_gpt2(), {.tensor = 2}),
                          pipeline_ = tiny_plan(tiny_gpt2(), {.pipeline = 2}), sequence_ = with_sequence(tensor_);
  static sim::ParallelPlan context(sim::ContextAlgorithm algorithm) {
    sim::ParallelPlan plan = tiny_plan(tiny_gpt2(), {.context = 2});
    plan.model.attention_dropout = 0;
    plan.context_algorithm = algorithm;
    return plan;
  }

 private:
  static sim::ParallelPlan with_sequence(sim::ParallelPlan plan) {
    plan.sequence_parallel = true;
    return plan;
  }
};

}  // namespace parity
