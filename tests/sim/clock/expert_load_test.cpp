#include <gmock/gmock.h>

#include "sim/clock/expert_load.h"

namespace sim {
namespace {

Behavior uneven() {
  Behavior behavior;
  behavior.expert_spread = 0.3;
  return behavior;
}

ExpertForm form(ExpertDispatch dispatch, double capacity = 0) {
  ExpertForm form;
  form.experts = 64;
  form.topk = 2;
  form.dispatch = dispatch;
  form.capacity_factor = capacity;
  return form;
}

TEST(ExpertLoad, ForcedBalanceIsEven) {
  ExpertForm even = form(ExpertDispatch::Dropless);
  even.forced_balance = true;
  EXPECT_EQ(expert_load(even, 8, uneven()).computed, 1);
  EXPECT_EQ(expert_load(even, 8, uneven()).kept, 1);
}

TEST(ExpertLoad, ThinlySpreadExpertsAreUneven) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  EXPECT_EQ(expert_load(dropless, 1, uneven()).computed, 1);  // one rank has them all
  EXPECT_GT(expert_load(dropless, 8, uneven()).computed, 1.05);
  EXPECT_GT(expert_load(dropless, 64, uneven()).computed, expert_load(dropless, 8, uneven()).computed);
  EXPECT_LT(expert_load(dropless, 64, uneven()).computed, 3);
}

TEST(ExpertLoad, PaddingComputesTheCapacity) { EXPECT_EQ(expert_load(form(ExpertDispatch::Padded, 1.25), 8, uneven()).computed, 1.25); }

TEST(ExpertLoad, DroppingKeepsLessWithLessCapacity) {
  const ExpertLoad tight = expert_load(form(ExpertDispatch::Drop, 1), 64, uneven()),
                   wide = expert_load(form(ExpertDispatch::Drop, 2), 64, uneven());
  EXPECT_EQ(tight.computed, 1);
  EXPECT_LT(tight.kept, wide.kept);
  EXPECT_GT(tight.kept, 0.8);
  EXPECT_NEAR(wide.kept, 1, 0.01);
}

}  // namespace
}  // namespace sim
