#include "planner/search.h"

#include <gmock/gmock.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <array>
#include <map>

#include "planner/evaluator.h"
#include "sim/cost/prediction_interval.h"
#include "tests/planner/brute_force.h"
#include "tests/planner/certificate.h"

namespace planner {
namespace {

using sim::Bytes;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

std::string text(const std::vector<RankedPlan>& plans) {
  std::string text;
  for (const RankedPlan& plan : plans)
    text += std::to_string(plan.result.step_time.count()) + " ps " + std::to_string(plan.result.peak_memory.value()) + " B " +
            sim::plan_hash(plan.plan) + " " + plan.why_not_best + "\n";
  return text;
}

std::string text(const SearchResult& result) {
  std::string all = result.proof + "\n" + text(result.ranked) + text(result.pareto);
  for (const Exclusion& out : result.excluded)
    all += out.family + " " + out.code + " " + out.reason + " " + out.nearest_fix + " " + std::to_string(out.candidates) + "\n";
  return all;
}

void expect_equal(const std::vector<RankedPlan>& found, const std::vector<Outcome>& expected, const SearchRequest& request) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const std::vector<PlanCandidate> candidates = enumerate(request).candidates.all();
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t at = 0; at < found.size(); ++at) {
    EXPECT_EQ(rank_of(request, found[at].result), expected[at].time);
    EXPECT_EQ(found[at].result.peak_memory, expected[at].memory);
    const PlanCandidate& candidate = candidates[static_cast<std::size_t>(expected[at].index)];
    EXPECT_EQ(sim::plan_hash(found[at].plan), sim::plan_hash(Evaluator(request, model).plan(candidate))) << to_text(candidate);
  }
}

// Problems at the edge: memory that lets some plans in and not others, few and many ranked plans.
std::vector<SearchRequest> at_the_edge(const SearchRequest& request) {
  std::vector<SearchRequest> all;
  for (const std::int64_t mebibytes : {std::int64_t{80} << 10, std::int64_t{300}, std::int64_t{150}, std::int64_t{60}})
    for (const std::int32_t top : {1, 7}) {
      all.push_back(request);
      all.back().memory_limit = sim::Bytes(mebibytes << 20);
      all.back().top = top;
      all.back().gap = 0;
      if (top > 1) all.back().risk = 1;
    }
  return all;
}

void expect_brute_force(const SearchRequest& request, Savings& savings, BruteForce& everything) {
  SCOPED_TRACE(std::to_string(request.cluster.devices) + " devices, " + std::to_string(memory_limit(request).value()) + " B, top " +
               std::to_string(request.top));
  const SearchResult result = planner::search(request);
  Everything expected = everything.answer(request);
  SearchRequest searched = request, risky_of = request;
  if (expected.frontier.ranked().empty() &&
      request.cluster.hardware.kind == sim::DeviceKind::Gpu) {  // the host comes where nothing else fits
    searched.offload = true;
    Everything with_host = everything.answer(searched);
    if (!with_host.frontier.ranked().empty()) {
      if (with_host.risky)
        risky_of = searched;
      else
        with_host.risky = expected.risky;
      expected = std::move(with_host);
    }
  }
  expect_equal(result.ranked, expected.frontier.ranked(), searched);
  expect_equal(result.pareto, expected.frontier.pareto(), searched);
  expect_equal(result.risky, expected.risky ? std::vector{*expected.risky} : std::vector<Outcome>(), risky_of);
  for (const RankedPlan& plan : result.ranked) EXPECT_LE(plan.out_of_memory_chance, request.risk);
  for (const RankedPlan& plan : result.risky) EXPECT_GT(plan.out_of_memory_chance, request.risk);
  EXPECT_EQ(result.candidates, result.infeasible + result.pruned_memory + result.pruned_risk + result.pruned_bound + result.simulated);
  savings.simulated += result.simulated;
  savings.open += result.simulated + result.pruned_bound + result.pruned_risk;
}

TEST(Search, IsBruteForce) {
  Savings savings;
  for (const SearchRequest& problem : small_requests()) {
    BruteForce everything;
    for (const SearchRequest& request : at_the_edge(problem)) expect_brute_force(request, savings, everything);
  }
  EXPECT_LT(savings.simulated * 4, savings.open);  // and it saved the most
}

TEST(Search, IsBruteForceOnRandomProblems) {
  std::mt19937 random(3);
  Savings savings;
  for (int round = 0; round < 30; ++round) {
    SearchRequest request = random_request(random);
    request.gap = 0;
    BruteForce everything;
    expect_brute_force(request, savings, everything);
    const SearchResult all = planner::search(request);
    if (all.pareto.empty()) continue;
    request.memory_limit = all.pareto[random() % all.pareto.size()].result.peak_memory;  // exactly at the edge
    for (const double risk : {0.05, 1.0}) {
      request.risk = risk;
      expect_brute_force(request, savings, everything);
    }
  }
  EXPECT_LT(savings.simulated * 4, savings.open) << savings.simulated << " of " << savings.open;
}

// Small spaces: a random problem with a few of its axes fixed at random.
SearchRequest random_small_space(std::mt19937& random) {
  for (;;) {
    SearchRequest request = random_request(random);
    request.workload.sequence = std::min<std::int64_t>(request.workload.sequence, 512);
    const std::vector<PlanCandidate> all = enumerate(request).candidates.all();
    if (all.empty()) continue;
    const std::vector<Argument> axes = axes_of(all[random() % all.size()]);
    for (const std::string_view axis : {"pipeline", "microbatch", "tensor"})
      for (const Argument& each : axes)
        if (each.name == axis) request.fixed[each.name] = each.value;
    const Argument& another = axes[random() % axes.size()];
    request.fixed[another.name] = another.value;
    request.fixed["offload_optimizer"] = request.fixed["offload_activations"] = "false";
    const std::size_t left = enumerate(request).candidates.size();
    if (left > 1 && left < 80) return request;
  }
}

// Questions whose certificates were held against simulations of everything, and their candidates.
struct Certified {
  std::int64_t questions = 0, candidates = 0;

  void expect(const SearchRequest& request, const SearchResult& result, BruteForce& everything) {
    EXPECT_THAT(Certificate(request, result, everything).faults(), ::testing::IsEmpty());
    ++questions;
    candidates += result.candidates;
  }
  void record() const {  // in the report of GoogleTest
    testing::Test::RecordProperty("certificates", std::to_string(questions));
    testing::Test::RecordProperty("candidates", std::to_string(candidates));
  }
};

TEST(Search, IsBruteForceOnManySmallSpaces) {
  std::mt19937 random(11);
  Savings savings;
  Certified certified;
  for (int round = 0; round < 320; ++round) {
    SearchRequest request = random_small_space(random);
    request.gap = 0;
    BruteForce everything;
    expect_brute_force(request, savings, everything);
    for (const double gap : {0.01, 0.1}) {
      request.gap = gap;
      const SearchResult found = planner::search(request);
      certified.expect(request, found, everything);
      EXPECT_LE(found.gap.value_or(0), gap * 1.001);
    }
  }
  certified.record();
}

// Energy and time to train, on devices whose idle power is nothing, some and nearly all.
TEST(Search, IsBruteForceByOtherObjectives) {
  std::mt19937 random(19);
  Savings savings;
  Certified certified;
  std::int64_t not_fastest = 0;
  for (int round = 0; round < 100; ++round) {
    SearchRequest request = random_small_space(random);
    request.objective = round % 4 == 0 ? Objective::TimeToTrain : Objective::Energy;
    request.cluster.hardware.power->idle = sim::Watts(std::array{1.0, 145.0, 600.0}[random() % 3]);
    request.whole.steps = 1000;
    request.whole.reliability = {.mean_time_between_failures = sim::Seconds(1e4), .restart = sim::Seconds(60), .save = sim::Seconds(0.5)};
    request.gap = 0;
    BruteForce everything;
    expect_brute_force(request, savings, everything);
    const SearchResult exact = planner::search(request);
    SearchRequest by_step = request;
    by_step.objective = Objective::Step;
    const SearchResult fastest = planner::search(by_step);
    if (!exact.ranked.empty() && sim::plan_hash(exact.ranked[0].plan) != sim::plan_hash(fastest.ranked[0].plan)) ++not_fastest;
    request.gap = 0.02;
    const SearchResult found = planner::search(request);
    certified.expect(request, found, everything);
    EXPECT_LE(found.gap.value_or(0), 0.0200001);
  }
  certified.record();
  EXPECT_LT(savings.simulated, savings.open);
  EXPECT_GT(not_fastest, 0);  // it is another question
}

// Of a search that ends with its ranks: bounds are none above the truth, and what is beaten is by the last rank. How many are so by their shape alone.
std::int64_t expect_claims(const SearchRequest& request, const SearchResult& result) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const std::vector<PlanCandidate> candidates = enumerate(request).candidates.all();
  EXPECT_EQ(result.judgements.size(), candidates.size());
  Evaluator evaluator(request, model);
  std::int64_t by_shape = 0;
  for (std::size_t at = 0; at < std::min(candidates.size(), result.judgements.size()); ++at) {
    const Judgement& claim = result.judgements[at];
    const sim::ParallelPlan plan = evaluator.plan(candidates[at]);
    SCOPED_TRACE(to_text(candidates[at]));
    if (!sim::violations(plan).empty()) continue;
    const sim::SimulationResult truth = simulate(model, plan);
    EXPECT_LE(claim.time, truth.step_time);
    EXPECT_LE(claim.memory, truth.peak_memory);
    if (claim.verdict != Verdict::Beaten) continue;
    by_shape += claim.memory == Bytes() ? 1 : 0;
    EXPECT_EQ(result.ranked.size(), static_cast<std::size_t>(request.top));
    EXPECT_LE(sim::to_seconds(result.ranked.back().result.step_time), (1 + request.gap) * (1 + 1e-12) * sim::to_seconds(claim.time));
  }
  return by_shape;
}

// Without a gap they are the same plans.
void expect_ranks_of(const SearchResult& exact, const SearchResult& ranks, const SearchRequest& request) {
  expect_claims(request, ranks);
  EXPECT_EQ(ranks.gap.value_or(0), 0);
  EXPECT_LE(ranks.simulated, exact.simulated);
  ASSERT_EQ(ranks.ranked.size(), exact.ranked.size());
  for (std::size_t at = 0; at < exact.ranked.size(); ++at)
    EXPECT_EQ(sim::plan_hash(ranks.ranked[at].plan), sim::plan_hash(exact.ranked[at].plan));
}

// A search that ends with its ranks holds what it says of them, and simulates less.
TEST(Search, RanksHoldWithoutTheFront) {
  std::mt19937 random(17);
  std::int64_t with_front = 0, without = 0, by_shape = 0;
  for (int round = 0; round < 40; ++round) {
    SearchRequest request = random_small_space(random);
    request.gap = 0;
    const SearchResult exact = planner::search(request);
    request.front = false;
    expect_ranks_of(exact, planner::search(request), request);
    request.front = true;
    request.gap = 0.02;
    with_front += planner::search(request).simulated;
    request.front = false;
    const SearchResult found = planner::search(request);
    without += found.simulated;
    by_shape += expect_claims(request, found);
    ASSERT_EQ(found.ranked.size(), exact.ranked.size());
    for (std::size_t at = 0; at < found.ranked.size(); ++at)
      EXPECT_LE(sim::to_seconds(found.ranked[at].result.step_time), 1.0200001 * sim::to_seconds(exact.ranked[at].result.step_time));
    EXPECT_LE(found.gap.value_or(0), 0.0200001);
    EXPECT_EQ(found.candidates, exact.candidates);
    EXPECT_THAT(found.proof, ::testing::Not(HasSubstr("Pareto")));
  }
  SearchRequest wide = small_requests()[1];
  wide.front = false;
  wide.top = 1;
  by_shape += expect_claims(wide, planner::search(wide));
  EXPECT_LT(without, with_front);
  EXPECT_GT(by_shape, 0);
}

// One claim of each kind, in the certificate of each question.
TEST(Search, AWrongCertificateIsFound) {
  std::mt19937 random(23);
  std::map<std::string, std::int64_t> planted_of;
  for (int round = 0; round < 60; ++round) {
    SearchRequest request = random_small_space(random);
    request.gap = round % 2 == 0 ? 0 : 0.02;
    BruteForce everything;
    const SearchResult right = planner::search(request);
    EXPECT_THAT(Certificate(request, right, everything).faults(), ::testing::IsEmpty());
    for (const auto& [what, wrong] : planted(request, right, everything)) {
      EXPECT_THAT(Certificate(request, wrong, everything).faults(), ::testing::Not(::testing::IsEmpty())) << what;
      ++planted_of[what];
    }
  }
  EXPECT_EQ(planted_of.size(), 7u) << "an occasion for each kind";
  for (const auto& [what, count] : planted_of) testing::Test::RecordProperty(what, std::to_string(count));
}

// New forms of plans are less certain: by the 90th percentile they rank behind plans that they are a little faster than.
TEST(Search, RobustRanksByTheNinetiethPercentile) {
  std::mt19937 random(5);
  std::int64_t moved = 0;
  for (int round = 0; round < 40; ++round) {
    SearchRequest request = round == 0 ? long_request() : random_small_space(random);
    request.gap = 0;
    request.top = 200;
    const SearchResult usual = planner::search(request);
    request.robust = true;
    const SearchResult robust = planner::search(request);
    ASSERT_EQ(usual.ranked.size(), robust.ranked.size());
    const auto percentile = [](const RankedPlan& plan) {
      return sim::prediction_interval(plan.plan).high(sim::to_seconds(plan.result.step_time));
    };
    std::vector<sim::Seconds> of_usual;
    for (const RankedPlan& plan : usual.ranked) of_usual.push_back(percentile(plan));
    std::sort(of_usual.begin(), of_usual.end());
    for (std::size_t at = 0; at < robust.ranked.size(); ++at) {
      EXPECT_EQ(robust.ranked[at].plan.predictions->step_time, sim::to_seconds(robust.ranked[at].result.step_time));
      EXPECT_LE(percentile(robust.ranked[at]).count(), of_usual[at].count() * (1 + 1e-9));
      const RankedPlan& before = robust.ranked[at == 0 ? 0 : at - 1];
      EXPECT_GE(percentile(robust.ranked[at]).count(), percentile(before).count() * (1 - 1e-9));
      moved += sim::plan_hash(usual.ranked[at].plan) == sim::plan_hash(robust.ranked[at].plan) ? 0 : 1;
    }
  }
  EXPECT_GT(moved, 0);
}

TEST(Search, SaysHowSureItsOrderIs) {
  const SearchResult result = planner::search(small_requests()[0]);
  const RankedPlan& first = result.ranked.front();
  for (std::size_t at = 1; at < result.ranked.size(); ++at) {  // not as their steps: a plan that is less alike is less sure to be slower
    const RankedPlan& plan = result.ranked[at];
    EXPECT_GE(plan.slower_chance, 0.5);
    EXPECT_LT(plan.slower_chance, 1);
    EXPECT_DOUBLE_EQ(plan.slower_chance, sim::chance_faster({first.plan, sim::to_seconds(first.result.step_time)},
                                                            {plan.plan, sim::to_seconds(plan.result.step_time)}));
  }
}

TEST(Search, AGapSparesSimulations) {
  SearchRequest request = small_requests()[1];
  request.gap = 0;
  const std::int64_t exact = planner::search(request).simulated;
  request.gap = 0.05;
  const SearchResult coarse = planner::search(request);
  EXPECT_LT(coarse.simulated, exact);
  EXPECT_THAT(coarse.proof, HasSubstr("within 5.0 %"));
}

TEST(Search, APlanOnTheCliffIsLeftAsideUntilItsRiskIsAccepted) {
  SearchRequest request = small_requests()[0];
  request.memory_limit = planner::search(request).ranked.front().result.peak_memory;  // of the fastest: it fills the device
  const SearchResult careful = planner::search(request);
  ASSERT_EQ(careful.risky.size(), 1u);
  EXPECT_GE(careful.risky.front().out_of_memory_chance, 0.5);
  EXPECT_THAT(careful.risky.front().why_not_best, HasSubstr("faster"));
  for (request.gap = 1; request.gap > 0.005; request.gap /= 10)  // a gain within the gap is none
    for (const SearchResult found = planner::search(request); const RankedPlan& risky : found.risky)
      EXPECT_LT(risky.measure * (1 + request.gap), found.ranked.front().measure);
  request.risk = 1;
  const SearchResult daring = planner::search(request);
  EXPECT_TRUE(daring.risky.empty());
  EXPECT_EQ(sim::plan_hash(daring.ranked.front().plan), sim::plan_hash(careful.risky.front().plan));
}

// What the search assumes of twins.
TEST(Search, ZeroOneAndTwoTakeTheSameTime) {
  on_every_small_plan([](const sim::ModelGraph& model, const sim::ParallelPlan& plan) {
    if (plan.zero_stage != 1) return;
    sim::ParallelPlan twin = plan;
    twin.zero_stage = 2;
    EXPECT_EQ(simulate(model, plan).step_time, simulate(model, twin).step_time);
  });
}

TEST(Search, TheHostComesWhereNothingElseFits) {
  SearchRequest request = small_requests()[0];
  for (const RankedPlan& plan : planner::search(request).ranked) EXPECT_FALSE(plan.plan.offload_optimizer);
  request.memory_limit = sim::Bytes(std::int64_t{60} << 20);
  request.risk = 1;  // beside so little memory libraries are much
  const SearchResult result = planner::search(request);
  ASSERT_FALSE(result.ranked.empty());
  for (const RankedPlan& plan : result.ranked) EXPECT_TRUE(plan.plan.offload_optimizer);
  request.fixed = {{"offload_optimizer", "false"}};
  EXPECT_TRUE(planner::search(request).ranked.empty());
  request.fixed.clear();
  request.cluster.hardware.node_memory = sim::Bytes(1 << 20);  // nor into the host
  EXPECT_TRUE(planner::search(request).ranked.empty());
}

TEST(Search, ThreadsDoNotChangeAByte) {
  SearchRequest request = small_requests()[1];
  std::vector<std::string> texts;
  for (const std::size_t threads : {1, 2, 8}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    texts.push_back(text(planner::search(request)));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

TEST(Search, PlansAreCompleteAndCarryTheirPredictions) {
  const SearchResult result = planner::search(small_requests()[0]);
  ASSERT_EQ(result.ranked.size(), 5u);
  EXPECT_EQ(result.ranked[0].why_not_best, "");
  EXPECT_NE(result.ranked[1].why_not_best, "");
  for (const RankedPlan& plan : result.ranked) {
    EXPECT_TRUE(sim::violations(plan.plan).empty());
    EXPECT_EQ(plan.plan.predictions->hash, sim::plan_hash(plan.plan));
    EXPECT_EQ(plan.plan.predictions->peak_memory, plan.result.peak_memory);
  }
}

TEST(Search, RunnableOnlyKeepsToWhatTheWorkerPerforms) {
  SearchRequest request = small_requests().back();
  request.why_not = sim::why_not_runnable;
  const SearchResult result = planner::search(request);
  ASSERT_FALSE(result.ranked.empty());
  for (const RankedPlan& plan : result.pareto) EXPECT_TRUE(sim::why_not_runnable(plan.plan).empty());
  request.workload.precision = sim::Precision::Tf32;  // no CPU computes in it
  request.cluster.hardware.kind = sim::DeviceKind::Cpu;
  request.cluster.hardware.peak[static_cast<std::size_t>(sim::Precision::Tf32)] = sim::FlopsPerSecond(1e12);
  const SearchResult refused = planner::search(request);
  EXPECT_TRUE(refused.ranked.empty());
  EXPECT_THAT(refused.excluded, Contains(Field(&Exclusion::code, "not_runnable")));
}

TEST(Search, PlansForAnotherProgramKeepToWhatItPerforms) {
  SearchRequest request = small_requests().back();
  request.why_not = [](const sim::ParallelPlan& plan) {
    return plan.zero_stage == 0 ? std::vector<sim::Violation>()
                                : std::vector<sim::Violation>{{"/zero_stage", "there is none there", "plan with --fix zero=0"}};
  };
  const SearchResult result = planner::search(request);
  ASSERT_FALSE(result.ranked.empty());
  for (const RankedPlan& plan : result.pareto) EXPECT_EQ(plan.plan.zero_stage, 0);
  EXPECT_THAT(result.excluded, Contains(Field(&Exclusion::code, "not_runnable")));
}

TEST(Search, ReportsProgressToTheEnd) {
  SearchProgress last;
  const SearchResult result = planner::search(small_requests()[0], [&](SearchProgress progress) {
    EXPECT_GT(progress.done, last.done);
    last = progress;
  });
  EXPECT_EQ(last.done, result.candidates);
  EXPECT_EQ(last.all, result.candidates);
}

TEST(Search, StopsWhenCanceled) {
  std::atomic<bool> cancel{true};
  const SearchResult at_once = planner::search(small_requests()[0], {}, &cancel);
  EXPECT_TRUE(at_once.ranked.empty());
  EXPECT_THAT(at_once.proof, HasSubstr("ended before a plan was found"));
  EXPECT_EQ(at_once.open, at_once.candidates);

  cancel = false;
  const SearchResult later = planner::search(
      small_requests()[0], [&](SearchProgress) { cancel = true; }, &cancel);
  EXPECT_THAT(later.proof, HasSubstr("ended with"));
  EXPECT_EQ(later.candidates,
            later.infeasible + later.pruned_memory + later.pruned_risk + later.pruned_bound + later.simulated + later.open);
}

// Ended when it has its first plans: what it has not looked at is bounded by shapes, so that a gap is known, and true.
TEST(Search, EndedEarlyItKnowsItsGap) {
  for (const std::size_t problem : {std::size_t{0}, std::size_t{1}}) {
    SearchRequest request = small_requests()[problem];
    request.front = false;
    const sim::SimTime best = Frontier(BruteForce().answer(request).frontier).ranked().front().time;
    std::atomic<bool> cancel{false};
    SearchProgress last;
    const SearchResult ended = planner::search(
        request,
        [&](SearchProgress progress) {
          last = progress;
          if (progress.best > 0) cancel = true;
        },
        &cancel);
    ASSERT_FALSE(ended.ranked.empty());
    EXPECT_GT(ended.open, 0);
    ASSERT_TRUE(ended.gap);
    EXPECT_LE(sim::to_seconds(ended.ranked.front().result.step_time) / (1 + *ended.gap), sim::to_seconds(best) * (1 + 1e-12));
    EXPECT_GT(last.least, 0);
    EXPECT_LE(last.least, sim::to_seconds(best).count());
  }
}

}  // namespace
}  // namespace planner
