// Muon on tensor ranks: each makes its part of a matrix orthogonal by itself, as Megatron-LM does unless it is told otherwise. The gradients are those of one
// process; the steps are told from them.
#include <gtest/gtest.h>

#include "tests/parity/muon_of_parts.h"
#include "tests/parity/parity_job.h"
#include "tests/parity/tiny_plans.h"

namespace parity {
namespace {

TEST(MuonOfParts, StepsEachRanksPart) {
  if (num_ranks() != 2) GTEST_SKIP() << "needs 2 ranks";
  for (const bool sequence : {false, true}) {
    sim::ParallelPlan plan = muon_of_parts({.tensor = 2});
    plan.sequence_parallel = sequence;
    EXPECT_LT(distance_of_parts(plan), 1e-10);
    const TrainingResult alone = train({.plan = on_one_rank(plan), .steps = 1, .ranks = Ranks::Alone}),
                         here = train({.plan = plan, .steps = 1});
    EXPECT_LT(distance(here, alone).gradients, 1e-10);
    EXPECT_GT(distance(here, alone).weights, 1e-6) << "parts are another optimizer than the whole";
  }
}

TEST(MuonOfParts, OfOwners) {
  if (num_ranks() != 4) GTEST_SKIP() << "needs 4 ranks";
  EXPECT_LT(distance_of_parts(muon_of_parts({.data = 2, .tensor = 2})), 1e-10);
  EXPECT_LT(distance_of_parts(muon_of_parts({.pipeline = 2, .tensor = 2})), 1e-10);
}

}  // namespace
}  // namespace parity
