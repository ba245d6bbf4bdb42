#include "planner/recomputation.h"

#include <gmock/gmock.h>

#include <set>

#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using sim::Module;
using ::testing::ElementsAre;

std::vector<std::string> levels_of(const SearchRequest& request, const PlanCandidate& at = {}) {
  std::vector<std::string> texts;
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  ModuleLevels levels(request, model);
  for (const sim::Modules modules : levels.of(at)) texts.push_back(sim::to_text(sim::RecomputeScope{.modules = modules}));
  return texts;
}

TEST(Recomputation, LevelsGrowByWhatFreesMostForItsTime) {
  EXPECT_THAT(levels_of(small_request({.devices = 8})), ElementsAre("modules layernorm", "modules mlp,layernorm"));
  EXPECT_THAT(levels_of(expert_request()), ElementsAre("modules moe_act,layernorm", "modules moe_act,layernorm,shared_experts",
                                                       "modules mlp,moe,moe_act,layernorm,shared_experts"));
}

TEST(Recomputation, UnfusedAttentionComesFirst) {
  SearchRequest request = small_request({.devices = 8});
  request.model.attention_dropout = 0.1;
  EXPECT_THAT(levels_of(request), ElementsAre("modules core_attn,layernorm", "modules core_attn,mlp,layernorm"));
}

// A program that has a word for feed-forwards alone; one that has its own choice.
TEST(Recomputation, OnlyWhatTheProgramHasWordsFor) {
  SearchRequest request = expert_request();
  Module word = Module::Moe;
  request.why_not = [&word](const sim::ParallelPlan& plan) {
    const bool says = plan.recompute_scope.modules.without(word).none();
    return says ? std::vector<sim::Violation>{} : std::vector<sim::Violation>{{"/recompute_scope", "no word", "leave it out"}};
  };
  EXPECT_THAT(levels_of(request), ElementsAre("modules moe"));
  word = Module::Op;
  EXPECT_THAT(levels_of(request), ElementsAre("modules op"));
}

// The worker makes norms again, or whole feed-forwards; the former not where ranks share the sequence.
TEST(Recomputation, WordsThatAProgramCannotSayTogetherStandAlone) {
  SearchRequest request = small_request({.devices = 8});
  request.why_not = sim::why_not_runnable;
  EXPECT_THAT(levels_of(request), ElementsAre("modules layernorm", "modules mlp"));
  EXPECT_THAT(levels_of(request, {.mesh = {.context = 4}}), ElementsAre("modules layernorm", "modules mlp"));
  EXPECT_THAT(levels_of(request, {.mesh = {.tensor = 4}, .sequence_parallel = true}), ElementsAre("modules mlp"));
}

TEST(Recomputation, EveryScopeHasItsNumber) {
  std::set<std::int64_t> numbers;
  const std::vector<sim::RecomputeScope> scopes{{},
                                                {.modules = Module::Mlp},
                                                {.modules = Module::Moe},
                                                {.modules = Module::Mlp | Module::Moe},
                                                {.first = 1},
                                                {.first = 1'000'000},
                                                {.by_stage = {1, 0}},
                                                {.by_stage = {0, 1}},
                                                {.by_stage = {1, 0, 0}},
                                                {.every = 2},
                                                {.every = 1'000'000},
                                                {.but_last = true}};
  for (const sim::RecomputeScope& scope : scopes) numbers.insert(scope_number(scope));
  EXPECT_EQ(numbers.size(), scopes.size());
  EXPECT_EQ(*numbers.begin(), 0);
  EXPECT_LT(*numbers.rbegin(), std::int64_t{1} << 50);
}

}  // namespace
}  // namespace planner
