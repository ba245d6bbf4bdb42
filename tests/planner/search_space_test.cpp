#include "planner/search_space.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>

#include "planner/mesh_space.h"
#include "planner/recomputation.h"
#include "planner/search.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using ::testing::Contains;
using ::testing::Field;

// These models are small: a chunk's blocks.
std::int64_t most_layers_per_unit(const SearchRequest& request, const PlanCandidate& c) {
  const std::int64_t parts = std::int64_t{c.mesh.pipeline} * c.chunks;
  return (request.model.layers + parts - 1) / parts;
}

// Parts are recomputed in levels, the smallest first, and not where exchanges hide and experts would be computed again.
bool is_scope_left_out(const SearchRequest& request, const PlanCandidate& c) {
  const bool selective = c.recompute == sim::Recompute::Selective;
  if (c.expert_overlap && c.scope.modules.has(sim::Module::Moe)) return true;
  if (c.scope.modules.none()) return selective && request.model.attention_dropout == 0;
  return !selective;
}

// What the headers say is left out: the plan equals another one, holds more for the same work, or cuts tensors over nodes.
bool is_duplicate(const SearchRequest& request, const PlanCandidate& c, std::int64_t microbatches) {
  const bool plain = sim::all_schedules()[static_cast<std::size_t>(c.schedule)].name == "1f1b";
  return c.mesh.tensor > request.cluster.devices_per_node() || (c.chunks == 1 && !plain && (c.mesh.pipeline == 1 || microbatches == 1)) ||
         (c.mesh.copies() == 1 && c.zero_stage > 0 && !c.offload_parameters) ||
         ((c.offload_optimizer || c.offload_activations) && !request.offload) || (c.offload_activations && !c.offload_optimizer) ||
         (c.offload_activations && (c.recompute != sim::Recompute::Full || c.scope != sim::RecomputeScope{})) ||
         (c.accumulation == sim::Accumulation::ReduceEach && ((c.mesh.copies() == 1 && !c.offload_parameters) || microbatches == 1)) ||
         (c.mesh.context == 1 && c.context_algorithm != sim::ContextAlgorithm::Ring) ||
         (c.mesh.context > 1 && request.workload.sequence / c.mesh.context < kLeastContextTokens) ||
         (c.zero_stage < 3 && (!c.reshard || c.layers_per_unit > 1 || c.reshard_ranks > 1)) ||
         (c.reshard_ranks > 1 && (!c.reshard || c.reshard_ranks * c.mesh.tensor != request.cluster.devices_per_node())) ||
         c.layers_per_unit > most_layers_per_unit(request, c) || is_scope_left_out(request, c) ||
         (c.token_dispatcher == sim::TokenDispatcher::Hierarchical &&
          (c.mesh.expert == 1 || c.mesh.expert * c.mesh.expert_cut() <= request.cluster.devices_per_node())) ||
         (c.token_dispatcher == sim::TokenDispatcher::AllGather && c.mesh.expert > request.model.experts->topk) ||
         (c.token_dispatcher == sim::TokenDispatcher::AllGather && c.mesh.expert == 1) ||
         (c.expert_overlap && (microbatches == 1 || sim::all_schedules()[static_cast<std::size_t>(c.schedule)].splits_backward ||
                               sim::all_schedules()[static_cast<std::size_t>(c.schedule)].name == "gpipe")) ||
         (c.mesh.replicas > 1 && (c.zero_stage == 0 || c.mesh.shards() * c.mesh.tensor != request.cluster.devices_per_node()));
}

template <class Visit>
void for_all_on_host(const SearchRequest& request, PlanCandidate c, Visit visit) {
  if (!request.offload) return visit(c);
  for (const bool optimizer : {false, true})
    for (const bool weights : {false, true})
      for (const bool inputs : {false, true}) {
        c.offload_optimizer = optimizer, c.offload_parameters = weights, c.offload_activations = inputs;
        visit(c);
      }
}

// Of parts of blocks, and of experts.
template <class Visit>
void for_all_words(const SearchRequest& request, const std::vector<sim::Modules>& levels, PlanCandidate c, Visit visit) {
  std::vector<sim::RecomputeScope> scopes{{}};
  for (const sim::Modules modules : levels) scopes.push_back({.modules = modules});
  const bool experts = request.model.experts.has_value();
  for (const sim::RecomputeScope& scope : scopes)
    for (c.mesh.expert_tensor = 0; c.mesh.expert_tensor <= (experts && c.mesh.tensor > 1 ? 1 : 0); ++c.mesh.expert_tensor)
      for (const sim::TokenDispatcher dispatcher :
           {sim::TokenDispatcher::AsTheProgram, sim::TokenDispatcher::Hierarchical, sim::TokenDispatcher::AllGather})
        for (const bool overlap : {false, true}) {
          if (!experts && (overlap || dispatcher != sim::TokenDispatcher::AsTheProgram)) continue;
          c.scope = scope;
          c.token_dispatcher = dispatcher;
          c.expert_overlap = overlap;
          for_all_on_host(request, c, visit);
        }
}

// Every combination of every value, legal or not.
template <class Visit>
void for_all_combinations(const SearchRequest& request, Visit visit) {
  const std::int32_t devices = request.cluster.devices;
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const std::vector<sim::Modules> levels = ModuleLevels(request, model).of({});
  PlanCandidate c;
  for (c.mesh.data = 1; c.mesh.data <= devices; ++c.mesh.data)
    for (c.mesh.tensor = 1; c.mesh.tensor <= devices; ++c.mesh.tensor)
      for (c.mesh.pipeline = 1; c.mesh.pipeline <= devices; ++c.mesh.pipeline)
        for (c.mesh.context = 1; c.mesh.context <= devices; c.mesh.context *= 2)
          for (c.mesh.expert = 1; c.mesh.expert <= (request.model.experts ? devices : 1) && c.mesh.ranks() == devices; ++c.mesh.expert)
            for (const sim::ContextAlgorithm algorithm :
                 {sim::ContextAlgorithm::Ring, sim::ContextAlgorithm::AllGather, sim::ContextAlgorithm::AllToAll})
              for (c.mesh.replicas = 1; c.mesh.replicas <= c.mesh.copies(); ++c.mesh.replicas)
                for (c.schedule = 0; c.schedule < static_cast<std::int32_t>(sim::all_schedules().size()); ++c.schedule)
                  for (c.chunks = 1; c.chunks <= request.model.layers; ++c.chunks)
                    for (c.microbatch = 1; c.microbatch <= request.workload.global_batch; ++c.microbatch)
                      for (c.zero_stage = 0; c.zero_stage <= 3; ++c.zero_stage)
                        for (const bool reshard : {true, false})
                          for (c.reshard_ranks = 1; c.reshard_ranks <= devices; ++c.reshard_ranks)
                            for (c.layers_per_unit = 1; c.layers_per_unit <= request.model.layers; c.layers_per_unit *= 2)
                              for (const bool sequence_parallel : {true, false})
                                for (const sim::Recompute recompute :
                                     {sim::Recompute::None, sim::Recompute::Selective, sim::Recompute::Full})
                                  for (const sim::Accumulation accumulation :
                                       {sim::Accumulation::ReduceLast, sim::Accumulation::ReduceEach}) {
                                    c.context_algorithm = algorithm;
                                    c.reshard = reshard;
                                    c.sequence_parallel = sequence_parallel;
                                    c.recompute = recompute;
                                    c.accumulation = accumulation;
                                    for_all_words(request, levels, c, visit);
                                  }
}

void expect_exhaustive(const SearchRequest& request) {
  const SearchSpace space = enumerate(request);
  std::set<std::string> texts;
  for (const PlanCandidate& candidate : space.candidates) texts.insert(to_text(candidate));
  std::size_t expected = 0;
  for_all_combinations(request, [&](const PlanCandidate& candidate) {
    const std::int64_t microbatches = request.workload.global_batch / candidate.mesh.data / candidate.microbatch;
    if (candidate.mesh.pipeline * candidate.chunks > request.model.layers) return;  // its parts have a block each
    if (candidate.expert_overlap && candidate.zero_stage == 3) return;              // written by hand, not found
    if (is_duplicate(request, candidate, microbatches) || !sim::violations(make_plan(request, candidate)).empty()) return;
    ++expected;
    EXPECT_TRUE(texts.contains(to_text(candidate))) << to_text(candidate);
  });
  EXPECT_EQ(space.candidates.size(), expected);
}

TEST(SearchSpace, IsEveryLegalPlanOnceOnFourDevices) { expect_exhaustive(small_request({.devices = 4})); }

TEST(SearchSpace, IsEveryLegalPlanOnceOnSixDevices) {
  SearchRequest request = small_request({.devices = 6});
  request.model = gpt(6, 6);
  request.vocabulary_multiple = 12;
  request.workload.global_batch = 6;
  expect_exhaustive(request);
}

TEST(SearchSpace, IsEveryLegalPlanOnceOnSeveralNodes) {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 2});
  request.model = gpt(2, 4);
  expect_exhaustive(request);
}

TEST(SearchSpace, IsEveryLegalPlanOnceOnHosts) {
  for (const std::int32_t devices : {1, 4}) {
    SearchRequest request = small_request({.devices = devices});
    request.model = gpt(2, 4);
    request.workload.global_batch = 4;
    request.offload = true;
    expect_exhaustive(request);
  }
}

TEST(SearchSpace, IsEveryLegalPlanOnceWithLongContexts) { expect_exhaustive(long_request()); }

TEST(SearchSpace, IsEveryLegalPlanOnceOfExperts) { expect_exhaustive(expert_request()); }

TEST(SearchSpace, SlicesAreThoseThatAreAskedFor) {
  SearchRequest request = small_request({.devices = 4});
  std::set<std::string> schedules;
  for (const PlanCandidate& candidate : enumerate(request).candidates) EXPECT_EQ(candidate.slices, 1);
  request.fixed = {{"slices", "4"}};
  for (const PlanCandidate& candidate : enumerate(request).candidates) {
    EXPECT_EQ(candidate.slices, 4);
    const sim::ParallelPlan plan = make_plan(request, candidate);
    EXPECT_TRUE(sim::violations(plan).empty()) << to_text(candidate);
    schedules.insert(plan.schedule);
  }
  EXPECT_EQ(schedules, (std::set<std::string>{"1f1b", "gpipe", "looped-bfs"}));
  request.fixed = {{"slices", "7"}};
  EXPECT_TRUE(enumerate(request).candidates.empty());
  EXPECT_THAT(enumerate(request).excluded, Contains(Field(&Exclusion::reason, "/slices: sequence 512 is not divisible into 7 slices")));
}

TEST(SearchSpace, ContextRanksThatAreFixedNeedNoLongSamples) {
  SearchRequest request = small_request({.devices = 4});
  request.fixed = {{"context", "2"}, {"context_algorithm", "all_to_all"}};
  ASSERT_FALSE(enumerate(request).candidates.empty());
  for (const PlanCandidate& candidate : enumerate(request).candidates) {
    EXPECT_EQ(candidate.mesh.context, 2);
    EXPECT_EQ(candidate.context_algorithm, sim::ContextAlgorithm::AllToAll);
  }
  request.model.attention_dropout = 0.1;
  EXPECT_THAT(enumerate(request).excluded, Contains(Field(&Exclusion::reason, "attention dropout is not known across context ranks")));
}

TEST(SearchSpace, TwoLevelsOfContextRanksComeWhereTheyAreAskedFor) {
  SearchRequest request = small_request({.devices = 4});
  request.fixed = {{"context", "4"}};
  for (const PlanCandidate& candidate : enumerate(request).candidates)
    EXPECT_NE(candidate.context_algorithm, sim::ContextAlgorithm::Hierarchical);
  request.fixed = {{"context", "4"}, {"context_inner", "2"}};
  ASSERT_FALSE(enumerate(request).candidates.empty());
  for (const PlanCandidate& candidate : enumerate(request).candidates) {
    EXPECT_EQ(candidate.context_algorithm, sim::ContextAlgorithm::Hierarchical);
    EXPECT_EQ(candidate.mesh.context_inner, 2);
    EXPECT_NE(to_text(candidate).find(" context_inner=2 "), std::string::npos);
  }
  request.fixed = {{"context", "4"}, {"context_algorithm", "hierarchical"}};
  EXPECT_TRUE(enumerate(request).candidates.empty());
  EXPECT_THAT(enumerate(request).excluded,
              Contains(Field(&Exclusion::reason, "/mesh/context_inner: 1 neighbours do not cut context 4 into two levels")));
}

TEST(SearchSpace, SelectiveRecomputationWhereThereIsAttentionDropout) {
  SearchRequest request = small_request({.devices = 2});
  request.model.attention_dropout = 0.1;
  expect_exhaustive(request);
}

TEST(SearchSpace, EveryCandidateOfGpt3KeepsTheRules) {
  const SearchRequest request = gpt3_request({.devices = 1024, .devices_per_node = 8});
  for (const PlanCandidate& candidate : enumerate(request).candidates)
    ASSERT_TRUE(sim::violations(make_plan(request, candidate)).empty()) << to_text(candidate);
}

// A block of GPT-3 175B holds 1.8e9 parameters: more than any unit needs. One of GPT-2 small 7e6: two hold 1e7; a quarter of it: eight.
TEST(SearchSpace, UnitsGrowUntilTheyHold1e7Parameters) {
  const auto largest = [](SearchRequest request, std::string tensor) {
    request.fixed = {{"tensor", tensor}, {"pipeline", "1"}, {"zero", "3"}, {"microbatch", "1"}};
    std::int32_t most = 0;
    for (const PlanCandidate& candidate : enumerate(request).candidates) most = std::max(most, candidate.layers_per_unit);
    return most;
  };
  EXPECT_EQ(largest(gpt3_request({.devices = 1024, .devices_per_node = 8}), "8"), 1);
  SearchRequest small = small_request({.devices = 8});
  small.model = gpt(24, 12);
  EXPECT_EQ(largest(small, "1"), 2);
  EXPECT_EQ(largest(small, "4"), 8);
  small.model = gpt(6, 12);
  EXPECT_EQ(largest(small, "4"), 4);
  small.fixed = {{"layers_per_unit", "5"}, {"zero", "3"}};
  for (const PlanCandidate& candidate : enumerate(small).candidates) EXPECT_EQ(candidate.layers_per_unit, 5);
}

TEST(SearchSpace, FixedAxesAreKept) {
  SearchRequest request = small_request({.devices = 8});
  request.fixed = {{"tensor", "2"}, {"zero", "1"}, {"recompute", "full"}, {"schedule", "gpipe"}};
  const SearchSpace space = enumerate(request);
  ASSERT_FALSE(space.candidates.empty());
  for (const PlanCandidate& candidate : space.candidates) {
    EXPECT_EQ(candidate.mesh.tensor, 2);
    EXPECT_EQ(candidate.zero_stage, 1);
    EXPECT_EQ(candidate.recompute, sim::Recompute::Full);
    EXPECT_EQ(candidate.schedule, 0);
  }
}

TEST(SearchSpace, MicrobatchesAreReducedOneByOneWhereSeveralRanksReduceSeveral) {
  SearchRequest request = small_request({.devices = 8});
  request.fixed = {{"accumulation", "reduce_each"}};
  for (const PlanCandidate& candidate : enumerate(request).candidates)
    EXPECT_EQ(candidate.accumulation, sim::Accumulation::ReduceEach);  // taken at its word
  request.fixed = {{"microbatch", "8"}, {"data", "1"}};
  for (const PlanCandidate& candidate : enumerate(request).candidates) EXPECT_EQ(candidate.accumulation, sim::Accumulation::ReduceLast);
}

TEST(SearchSpace, AnImpossiblePlanNamesEveryConstraint) {
  SearchRequest request = small_request({.devices = 8});
  request.fixed = {{"tensor", "3"}, {"pipeline", "5"}, {"data", "7"}, {"microbatch", "3"}, {"schedule", "gpipe"}, {"chunks", "2"}};
  request.workload.global_batch = 35;
  const SearchSpace space = enumerate(request);
  EXPECT_TRUE(space.candidates.empty());
  std::vector<std::string> rules;
  for (const Exclusion& out : space.excluded) rules.push_back(out.family + " " + out.rule);
  EXPECT_THAT(rules, ::testing::IsSupersetOf({"tensor=3 divisibility.devices", "tensor=3 divisibility.heads", "tensor=3 divisibility.ffn",
                                              "tensor=3 divisibility.vocabulary", "pipeline=5 divisibility.devices",
                                              "pipeline=5 shape.blocks", "data=7 divisibility.devices",
                                              "data=7 tensor=3 pipeline=5 shape.product", "data=7 microbatch=3 divisibility.microbatch"}));
}

TEST(SearchSpace, AMicrobatchThatDoesNotDivideNamesTheNearestThatDoes) {
  SearchRequest request = small_request({.devices = 1});
  request.fixed = {{"microbatch", "3"}};
  EXPECT_THAT(enumerate(request).excluded, Contains(Field(&Exclusion::nearest_fix, "microbatch=4")));
}

TEST(SearchSpace, NoMeshFollowsASignal) {
  const std::atomic<bool> cancel{true};
  const SearchSpace space = enumerate(small_request({.devices = 4}), &cancel);
  EXPECT_TRUE(space.candidates.empty());
  const SearchResult result = search(small_request({.devices = 4}), {}, &cancel);
  EXPECT_EQ(result.candidates, 0);
  EXPECT_TRUE(result.ranked.empty());
}

TEST(SearchSpace, SequenceParallelNeedsATensorGroup) {
  SearchRequest request = small_request({.devices = 4});
  request.fixed = {{"tensor", "1"}, {"sequence_parallel", "true"}};
  EXPECT_THAT(enumerate(request).excluded, Contains(Field(&Exclusion::reason, "sequence parallel needs a tensor degree above 1")));
}

}  // namespace
}  // namespace planner
