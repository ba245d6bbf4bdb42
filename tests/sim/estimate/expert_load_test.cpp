#include <gmock/gmock.h>

#include "sim/estimate/expert_load.h"

namespace sim {
namespace {

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
  EXPECT_EQ(expert_load(even, 8).computed, 1);
  EXPECT_EQ(expert_load(even, 8).kept, 1);
}

TEST(ExpertLoad, ThinlySpreadExpertsAreUneven) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  EXPECT_EQ(expert_load(dropless, 1).computed, 1);  // one rank has them all
  EXPECT_GT(expert_load(dropless, 8).computed, 1.05);
  EXPECT_GT(expert_load(dropless, 64).computed, expert_load(dropless, 8).computed);
  EXPECT_LT(expert_load(dropless, 64).computed, 3);
}

TEST(ExpertLoad, PaddingComputesTheCapacity) { EXPECT_EQ(expert_load(form(ExpertDispatch::Padded, 1.25), 8).computed, 1.25); }

TEST(ExpertLoad, DroppingKeepsLessWithLessCapacity) {
  const ExpertLoad tight = expert_load(form(ExpertDispatch::Drop, 1), 64), wide = expert_load(form(ExpertDispatch::Drop, 2), 64);
  EXPECT_EQ(tight.computed, 1);
  EXPECT_LT(tight.kept, wide.kept);
  EXPECT_GT(tight.kept, 0.8);
  EXPECT_NEAR(wide.kept, 1, 0.01);
}

}  // namespace
}  // namespace sim
