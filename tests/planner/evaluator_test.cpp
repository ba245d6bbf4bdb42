#include "planner/evaluator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "planner/partition.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

std::span<const PlanCandidate> shape_from(const std::vector<PlanCandidate>& candidates, std::size_t begin) {
  std::size_t end = begin;
  while (end < candidates.size() && same_shape(candidates[begin], candidates[end])) ++end;
  return std::span(candidates).subspan(begin, end - begin);
}

void expect_bounds_below(const SearchRequest& request, int* open = nullptr) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple}, request.workload.precision);
  Evaluator evaluator(request, model);
  const std::vector<PlanCandidate> candidates = enumerate(request).candidates.all();
  sim::SimTime least{};  // of the shape at hand
  for (std::size_t at = 0; at < candidates.size(); ++at) {
    const PlanCandidate& candidate = candidates[at];
    SCOPED_TRACE(to_text(candidate));
    if (at == 0 || !same_shape(candidate, candidates[at - 1])) least = evaluator.least_time(shape_from(candidates, at)).step;
    const sim::SimTime traffic = evaluator.traffic_time(candidate).step;  // as the plans before told
    const Judgement judgement = evaluator.judge(candidate);
    if (judgement.verdict == Verdict::Illegal) continue;
    ASSERT_EQ(judgement.verdict, Verdict::Open);
    if (open != nullptr) ++*open;
    EXPECT_LE(least, judgement.time);
    const sim::SimulationResult result = simulate(model, evaluator.plan(candidate));
    EXPECT_LE(traffic.count(), result.step_time.count());
    EXPECT_LE(judgement.time.count(), result.step_time.count());
    EXPECT_LE(judgement.memory.value(), result.peak_memory.value());
  }
}

// Of open candidates, whatever became of others; how many of their plans are counted.
std::int64_t bounded(const SearchRequest& request, bool (*is_counted)(const sim::ParallelPlan&)) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  Evaluator evaluator(request, model);
  std::int64_t count = 0;
  for (const PlanCandidate& candidate : enumerate(request).candidates) {
    const Judgement judgement = evaluator.judge(candidate);
    if (judgement.verdict != Verdict::Open) continue;
    const sim::ParallelPlan plan = evaluator.plan(candidate);
    count += is_counted(plan) ? 1 : 0;
    const sim::SimulationResult result = simulate(model, plan);
    EXPECT_LE(judgement.time.count(), result.step_time.count()) << to_text(candidate);
    EXPECT_LE(judgement.memory.value(), result.peak_memory.value()) << to_text(candidate);
  }
  return count;
}

// Each word of a question by itself. An order that puts weight gradients off depends on what attention keeps.
TEST(Evaluator, BoundsOfEachWordAreNeverAboveTheSimulation) {
  using Put = void (*)(SearchRequest&);
  struct Word {
    const char* name;
    Put put;
  };
  static std::vector<sim::Violation> wrong;
  constexpr Word kWords[] = {
      {"frozen first 1", [](SearchRequest& r) { r.model.frozen = sim::parse_frozen_parts("first 1", wrong); }},
      {"frozen attention", [](SearchRequest& r) { r.model.frozen = sim::parse_frozen_parts("attention", wrong); }},
      {"frozen embedding,norms", [](SearchRequest& r) { r.model.frozen = sim::parse_frozen_parts("embedding,norms", wrong); }},
      {"adapters", [](SearchRequest& r) { r.model.adapters = sim::parse_adapters("rank 8 alpha 16 on qkv,o dropout 0.1", wrong); }},
      {"embedding=fp32",
       [](SearchRequest& r) { r.workload.precision = sim::parse_precision_policy("bf16 embedding=fp32 head=fp32", wrong); }},
      {"blocks:1-2=fp32", [](SearchRequest& r) { r.workload.precision = sim::parse_precision_policy("bf16 blocks:1-2=fp32", wrong); }},
      {"blocks:1-2=bf16",
       [](SearchRequest& r) {
         r.cluster.hardware.kernels->fp8_peak = sim::FlopsPerSecond(2e15);
         r.workload.precision = sim::parse_precision_policy("fp8:tensorwise gathers=fp8 blocks:1-2=bf16", wrong);
       }},
      {"products:keys=bf16",
       [](SearchRequest& r) {
         r.cluster.hardware.kernels->fp8_peak = sim::FlopsPerSecond(2e15);
         r.workload.precision = sim::parse_precision_policy("fp8:tensorwise gathers=fp8 products:keys=bf16", wrong);
       }},
      {"products:mlp=bf16",
       [](SearchRequest& r) {
         r.cluster.hardware.kernels->fp8_peak = sim::FlopsPerSecond(2e15);
         r.workload.precision = sim::parse_precision_policy("fp8:rowwise products:mlp=bf16", wrong);
       }},
      {"stream=fp32",
       [](SearchRequest& r) {
         r.workload.precision = sim::parse_precision_policy("bf16 stream=fp32", wrong);
         if (!r.offload) r.fixed["schedule"] = "1f1b";  // it has no pass of weights
       }},
      {"routers=fp32",
       [](SearchRequest& r) {
         r.model.experts = sim::ExpertForm{.experts = 4, .topk = 2, .expert_ffn = 64};
         r.workload.precision = sim::parse_precision_policy("bf16 routers=fp32", wrong);
       }},
      {"head=fp8",
       [](SearchRequest& r) {
         r.cluster.hardware.kernels->fp8_peak = sim::FlopsPerSecond(2e15);
         r.workload.precision = sim::parse_precision_policy("fp8:rowwise head=fp8", wrong);
       }},
      {"moments=bf16", [](SearchRequest& r) { r.workload.precision = sim::parse_precision_policy("bf16 moments=bf16", wrong); }},
      {"mtp_apart",
       [](SearchRequest& r) {
         r.model.mtp_layers = 2, r.model.mtp_apart = true, r.model.tied_embeddings = false, r.model.vocabulary = 20000;
       }},
      {"muon", [](SearchRequest& r) { r.workload.optimizer = sim::OptimizerKind::Muon; }},
      {"adafactor", [](SearchRequest& r) { r.workload.optimizer = sim::OptimizerKind::Adafactor; }},
      {"packed", [](SearchRequest& r) { r.workload.samples = sim::parse_samples_policy("packed lognormal mean 200 spread 1", wrong); }},
      {"unfused", [](SearchRequest& r) { r.fixed["attention"] = "unfused"; }},
      {"efficient_masked", [](SearchRequest& r) { r.fixed["attention"] = "efficient_masked"; }}};
  for (const Word& word : kWords)
    for (const bool offload : {false, true}) {
      SearchRequest request = small_request({.devices = 4, .devices_per_node = 2});
      request.model.position = sim::Position::Rotary;
      request.cluster.hardware.kernels = sim::KernelTraits{};
      request.fixed = {{"microbatch", "2"}};
      request.fixed[offload ? "offload_optimizer" : "schedule"] = offload ? "true" : "zb-2p";
      request.fixed["offload_parameters"] = "false";
      request.offload = offload;
      word.put(request);
      ASSERT_TRUE(wrong.empty()) << word.name;
      SCOPED_TRACE(word.name);
      int open = 0;
      expect_bounds_below(request, &open);
      EXPECT_TRUE(open > 0 || (offload && request.workload.optimizer == sim::OptimizerKind::Muon));
    }
}

TEST(Evaluator, BoundsAreNeverAboveTheSimulation) {
  for (const SearchRequest& request : small_requests()) expect_bounds_below(request);
}

// Of slices, whose times differ by what stands in front of them.
TEST(Evaluator, BoundsOfSlicesAreNeverAboveTheSimulation) {
  SearchRequest request = small_request({.devices = 4});
  request.fixed = {{"slices", "4"}};
  ASSERT_FALSE(enumerate(request).candidates.empty());
  expect_bounds_below(request);
}

TEST(Evaluator, BoundsAreNeverAboveTheSimulationOfRandomProblems) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) expect_bounds_below(random_request(random));
}

// Where steps cross, fill and drain of a pipeline lie beside other steps: the bound is what the busiest stage computes. Each word by itself, where a
// candidate may have it, beside candidates that have none.
TEST(Evaluator, BoundsAreNeverAboveStepsThatCross) {
  using Put = void (*)(sim::ParallelPlan&);
  constexpr Put kWords[] = {[](sim::ParallelPlan& plan) { plan.overlap_weight_gather = plan.zero_stage == 1; },
                            [](sim::ParallelPlan& plan) {
                              const bool may = plan.mesh.pipeline > 1 && plan.zero_stage <= 1 && !plan.offload_optimizer;
                              plan.post_validation = may ? sim::PostValidation::Copies : sim::PostValidation::None;
                            },
                            [](sim::ParallelPlan& plan) {
                              const bool may = plan.mesh.pipeline == 1 && plan.mesh.tensor == 1 && plan.zero_stage == 0;
                              plan.training.gradient_clip = 0;
                              plan.partition_size = plan.credit_size = sim::Bytes(may ? 65'536 : 0);
                            }};
  std::int64_t crossing = 0;
  for (SearchRequest request : small_requests())
    for (const Put put : kWords) {
      request.habits = put;
      crossing += bounded(request, [](const sim::ParallelPlan& plan) { return plan.crosses_steps(); });
    }
  EXPECT_GT(crossing, 50);
}

// Weights that are stepped in the backward: of one device, of data ranks, and of shards.
TEST(Evaluator, BoundsAreNeverAboveStepsInTheBackward) {
  std::int64_t inside = 0;
  std::vector<SearchRequest> requests = small_requests();
  requests.push_back(paced(requests.front()));
  for (SearchRequest request : requests) {
    request.habits = [](sim::ParallelPlan& plan) {
      plan.training.gradient_clip = 0;
      plan.optimizer_in_backward = true;
    };
    request.workload.global_batch = 4;
    inside += bounded(request, [](const sim::ParallelPlan& plan) { return plan.optimizer_in_backward; });
  }
  EXPECT_GT(inside, 10);
}

// What is kept from one candidate to the next belongs to it too.
void expect_order_does_not_matter(const SearchRequest& request, const std::vector<PlanCandidate>& candidates) {
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  Evaluator one(request, model);
  for (const PlanCandidate& candidate : candidates) {
    SCOPED_TRACE(to_text(candidate));
    Evaluator fresh(request, model);
    const Judgement expected = fresh.judge(candidate), found = one.judge(candidate);
    EXPECT_EQ(found.time, expected.time);
    EXPECT_EQ(found.memory, expected.memory);
  }
}

TEST(Evaluator, OrderOfQuestionsDoesNotMatter) {
  const SearchRequest request = small_requests()[0];
  expect_order_does_not_matter(request, enumerate(request).candidates.all());
}

// What torch's stages hold depends on the order, on who cuts the sequence, and on which backwards run as one.
TEST(Evaluator, OrderOfQuestionsDoesNotMatterForAProgramThatHoldsMessages) {
  SearchRequest request = small_request({.devices = 4});
  request.cluster.software = sim::load_software("torchtitan");
  request.fixed = {{"microbatch", "1"}};
  std::vector<PlanCandidate> candidates = enumerate(request).candidates.all();
  expect_order_does_not_matter(request, candidates);
  std::ranges::reverse(candidates);
  expect_order_does_not_matter(request, candidates);
}

// Stage 3 casts weights for each microbatch, the others once: the last candidates first, what was learned of them is too much for the others.
TEST(Evaluator, BoundsAreNeverAboveTheSimulationWhereWeightsAreCastOnce) {
  SearchRequest request = casts_once(small_requests()[0]);
  request.fixed = {{"pipeline", "1"}, {"tensor", "1"}, {"microbatch", "1"}, {"recompute", "none"}};
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  std::vector<PlanCandidate> candidates = enumerate(request).candidates.all();
  ASSERT_GT(candidates.size(), 3u);
  expect_order_does_not_matter(request, candidates);
  std::ranges::reverse(candidates);
  expect_order_does_not_matter(request, candidates);
  Evaluator evaluator(request, model);
  for (const PlanCandidate& candidate : candidates) {
    const Judgement sketch = evaluator.sketch(candidate), judged = evaluator.judge(candidate);
    const sim::SimTime step = simulate(model, evaluator.plan(candidate)).step_time;
    EXPECT_LE(sketch.time, step) << to_text(candidate);
    EXPECT_LE(judged.time, step) << to_text(candidate);
  }
}

TEST(Evaluator, CutsWhereTheWorkIsEven) {
  SearchRequest request = small_requests()[0];
  request.model = gpt(8, 4);
  request.model.vocabulary = 500000;  // the head weighs more than a block
  request.fixed = {{"tensor", "1"}, {"pipeline", "2"}, {"data", "2"}, {"schedule", "1f1b"}};
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  const PlanCandidate candidate = enumerate(request).candidates.front();
  EXPECT_GT(Evaluator(request, model).plan(candidate).cut.first[1], sim::even_cut(8, {.stages = 2}).first[1]);
}

TEST(Evaluator, AHeavyHeadStandsAloneWhereItsPredictionsStandApart) {
  SearchRequest request = small_requests()[0];
  request.model = gpt(8, 4);
  request.model.tied_embeddings = false;
  request.model.vocabulary = 500000;
  request.model.mtp_layers = 1;
  request.fixed = {{"tensor", "1"}, {"pipeline", "4"}, {"data", "1"}, {"schedule", "1f1b"}};
  for (const bool apart : {false, true}) {
    request.model.mtp_apart = apart;
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    const sim::ParallelPlan plan = Evaluator(request, model).plan(enumerate(request).candidates.front());
    EXPECT_EQ(plan.cut.first.back(), sim::LayerIndex(apart ? 10 : 8)) << "else a block is with it";
    EXPECT_TRUE(sim::violations(plan).empty());
  }
}

TEST(Evaluator, RefusesWhatIsTooLarge) {
  SearchRequest request = small_requests()[0];
  request.memory_limit = sim::Bytes(1 << 20);
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  Evaluator evaluator(request, model);
  for (const PlanCandidate& candidate : enumerate(request).candidates) EXPECT_EQ(evaluator.judge(candidate).verdict, Verdict::TooLarge);
}

TEST(Evaluator, RefusesWhatBreaksARule) {
  SearchRequest request = small_requests()[0];
  request.workload.sequence = 4096;  // the model has 2,048 positions
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  EXPECT_EQ(Evaluator(request, model).judge(enumerate(request).candidates.front()).verdict, Verdict::Illegal);
}

}  // namespace
}  // namespace planner
