#include "planner/least_recomputation.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "planner/evaluator.h"
#include "planner/fewer.h"
#include "planner/improvements.h"
#include "planner/plan_candidate.h"
#include "sim/engine/simulate.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// 16 blocks on four stages, of which the first holds four microbatches at a time and the last one.
struct Pipeline {
  SearchRequest request = [] {
    SearchRequest of = small_request({.devices = 4});
    of.model = gpt(16, 4);
    of.model.vocabulary = 256;
    return of;
  }();
  sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  sim::ParallelPlan plan = Evaluator(request, model).plan({.mesh = {.pipeline = 4}, .schedule = 1, .recompute = sim::Recompute::Full});

  // Of each stage, where all compute so many of their blocks again.
  std::vector<sim::Bytes> peaks(std::int32_t blocks) const {
    sim::ParallelPlan of = plan;
    of.recompute = blocks == 0 ? sim::Recompute::None : sim::Recompute::Full;
    of.recompute_scope.first = blocks;
    std::vector<sim::Bytes> found;
    for (const sim::DeviceResult& device : sim::simulate(model, of).devices) found.push_back(device.peak_memory);
    return found;
  }
  std::vector<sim::ParallelPlan> least(sim::Bytes limit) const { return with_least_recomputed(model, plan, {.limit = limit, .chance = 1}); }
};

TEST(LeastRecomputation, IsWhatEveryNumberTriedSays) {
  const Pipeline one;
  ASSERT_THAT(one.peaks(0), SizeIs(4));
  for (const std::int32_t of_first : {1, 2}) {
    const sim::Bytes limit = one.peaks(of_first)[0];
    std::vector<std::int32_t> expected(4, 4);
    for (std::int32_t blocks = 4; blocks >= 0; --blocks)
      for (std::size_t stage = 0; stage < 4; ++stage)
        if (one.peaks(blocks)[stage] <= limit) expected[stage] = blocks;
    const std::vector<sim::ParallelPlan> found = one.least(limit);
    ASSERT_THAT(found, SizeIs(2));
    const std::vector<std::int32_t>& least = found[0].recompute_scope.by_stage;
    ASSERT_THAT(least, SizeIs(4));
    for (std::size_t stage = 0; stage < 4; ++stage)
      EXPECT_TRUE(least[stage] == expected[stage] || least[stage] == expected[stage] + 1) << "a message waits where neighbours differ";
    EXPECT_LT(least[3], of_first) << "the last stage holds one microbatch";
    EXPECT_EQ(found[1].recompute_scope.first, std::ranges::max(least));
    EXPECT_LE(sim::simulate(one.model, found[0]).peak_memory, limit);
  }
}

TEST(LeastRecomputation, IsNoneWhereAllBlocksAreNeededOrNone) {
  const Pipeline one;
  EXPECT_THAT(one.least(sim::Bytes(1)), IsEmpty());
  const std::vector<sim::ParallelPlan> roomy = one.least(sim::Bytes(std::int64_t{1} << 50));
  ASSERT_THAT(roomy, SizeIs(1));
  EXPECT_EQ(roomy[0].recompute, sim::Recompute::None);
}

// As a change of one setting of a plan that computes all again, where that is what its memory asks for; of a program that says one number, one number.
TEST(LeastRecomputation, IsOfferedAsAChange) {
  const Pipeline one;
  const sim::SimulationResult result = sim::simulate(one.model, one.plan);
  SearchRequest request = request_like(one.plan);
  request.memory_limit = one.peaks(2)[0];
  request.fixed = {{"data", "1"}, {"pipeline", "4"}, {"schedule", "1f1b"}, {"zero", "0"}, {"microbatch", "1"}, {"recompute", "full"}};
  request.risk = 1;
  const auto scope_offered = [&] {
    for (const Improvement& better : improvements(request, {one.plan, result}).one)
      if (better.changed == std::vector<std::string>{"recompute_scope"}) return to_text(better.plan.recompute_scope);
    return std::string();
  };
  const std::string by_stage = scope_offered();
  EXPECT_THAT(by_stage, ::testing::MatchesRegex("first [23],.*,0"));
  request.why_not = [](const sim::ParallelPlan& plan) {
    return plan.recompute_scope.by_stage.empty() ? std::vector<sim::Violation>{}
                                                 : std::vector<sim::Violation>{{"/recompute_scope", "no word", "leave it out"}};
  };
  EXPECT_EQ(scope_offered(), by_stage.substr(0, by_stage.find(',')));
}

// What a search has found is lessened; a fixed scope stays.
TEST(LeastRecomputation, IsTakenForPlansThatWereFound) {
  const Pipeline one;
  SearchRequest request = one.request;
  request.memory_limit = one.peaks(2)[0];
  request.risk = 1;
  request.fixed = {{"data", "1"}, {"pipeline", "4"}, {"schedule", "1f1b"}, {"zero", "0"}, {"microbatch", "1"}, {"recompute", "full"}};
  const SearchResult own = search(request), asked = search_as_asked(request);
  ASSERT_FALSE(asked.ranked.empty());
  EXPECT_EQ(own.ranked.front().plan.recompute_scope, sim::RecomputeScope{});
  EXPECT_THAT(to_text(asked.ranked.front().plan.recompute_scope), ::testing::MatchesRegex("first [23],.*,0"));
  EXPECT_LT(asked.ranked.front().measure, own.ranked.front().measure);
  EXPECT_EQ(sim::simulate(one.model, asked.ranked.front().plan).step_time, asked.ranked.front().result.step_time);
  request.fixed["recompute_scope"] = "every 2";
  EXPECT_EQ(search_as_asked(request).ranked.front().plan.recompute_scope.every, 2);
}

}  // namespace
}  // namespace planner
