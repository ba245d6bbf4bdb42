#include "planner/sketch.h"

#include <gtest/gtest.h>

#include <cmath>

#include "planner/evaluator.h"
#include "sim/model/adapters.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

// On every candidate, whatever its mesh: what is refused by a sketch would be refused anyway.
TEST(Sketch, IsNeverAboveTheBounds) {
  double time = 0, memory = 0;
  std::int64_t plans = 0;
  for (const SearchRequest& request : small_requests()) {
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    Evaluator evaluator(request, model);
    for (const PlanCandidate& candidate : enumerate(request).candidates) {
      const Judgement judged = evaluator.judge(candidate), sketched = evaluator.sketch(candidate);
      EXPECT_TRUE(sketched.is_sketch);
      if (judged.verdict != Verdict::Open) continue;
      EXPECT_EQ(sketched.verdict, Verdict::Open) << to_text(candidate);
      EXPECT_LE(sketched.time, judged.time) << to_text(candidate);
      EXPECT_LE(sketched.memory, judged.memory) << to_text(candidate);
      time += sim::to_seconds(sketched.time) / sim::to_seconds(judged.time);
      memory += sketched.memory / judged.memory;
      ++plans;
    }
  }
  EXPECT_GT(time / static_cast<double>(plans), 0.5);  // and it says something
  EXPECT_GT(memory / static_cast<double>(plans), 0.5);
}

// Slow hosts, which wait for the tokens of experts: bounds of candidates and of their shapes are of those, too.
TEST(Sketch, KnowsTheHost) {
  for (const SearchRequest& request : paced_requests()) {
    double sketches = 0, shapes = 0, plans = 0;
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    Evaluator evaluator(request, model);
    for (const PlanCandidate& candidate : enumerate(request).candidates) {
      const Judgement judged = evaluator.judge(candidate);
      if (judged.verdict != Verdict::Open) continue;
      const double step = sim::to_seconds(judged.time).count();
      const sim::SimTime sketch = evaluator.sketch(candidate).time, shape = evaluator.least_time({&candidate, 1}).step;
      EXPECT_LE(sketch, judged.time) << to_text(candidate);
      EXPECT_LE(shape, judged.time) << to_text(candidate);
      sketches += sim::to_seconds(sketch).count() / step, shapes += sim::to_seconds(shape).count() / step, ++plans;
    }
    EXPECT_GT(sketches / plans, 0.7);
    EXPECT_GT(shapes / plans, 0.5);
  }
}

// One microbatch goes through all stages; several share them, and one chunk a stage waits for those before it; a microbatch of one stage waits for nobody.
TEST(Sketch, NoCutTakesLess) {
  const LeastWork work{.all = sim::SimTime(1'000'000'000)};
  const auto share = [&](const Pipelined& pipeline) { return sim::to_seconds(least_time(work, pipeline)) / sim::to_seconds(work.all); };
  EXPECT_NEAR(share({.microbatches = 1, .stages = 4, .one_chunk = true}), 1, 1e-8);
  EXPECT_NEAR(share({.microbatches = 6, .stages = 1, .one_chunk = true}), 6, 1e-7);
  EXPECT_NEAR(share({.microbatches = 8, .stages = 4}), 2, 1e-7);
  EXPECT_NEAR(share({.microbatches = 8, .stages = 4, .one_chunk = true, .splits_backward = true}), 2, 1e-7);
  const double waits = share({.microbatches = 8, .stages = 4, .one_chunk = true});
  EXPECT_GT(waits, 2);
  double before = 0, slowest = 0;  // the cut that meets it
  for (int stage = 0; stage < 4; ++stage) {
    const double own = waits / 8 * std::pow(1 - 1.0 / 8, stage);
    slowest = std::max(slowest, 8 * own + before);
    before += own;
  }
  EXPECT_NEAR(before, 1, 1e-7);
  EXPECT_NEAR(slowest, waits, 1e-7);
}

// Nine blocks of 3 us on four stages: one has three of them. What stages ahead do first comes on top.
TEST(Sketch, BlocksAreWhole) {
  using std::chrono::microseconds;
  LeastWork work{.all = 9 * microseconds(3), .common = microseconds(3), .blocks = 9};
  const Pipelined pipeline{.microbatches = 10, .stages = 4};
  EXPECT_NEAR(static_cast<double>(least_time(work, pipeline).count()), 90e6, 90e6 / 2000);
  work.blocks = 8, work.all = 8 * microseconds(3);
  EXPECT_NEAR(static_cast<double>(least_time(work, pipeline).count()), 60e6, 60e6 / 2000);
  work.forward = microseconds(1), work.backward = microseconds(2);  // two blocks each, and three stages ahead of the last
  EXPECT_NEAR(static_cast<double>(least_time(work, pipeline).count()), 69e6, 69e6 / 2000);
  EXPECT_EQ(least(work, {.all = microseconds(1)}).all, microseconds(1));
}

TEST(Sketch, TheLeastWorkIsOfTheFastestStage) {
  const SearchRequest request = small_request({.devices = 4});
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  std::vector<StageLayerPrices> stages(2, StageLayerPrices(model.firsts.size()));
  for (const sim::LayerIndex first : model.firsts)
    for (std::int64_t stage = 0; stage < 2; ++stage)
      stages[static_cast<std::size_t>(stage)][model.kind(first)] = {.forward = {.time = sim::SimTime(10 + stage)},
                                                                    .backward = {.time = sim::SimTime(20 - stage)},
                                                                    .weight = {.time = sim::SimTime(stage)}};
  const LeastWork work = least_work(model, stages);
  EXPECT_EQ(work.all.count(), 30 * 6);  // embedding, four blocks, head
  EXPECT_EQ(work.forward.count(), 10);
  EXPECT_EQ(work.backward.count(), 19);
  EXPECT_EQ(work.common.count(), 30);
  EXPECT_EQ(work.blocks, 4);
}

// Weights that are not trained lie sharded where parameters are, and whole elsewhere: whichever plan of a shape is sketched first.
TEST(Sketch, IsNeverAboveTheBoundsWithAdapters) {
  SearchRequest request = small_requests()[0];
  request.model.tied_embeddings = false;
  std::vector<sim::Violation> wrong;
  request.model.adapters = sim::parse_adapters("rank 4 on qkv,o base nf4", wrong);
  ASSERT_TRUE(wrong.empty());
  const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
  Evaluator evaluator(request, model);
  std::int64_t sharded = 0;
  for (const PlanCandidate& candidate : enumerate(request).candidates) {
    const Judgement judged = evaluator.judge(candidate), sketched = evaluator.sketch(candidate);
    if (judged.verdict != Verdict::Open) continue;
    EXPECT_LE(sketched.memory, judged.memory) << to_text(candidate);
    sharded += candidate.zero_stage == 3 ? 1 : 0;
  }
  EXPECT_GT(sharded, 0);
}

TEST(Sketch, IsNeverAboveTheBoundsOfFrozenModules) {
  for (const SearchRequest& request : frozen_requests()) {
    const sim::ModelGraph model = sim::make_model_graph(request.model, {request.vocabulary_multiple});
    Evaluator evaluator(request, model);
    for (const PlanCandidate& candidate : enumerate(request).candidates) {
      const Judgement judged = evaluator.judge(candidate), sketched = evaluator.sketch(candidate);
      if (judged.verdict != Verdict::Open) continue;
      EXPECT_LE(sketched.memory, judged.memory) << to_text(candidate);
      EXPECT_LE(sketched.time, judged.time) << to_text(candidate);
    }
  }
}

}  // namespace
}  // namespace planner
