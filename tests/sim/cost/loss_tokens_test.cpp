#include "sim/cost/loss_tokens.h"

#include <gtest/gtest.h>

#include "sim/clock/behavior.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

TEST(LossTokens, AnEncodersProgramMayPickOutTheMaskedOnes) {
  ParallelPlan plan = testing::tiny_plan();
  plan.microbatch_size = 8;
  const std::int64_t all = plan.shard_shape().tokens();
  plan.cluster.software.masked_loss = true;
  EXPECT_EQ(tokens_with_loss(plan), all) << "a decoder predicts every token";
  plan.model.bidirectional = true;
  EXPECT_NEAR(static_cast<double>(tokens_with_loss(plan)), static_cast<double>(all) * common_behavior().masked_share, 1);
  plan.cluster.software.masked_loss = false;
  EXPECT_EQ(tokens_with_loss(plan), all);
}

}  // namespace
}  // namespace sim
