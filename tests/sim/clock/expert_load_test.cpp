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

double load_of(const ExpertForm& form, const ExpertLoads& loads = {}, std::int64_t ranks = 8) {
  return expert_load(form, loads, ranks, uneven());
}

// All tokens would choose the same k of E experts: sqrt(E / k - 1); a share of it.
TEST(ExpertLoad, ARouterThatIsNotTrainedYetSendsMostTokensTheSameWay) {
  Behavior behavior = uneven();
  behavior.untrained_share = 0.5;
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  EXPECT_DOUBLE_EQ(load_spread(dropless, loads("untrained"), behavior), 0.5 * std::sqrt(31.0));
  EXPECT_GT(expert_load(dropless, loads("untrained"), 8, behavior), expert_load(dropless, {}, 8, behavior));
  ExpertForm all = dropless;
  all.topk = all.experts;
  EXPECT_EQ(load_spread(all, loads("untrained"), behavior), 0);
  const ExpertForm capped = form(ExpertDispatch::Drop, 1.25);
  EXPECT_LE(expert_load(capped, loads("untrained"), 8, behavior), 1.25);
}

TEST(ExpertLoad, ForcedBalanceIsEven) {
  ExpertForm even = form(ExpertDispatch::Dropless);
  even.forced_balance = true;
  EXPECT_EQ(load_of(even), 1);
  EXPECT_EQ(load_of(form(ExpertDispatch::Dropless), loads("even")), 1);
}

TEST(ExpertLoad, ASpreadThatIsSaidTakesTheProfilesPlace) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  EXPECT_EQ(load_of(dropless, loads("spread 0.3")), load_of(dropless));
  EXPECT_NEAR(load_of(dropless, loads("spread 0.6")) - 1, 2 * (load_of(dropless) - 1), 1e-12);
}

TEST(ExpertLoad, EveryWayToSayItHasASpread) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  const auto spread = [&](std::string_view text) { return load_spread(dropless, loads(text), uneven()); };
  EXPECT_EQ(spread(""), 0.3);
  EXPECT_EQ(spread("even"), 0);
  EXPECT_EQ(spread("spread 0.6"), 0.6);
  EXPECT_EQ(spread("list 6*32 10*32"), 0.25);
}

// A rank that all tokens have chosen with all of their choices.
TEST(ExpertLoad, NoSpreadIsWiderThanTokensCanChoose) {
  ExpertForm few = form(ExpertDispatch::Dropless);
  few.experts = 8;
  EXPECT_EQ(load_of(few, loads("spread 100")), 4);  // one expert a rank, of two choices
  EXPECT_EQ(load_of(form(ExpertDispatch::Dropless), loads("spread 100")), 8);
}

TEST(ExpertLoad, OfAListTheFullestRankIsKnown) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  const ExpertLoads one_hot = loads("list 10*7 26 10*56");  // 656 tokens, 82 of them a rank; the first has 96
  EXPECT_NEAR(load_of(dropless, one_hot), 96 / 82.0, 1e-12);
  EXPECT_EQ(load_of(dropless, one_hot, 1), 1);
  EXPECT_NEAR(load_of(form(ExpertDispatch::Drop, 1), one_hot), (70 + 10.25) / 82, 1e-12);
  EXPECT_EQ(load_of(form(ExpertDispatch::Padded, 1.25), one_hot), 1.25);
}

TEST(ExpertLoad, ThinlySpreadExpertsAreUneven) {
  const ExpertForm dropless = form(ExpertDispatch::Dropless);
  EXPECT_EQ(load_of(dropless, {}, 1), 1);  // one rank has them all
  EXPECT_GT(load_of(dropless, {}, 8), 1.05);
  EXPECT_GT(load_of(dropless, {}, 64), load_of(dropless, {}, 8));
  EXPECT_LT(load_of(dropless, {}, 64), 3);
}

TEST(ExpertLoad, PaddingComputesTheCapacity) { EXPECT_EQ(load_of(form(ExpertDispatch::Padded, 1.25)), 1.25); }

TEST(ExpertLoad, DroppingTakesNoMoreThanTheCapacity) {
  EXPECT_EQ(load_of(form(ExpertDispatch::Drop, 1), {}, 64), 1);
  EXPECT_EQ(load_of(form(ExpertDispatch::Drop, 4), {}, 64), load_of(form(ExpertDispatch::Dropless), {}, 64));
}

}  // namespace
}  // namespace sim
