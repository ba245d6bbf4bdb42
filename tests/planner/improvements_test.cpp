#include "planner/improvements.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "planner/evaluator.h"
#include "planner/plan_candidate.h"
#include "planner/ranking.h"
#include "planner/search_space.h"
#include "planner/unsearched.h"
#include "sim/plan/plan_fields.h"
#include "tests/planner/every_plan.h"
#include "tests/planner/problems.h"

namespace planner {
namespace {

using ::testing::SizeIs;

struct Case {
  SearchRequest request = small_request({.devices = 8});
  sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  sim::ParallelPlan plan_of(const PlanCandidate& candidate) { return Evaluator(request, model).plan(candidate); }
};

// A plan with a needless tensor degree and recomputation: both changes are found, each verified by its own simulation.
TEST(Improvements, FindWhatHoldsAPlanBack) {
  Case one;
  const sim::ParallelPlan plan = one.plan_of({.mesh = {.data = 4, .tensor = 2}, .recompute = sim::Recompute::Full});
  const sim::SimulationResult result = sim::simulate(one.model, plan);
  const Improvements found = improvements(request_like(plan), {plan, result});
  ASSERT_FALSE(found.one.empty());
  sim::SimTime last{};
  for (const Improvement& better : found.one) {
    EXPECT_THAT(better.changed, SizeIs(1));
    EXPECT_LT(better.result.step_time, result.step_time);
    EXPECT_GE(better.result.step_time, last);
    EXPECT_EQ(sim::simulate(one.model, better.plan).step_time, better.result.step_time);
    last = better.result.step_time;
  }
  const auto drops_recomputation = [](const Improvement& better) { return better.changed == std::vector<std::string>{"recompute"}; };
  EXPECT_TRUE(std::any_of(found.one.begin(), found.one.end(), drops_recomputation));
  ASSERT_FALSE(found.two.empty());
  EXPECT_LT(found.two.front().result.step_time, found.one.front().result.step_time);
}

// By energy they are others than by time, and in another order.
TEST(Improvements, AreRankedByTheObjective) {
  Case one;
  const sim::ParallelPlan plan = one.plan_of({.mesh = {.data = 4, .tensor = 2}, .recompute = sim::Recompute::Full});
  const sim::SimulationResult result = sim::simulate(one.model, plan);
  SearchRequest request = request_like(plan);
  request.objective = Objective::Energy;
  const Ranking ranking(request);
  const auto energy = [&](const sim::SimulationResult& of) { return ranking.measure(ranking.of_step(step_time_of(of))); };
  const Improvements found = improvements(request, {plan, result});
  ASSERT_FALSE(found.one.empty());
  double last = 0;
  for (const Improvement& better : found.one) {
    EXPECT_EQ(better.measure, energy(better.result));
    EXPECT_LT(better.measure, energy(result));
    EXPECT_GE(better.measure, last);
    last = better.measure;
  }
}

TEST(Improvements, TryExchangesBesideAnotherMicrobatch) {
  Case one{.request = expert_request()};
  one.request.workload.global_batch = 16;
  const auto alternating = static_cast<std::int32_t>(sim::find_schedule("1f1b") - sim::all_schedules().data());
  const sim::ParallelPlan plan = one.plan_of({.mesh = {.data = 4, .expert = 4}, .schedule = alternating});
  const sim::SimulationResult result = sim::simulate(one.model, plan);
  SearchRequest request = request_like(plan);
  request.why_not = [](const sim::ParallelPlan& other) {
    return other.expert_overlap ? std::vector<sim::Violation>{} : std::vector<sim::Violation>{{"/expert_overlap", "others are better", ""}};
  };
  const Improvements found = improvements(request, {plan, result});
  ASSERT_THAT(found.one, SizeIs(1));
  EXPECT_EQ(found.one.front().changed, std::vector<std::string>{"expert_overlap"});
  EXPECT_LT(found.one.front().result.step_time, result.step_time);
}

// No search chooses it.
TEST(Improvements, TryGradientsOfWeightsBesideExchanges) {
  Case one{.request = expert_request()};
  one.request.workload.global_batch = 16;
  const auto alternating = static_cast<std::int32_t>(sim::find_schedule("1f1b") - sim::all_schedules().data());
  const sim::ParallelPlan plan = one.plan_of({.mesh = {.data = 4, .expert = 4}, .schedule = alternating, .expert_overlap = true});
  SearchRequest request = request_like(plan);
  std::atomic<std::int64_t> asked{0};
  request.why_not = [&](const sim::ParallelPlan& other) {
    asked += other.delay_wgrad && other.expert_overlap ? 1 : 0;
    return std::vector<sim::Violation>{{"/delay_wgrad", "counts, and is refused", ""}};
  };
  improvements(request, {plan, sim::simulate(one.model, plan)});
  EXPECT_GT(asked.load(), 0);
}

// A word that no search chooses: our worker's habit is without it.
TEST(Improvements, TryExchangesBesideGradientsOfWeights) {
  Case one;
  one.request.cluster.hardware.kind = sim::DeviceKind::Gpu;
  const sim::ParallelPlan plan = one.plan_of({.mesh = {.data = 4, .tensor = 2}});
  SearchRequest request = request_like(plan);
  std::atomic<std::int64_t> asked{0};
  request.why_not = [&](const sim::ParallelPlan& other) {
    asked += other.tensor_overlap == sim::TensorOverlap::BesideWeights ? 1 : 0;
    return std::vector<sim::Violation>{{"/tensor_overlap", "counts, and is refused", ""}};
  };
  improvements(request, {plan, sim::simulate(one.model, plan)});
  EXPECT_GT(asked.load(), 0);
}

// But for words that are not searched.
TEST(Improvements, TheBestHasNone) {
  Case one;
  one.request.gap = 0;
  const sim::ParallelPlan plan = search(one.request).ranked.front().plan;
  const Improvements found = improvements(request_like(plan), {plan, sim::simulate(one.model, plan)});
  for (const Improvement& better : found.one)
    EXPECT_TRUE(std::ranges::none_of(all_axes(), [&](const Axis& axis) { return axis.field->name == better.changed.front(); }))
        << better.changed.front();
  EXPECT_TRUE(found.two.empty());
  EXPECT_GT(found.neighbors, 0);
}

// Of a plan that does not fit: what makes it fit.
TEST(Improvements, MakeAPlanFit) {
  Case one;
  const sim::ParallelPlan plan = one.plan_of({.mesh = {.data = 8}});
  const sim::SimulationResult result = sim::simulate(one.model, plan);
  SearchRequest tight = request_like(plan);
  tight.memory_limit = sim::Bytes(result.peak_memory.value() * 9 / 10);
  const Improvements found = improvements(tight, {plan, result});
  ASSERT_FALSE(found.one.empty());
  for (const Improvement& better : found.one) EXPECT_LE(better.result.peak_memory, *tight.memory_limit);
}

// Words that no axis chooses stay as the plan says them.
TEST(Improvements, KeepThePlansOwnWords) {
  Case one;
  sim::ParallelPlan plan = one.plan_of({.mesh = {.data = 4, .tensor = 2}});
  plan.bucket_size = sim::Bytes(1 << 20);
  const SearchRequest request = request_like(plan);
  const Improvements found = improvements(request, {plan, sim::simulate(one.model, plan)});
  for (const Improvement& better : found.one) EXPECT_EQ(better.plan.bucket_size, plan.bucket_size);
  EXPECT_EQ(search(request).ranked.front().plan.bucket_size, plan.bucket_size);
}

// Another value of its kind than a plan has that says nothing.
sim::FieldValue another_value(const sim::PlanField& field) {
  const sim::FieldValue usual = field.access.get({});
  if (const bool* on = std::get_if<bool>(&usual)) return !*on;
  if (const std::int64_t* number = std::get_if<std::int64_t>(&usual)) return *number + 1;
  if (const double* number = std::get_if<double>(&usual)) return *number / 2;
  if (const sim::Bytes* bytes = std::get_if<sim::Bytes>(&usual)) return *bytes + sim::Bytes(1 << 20);
  if (field.name == "offload_modules") return to_text(sim::Modules(sim::Module::CoreAttention));
  if (field.name == "graph_scope") return std::string("attn");
  for (const std::string_view name : field.access.names())
    if (name != std::get<std::string>(usual)) return std::string(name);
  return usual;
}

// All plans of the space have the given one's value.
bool enumerates_only(const SearchRequest& request, const sim::PlanField& field, const sim::ParallelPlan& given) {
  const Candidates all = enumerate(request).candidates;
  return !all.empty() && std::all_of(all.begin(), all.end(), [&](const PlanCandidate& one) {
    return field.access.get(make_plan(request, one)) == field.access.get(given);
  });
}

// What no axis chooses stays as the plan has it: a best plan of another training would be no answer.
TEST(Improvements, KeepEveryWordThatIsNotSearched) {
  for (const Unsearched& word : unsearched()) {
    // Of the question; of the plan's stages; axes, whose usual value competes.
    const std::array left = {"vocabulary_multiple", "expert_loads", "mtp_apart", "order", "cut", "slices", "context_inner"};
    if (std::ranges::find(left, word.field) != left.end()) continue;
    const sim::PlanField& field = sim::plan_field(word.field);
    const SearchRequest asked = small_request({.devices = 8});
    const bool names_kernels = word.field == "attention";  // of those that are described
    sim::ParallelPlan given = make_plan(names_kernels ? paced(asked) : asked, {}), other = given;
    if (word.field == "on_drive") given.offload_optimizer = other.offload_optimizer = true;  // else nothing is
    field.access.set(given, another_value(field));
    ASSERT_NE(field.access.get(given), field.access.get(other)) << word.field;
    const SearchRequest request = request_like(given);
    request.habits(other);
    const bool is_kept = request.own.contains(std::string(word.field)) ? enumerates_only(request, field, given)
                                                                       : field.access.get(given) == field.access.get(other);
    EXPECT_TRUE(is_kept) << word.field;
  }
}

// A plan that writes its scores out is told of the kernel that its program has without a word.
TEST(Improvements, OfferTheProgramsOwnAttention) {
  SearchRequest asked = long_request();
  asked.cluster.hardware.kernels = sim::KernelTraits{};
  sim::ParallelPlan plan = make_plan(asked, {.mesh = {.data = 4}});
  plan.attention = sim::AttentionWord::Unfused;
  ASSERT_TRUE(sim::violations(plan).empty());
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const Improvements found = improvements(request_like(plan), {plan, sim::simulate(model, plan)});
  EXPECT_TRUE(std::ranges::any_of(found.one, [](const Improvement& one) {
    return one.changed == std::vector<std::string>{"attention"} && one.plan.attention == sim::AttentionWord::AsTheProgram;
  }));
}

// Where clipping is off and a step is one microbatch: gradients of one unit in place of all.
TEST(Improvements, OfferStepsInTheBackwardToAPlanThatDoesNotFit) {
  SearchRequest asked = small_request({.devices = 1});
  asked.model = gpt(6, 32);  // wide, of few words: gradients of its blocks are most of what there is
  asked.model.vocabulary = 512;
  asked.workload.sequence = 32;
  asked.training.gradient_clip = 0;
  sim::ParallelPlan plan = make_plan(asked, {.recompute = sim::Recompute::Full});
  plan.microbatch_size = plan.workload.global_batch;
  sim::ParallelPlan inside = plan;
  inside.optimizer_in_backward = true;
  ASSERT_TRUE(sim::violations(inside).empty());
  const sim::ModelGraph model = sim::make_model_graph(plan);
  const sim::SimulationResult result = sim::simulate(model, plan);
  SearchRequest tight = request_like(plan);
  tight.memory_limit = sim::Bytes(sim::simulate(model, inside).peak_memory.value() * 21 / 20);
  tight.risk = 0.5;
  ASSERT_LT(*tight.memory_limit, result.peak_memory);
  tight.fixed = {{"recompute", "full"}};
  const Improvements found = improvements(tight, {plan, result});
  EXPECT_TRUE(std::ranges::any_of(found.one, [](const Improvement& one) {
    return one.changed == std::vector<std::string>{"optimizer_in_backward"} && one.plan.optimizer_in_backward;
  }));
}

TEST(Improvements, WhatTheProgramCannotSayIsNotOffered) {
  Case one;
  const sim::ParallelPlan plan = one.plan_of({.mesh = {.data = 4, .tensor = 2}, .recompute = sim::Recompute::Full});
  SearchRequest request = request_like(plan);
  request.why_not = [](const sim::ParallelPlan& other) {
    return other.recompute == sim::Recompute::Full ? std::vector<sim::Violation>{}
                                                   : std::vector<sim::Violation>{{"/recompute", "no", "no"}};
  };
  for (const Improvement& better : improvements(request, {plan, sim::simulate(one.model, plan)}).one)
    EXPECT_EQ(better.plan.recompute, sim::Recompute::Full);
}

}  // namespace
}  // namespace planner
