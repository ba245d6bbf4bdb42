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

ExpertLoads loads(std::string_view text) {
  std::vector<Violation> violations;
  ExpertLoads read = parse_expert_loads(text, violations);
  EXPECT_THAT(violations, testing::IsEmpty());
  return read;
}

ExpertLoad load_of(const ExpertForm& form, const ExpertLoads& loads = {}, std::int64_t ranks = 8) {
  return expert_load(form, loads, ranks, uneven());
}

TEST(ExpertLoad, ForcedBalanceIsEven) {
  ExpertForm even = form(ExpertDispatch::Dropless);
  even.forced_balance = true;
  EXPECT_EQ(load_of(even).computed, 1);
  EXPECT_EQ(load_of(even).kept, 1);
  EXPECT_EQ(load_of(form(ExpertDispatch::Dropless), loads("even")).computed, 1);
}

TEST(ExpertLoad, ASpreadThatIsSaidTakesTheProfilesPlace) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  EXPECT_EQ(load_of(dropless, loads("spread 0.3")).computed, load_of(dropless).computed);
  EXPECT_NEAR(load_of(dropless, loads("spread 0.6")).computed - 1, 2 * (load_of(dropless).computed - 1), 1e-12);
}

TEST(ExpertLoad, OfAListTheFullestRankIsKnown) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  const ExpertLoads one_hot = loads("list 10*7 26 10*56");  // 656 tokens, 82 of them a rank; the first has 96
  EXPECT_NEAR(load_of(dropless, one_hot).computed, 96 / 82.0, 1e-12);
  EXPECT_EQ(load_of(dropless, one_hot, 1).computed, 1);
  EXPECT_EQ(load_of(dropless, one_hot).kept, 1);
  const ExpertForm limited = form(ExpertDispatch::Drop, 1);  // 10.25 tokens
  EXPECT_NEAR(load_of(limited, one_hot).computed, (70 + 10.25) / 82, 1e-12);
  EXPECT_NEAR(load_of(limited, one_hot).kept, (630 + 10.25) / 656, 1e-12);
  EXPECT_EQ(load_of(form(ExpertDispatch::Padded, 1.25), one_hot).computed, 1.25);
}

TEST(ExpertLoad, ThinlySpreadExpertsAreUneven) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  EXPECT_EQ(load_of(dropless, {}, 1).computed, 1);  // one rank has them all
  EXPECT_GT(load_of(dropless, {}, 8).computed, 1.05);
  EXPECT_GT(load_of(dropless, {}, 64).computed, load_of(dropless, {}, 8).computed);
  EXPECT_LT(load_of(dropless, {}, 64).computed, 3);
}

TEST(ExpertLoad, PaddingComputesTheCapacity) { EXPECT_EQ(load_of(form(ExpertDispatch::Padded, 1.25), {}, 8).computed, 1.25); }

TEST(ExpertLoad, DroppingKeepsLessWithLessCapacity) {
  const ExpertLoad tight = load_of(form(ExpertDispatch::Drop, 1), {}, 64), wide = load_of(form(ExpertDispatch::Drop, 2), {}, 64);
  EXPECT_EQ(tight.computed, 1);
  EXPECT_LT(tight.kept, wide.kept);
  EXPECT_GT(tight.kept, 0.8);
  EXPECT_NEAR(wide.kept, 1, 0.01);
}

}  // namespace
}  // namespace sim
