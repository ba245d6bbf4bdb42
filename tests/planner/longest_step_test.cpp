#include "planner/longest_step.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "planner/evaluator.h"
#include "planner/plan_prices.h"
#include "planner/search.h"
#include "planner/search_space.h"
#include "planner/sketch.h"
#include "sim/engine/simulate.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

using sim::SimTime;

TEST(LongestStep, WhatTakesLongerIsNotToldApart) {
  EXPECT_EQ(clamped(5.9), SimTime(5));
  EXPECT_EQ(clamped(1e30), kLongestStep);
  EXPECT_EQ(clamped(std::numeric_limits<double>::quiet_NaN()), kLongestStep);
  EXPECT_TRUE(is_too_long(4e18));
  EXPECT_FALSE(is_too_long(3.9e18));
  EXPECT_EQ(cut_off(SimTime::max()), kLongestPrice);
  EXPECT_EQ(cut_off(SimTime(7)), SimTime(7));
}

TEST(LongestStep, SumsKnowHowOftenALayerIsThere) {
  const SearchRequest request = small_request({.devices = 1, .devices_per_node = 1});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  StageLayerPrices prices(model.firsts.size());
  const sim::LayerKind block = model.kind(sim::LayerIndex(1));
  prices[block].backward = {.time = SimTime(10), .issued = SimTime(12), .issue = SimTime(2)};
  EXPECT_EQ(most(model, prices), 24.0 * 4) << "four blocks; where the host waits for nothing it counts for nothing";
  StageStepPrices step{.buckets = std::vector<BucketPrice>(3), .norm_part = {.time = SimTime(5)}};
  for (BucketPrice& bucket : step.buckets) bucket.reduce.load.uplink = SimTime(100);
  EXPECT_EQ(most(std::vector{step}), 305.0);
  EXPECT_EQ(most(std::vector{StageTransfers{.down = {.forward_post = SimTime(1)}, .up = {.backward_receive = SimTime(2)}}}), 3.0);
}

// A microbatch that takes half of what fits, a thousand times.
TEST(LongestStep, AShapesBoundStaysOnTheClock) {
  const SimTime block(std::int64_t{1} << 60);
  const LeastWork work{.all = block * 2, .alone = block * 2, .forward = block / 2, .backward = block / 2, .common = block, .blocks = 2};
  EXPECT_EQ(least_time(work, {.microbatches = 1000, .stages = 2, .one_chunk = true}), kLongestStep);
  const LeastWork few{
      .all = SimTime(200), .alone = SimTime(200), .forward = SimTime(50), .backward = SimTime(50), .common = SimTime(100), .blocks = 2};
  EXPECT_EQ(least_time(few, {.microbatches = 1, .stages = 1, .one_chunk = true}), SimTime(199)) << "less what real numbers round";
}

// From steps of seconds to such of weeks, and beyond what any clock holds: bounds never exceed the engine, nor less than nothing.
TEST(LongestStep, BoundsOfSlowMachinesAreNeverAboveTheSimulation) {
  for (const double slower : {1e4, 1e7, 1e9, 1e11, 1e30}) {
    SearchRequest request = small_request({.devices = 4, .devices_per_node = 2});
    request.cluster.hardware.intra_node.bandwidth = request.cluster.hardware.intra_node.bandwidth * (1 / slower);
    request.cluster.hardware.inter_node.bandwidth = request.cluster.hardware.inter_node.bandwidth * (1 / slower);
    request.fixed = {{"schedule", "1f1b"}, {"microbatch", "1"}, {"recompute", "none"}};
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple}, request.workload.precision);
    Evaluator evaluator(request, model);
    for (const PlanCandidate& candidate : enumerate(request).candidates.all()) {
      const Judgement judgement = evaluator.judge(candidate);
      if (judgement.verdict != Verdict::Open) continue;
      const SimTime bound = std::max(judgement.time, evaluator.first_time(candidate).step);
      EXPECT_GT(bound.count(), 0) << slower;
      try {
        EXPECT_LE(bound.count(), simulate(model, evaluator.plan(candidate)).step_time.count()) << slower << ' ' << to_text(candidate);
      } catch (const sim::InputError&) {  // longer than the clock
        EXPECT_GE(slower, 1e9);
      }
    }
  }
}

// Each of these once made sums that came out less than nothing, and a search that did not end.
TEST(LongestStep, ASearchRefusesWhatNoPlanCanDoInTime) {
  using Slow = void (*)(sim::HardwareProfile&);
  constexpr Slow kSlow[] = {[](sim::HardwareProfile& h) { h.peak.fill(sim::FlopsPerSecond(1e-30)); },
                            [](sim::HardwareProfile& h) { h.peak.fill(sim::FlopsPerSecond(1000)); },
                            [](sim::HardwareProfile& h) { h.memory_bandwidth = sim::BytesPerSecond(1e-30); },
                            [](sim::HardwareProfile& h) { h.kernel_overhead = sim::Seconds(1e30); },
                            [](sim::HardwareProfile& h) { h.kernel_overhead = sim::Seconds(1e5); },
                            [](sim::HardwareProfile& h) { h.intra_node.latency = sim::Seconds(1e30); },
                            [](sim::HardwareProfile& h) { h.intra_node.latency = h.inter_node.latency = sim::Seconds(1e6); },
                            [](sim::HardwareProfile& h) { h.intra_node.bandwidth = sim::BytesPerSecond(1e-30); }};
  for (const Slow slow : kSlow)
    for (const Objective objective : {Objective::Step, Objective::Energy}) {
      SearchRequest request = small_request({.devices = 4, .devices_per_node = 4});
      slow(request.cluster.hardware);
      request.objective = objective;
      try {
        const SearchResult result = search(request);
        ADD_FAILURE() << result.ranked.size() << " plans";
      } catch (const sim::InputError& error) {
        EXPECT_THAT(error.what(), ::testing::HasSubstr("106"));
      }
    }
}

// Most plans take years over such a link; those that send little over it are found.
TEST(LongestStep, PlansThatFitOnTheClockCompeteBesideOthersThatDoNot) {
  SearchRequest request = small_request({.devices = 4, .devices_per_node = 2});
  request.model.tied_embeddings = false;
  request.cluster.hardware.inter_node.bandwidth = sim::BytesPerSecond(5);
  request.top = 1;
  const SearchResult result = search(request);
  ASSERT_EQ(result.ranked.size(), 1u);
  const auto is_beaten_by_clock = [](const Judgement& one) { return one.verdict == Verdict::Beaten && one.time == kLongestStep; };
  EXPECT_GT(std::ranges::count_if(result.judgements, is_beaten_by_clock), 0);
  EXPECT_LT(result.ranked.front().result.step_time, kLongestStep);
}

}  // namespace
}  // namespace planner
