#include "planner/expert_space.h"

#include <gmock/gmock.h>

#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using sim::TokenDispatcher;
using ::testing::ElementsAre;

std::int32_t row(std::string_view name) { return static_cast<std::int32_t>(sim::find_schedule(name) - sim::all_schedules().data()); }

struct OfExperts {
  SearchRequest request = expert_request();  // 4 devices, 2 a node, 4 samples
  PlanCandidate at{.mesh = {.data = 2, .tensor = 2, .expert = 2}, .schedule = row("1f1b")};
  ExpertSpace space() const { return {request, fixed}; }
  FixedAxes fixed{};
};

TEST(ExpertSpace, ExpertsAreSharedByTensorRanksOrWhole) {
  OfExperts one;
  EXPECT_THAT(one.space().expert_tensors({.data = 2, .tensor = 2}), ElementsAre(0, 1));
  EXPECT_THAT(one.space().expert_tensors({.data = 4}), ElementsAre(0));
  one.request.workload.sequence = 511;  // tokens that tensor ranks cannot split
  EXPECT_THAT(one.space().expert_tensors({.data = 2, .tensor = 2}), ElementsAre(0));
}

TEST(ExpertSpace, ADenseModelHasNothingToChoose) {
  OfExperts one;
  one.request.model.experts.reset();
  EXPECT_THAT(one.space().expert_tensors({.data = 2, .tensor = 2}), ElementsAre(0));
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram));
  EXPECT_THAT(one.space().overlaps(one.at), ElementsAre(false));
}

TEST(ExpertSpace, DispatchersDifferBetweenNodes) {
  OfExperts one;
  one.request.model.experts->topk = 1;  // gathering is more rows
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram, TokenDispatcher::Hierarchical));
  one.request.cluster.software.dispatch_share = 0.9;  // its own reaches each node once
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram, TokenDispatcher::AllToAll));
  one.request.cluster.hardware.devices_per_node = 4;
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram));
}

TEST(ExpertSpace, TokensAreGatheredWhereThatIsNoMoreRows) {
  OfExperts one;  // two experts a token
  one.request.cluster.hardware.devices_per_node = 4;
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram, TokenDispatcher::AllGather));
  one.at.token_dispatcher = TokenDispatcher::AllGather;
  EXPECT_FALSE(ExpertSpace::may_overlap(one.at)) << "nothing is exchanged beside another microbatch";
  one.at.mesh = {.data = 4, .expert = 4};
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram)) << "three rows a token, not 1.5";
  one.at.mesh = {.data = 4};
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram)) << "nobody else has experts";
  one.at.mesh = {.data = 2, .tensor = 2, .expert = 2};
  one.request.model.experts->capacity_factor = 1;
  one.request.model.experts->dispatch = sim::ExpertDispatch::Padded;
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram));
}

TEST(ExpertSpace, ExchangesHideWhereBackwardsMeetForwards) {
  OfExperts one;
  EXPECT_THAT(one.space().overlaps(one.at), ElementsAre(false, true));
  const auto without = [&](auto change) {
    PlanCandidate other = one.at;
    change(other);
    EXPECT_THAT(one.space().overlaps(other), ElementsAre(false)) << to_text(other);
  };
  without([](PlanCandidate& at) { at.mesh.expert = 1; });
  without([](PlanCandidate& at) { at.microbatch = 2; });  // one microbatch
  without([](PlanCandidate& at) { at.schedule = row("gpipe"); });
  without([](PlanCandidate& at) { at.schedule = row("zb-1p"); });
  EXPECT_TRUE(ExpertSpace::may_overlap(one.at));
  one.at.zero_stage = 3;
  EXPECT_FALSE(ExpertSpace::may_overlap(one.at));
}

TEST(ExpertSpace, OnlyWhatTheProgramHasWordsFor) {
  OfExperts one;
  one.request.why_not = [](const sim::ParallelPlan& plan) {
    std::vector<sim::Violation> refused;
    if (plan.expert_overlap) refused.push_back({"/expert_overlap", "no word", "leave it out"});
    if (plan.token_dispatcher != TokenDispatcher::AsTheProgram) refused.push_back({"/token_dispatcher", "no word", "leave it out"});
    if (plan.mesh.cuts_experts_apart()) refused.push_back({"/mesh/expert_tensor", "no word", "leave it out"});
    return refused;
  };
  EXPECT_THAT(one.space().expert_tensors({.data = 2, .tensor = 2}), ElementsAre(0));
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::AsTheProgram));
  EXPECT_THAT(one.space().overlaps(one.at), ElementsAre(false));
}

TEST(ExpertSpace, AFixedWordIsTakenAtItsWord) {
  OfExperts one;
  one.fixed = read_fixed_axes({{"expert_tensor", "2"}, {"token_dispatcher", "hierarchical"}, {"expert_overlap", "true"}});
  EXPECT_THAT(one.space().expert_tensors({.data = 2, .tensor = 2}), ElementsAre(0));  // as the tensor ranks do
  EXPECT_THAT(one.space().expert_tensors({.data = 4}), ElementsAre(2));
  EXPECT_THAT(one.space().dispatchers(one.at), ElementsAre(TokenDispatcher::Hierarchical));
  EXPECT_THAT(one.space().overlaps(one.at), ElementsAre(true));
  one.at.mesh.expert = 1;
  EXPECT_TRUE(one.space().overlaps(one.at).empty());
}

}  // namespace
}  // namespace planner
