#include "planner/traffic.h"

#include <gtest/gtest.h>

#include "planner/evaluator.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

Traffic learned_from(const SearchRequest& request, const PlanCandidate& candidate) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const sim::ParallelPlan plan = make_plan(request, candidate);
  const sim::TaskGraph devices = devices_of(model, plan);
  return traffic_of(plan, devices, Pricer(model, plan, devices).steps());
}

// On slow links.
SearchRequest deep_request() {
  SearchRequest request = small_request({.devices = 8, .devices_per_node = 1});
  request.cluster.hardware.inter_node.bandwidth = sim::BytesPerSecond(2e8);
  request.model = gpt(16, 4);
  request.model.tied_embeddings = false;
  request.workload.global_batch = 32;
  return request;
}
constexpr PlanCandidate kSharded{.mesh = {.data = 4, .pipeline = 2}, .zero_stage = 3, .accumulation = sim::Accumulation::ReduceEach};

// That every plan's is below its simulation is asked beside the other bounds (evaluator_test). Here: that it says most of what links carry.
TEST(Traffic, SaysWhatGathersOfEveryMicrobatchTake) {
  const SearchRequest request = deep_request();
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  Evaluator evaluator(request, model);
  PlanCandidate other = kSharded;
  EXPECT_EQ(evaluator.traffic_time(other).step.count(), 0);  // nothing is judged
  evaluator.judge(kSharded);
  other.schedule = 2, other.chunks = 2, other.microbatch = 2;
  const sim::SimTime bound = evaluator.traffic_time(other).step, judged = evaluator.judge(other).time;
  EXPECT_GT(bound, evaluator.first_time(other).step * 2);
  EXPECT_LE(bound, judged);
  EXPECT_GT(bound * 5, judged * 2);  // the embedding is not spread evenly
}

TEST(Traffic, MovesWithTheNumberOfMicrobatches) {
  const SearchRequest request = deep_request();
  const Traffic traffic = learned_from(request, kSharded);
  PlanCandidate last = kSharded, halved = kSharded;
  last.zero_stage = 1, last.accumulation = sim::Accumulation::ReduceLast;
  halved.microbatch = 2;
  const auto of = [&](const Traffic& known, const PlanCandidate& candidate) { return least_time(known, make_plan(request, candidate)); };
  EXPECT_NEAR(static_cast<double>(of(traffic, kSharded).count()), 2.0 * static_cast<double>(of(traffic, halved).count()), 2);
  EXPECT_LT(of(learned_from(request, last), last) * 8, of(traffic, kSharded));  // eight microbatches
  EXPECT_GT(of(learned_from(request, last), last).count(), 0);
}

// An action may end with the unit that the next begins with: of chunks of one unit nothing is surely gathered again.
TEST(Traffic, CountsNoUnitThatMayStay) {
  const SearchRequest request = deep_request();
  const Traffic traffic = learned_from(request, kSharded);
  PlanCandidate fine = kSharded;
  fine.schedule = 2, fine.chunks = 8;
  Traffic reductions = traffic;
  reductions.gathered = {};
  EXPECT_LT(least_time(traffic, make_plan(request, fine)), least_time(traffic, make_plan(request, kSharded)));
  EXPECT_GE(least_time(traffic, make_plan(request, fine)), least_time(reductions, make_plan(request, fine)));
}

TEST(Traffic, IsNothingWhereNoWeightsAreShared) {
  SearchRequest request = deep_request();
  request.cluster.devices = 2;
  const PlanCandidate alone{.mesh = {.pipeline = 2}};
  EXPECT_EQ(least_time(learned_from(request, alone), make_plan(request, alone)).count(), 0);
}

}  // namespace
}  // namespace planner
