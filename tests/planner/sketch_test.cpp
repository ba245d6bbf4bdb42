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

// One microbatch goes through all stages; several share them, and one chunk a stage waits for those before it; a microbatch of one stage waits for nobody.
TEST(Sketch, NoCutTakesLess) {
  const sim::SimTime work(1'000'000'000);
  const auto share = [&](const Pipelined& pipeline) { return sim::to_seconds(least_time(work, pipeline)) / sim::to_seconds(work); };
  EXPECT_NEAR(share({.microbatches = 1, .stages = 4, .waits = true}), 1, 1e-8);
  EXPECT_NEAR(share({.microbatches = 6, .stages = 1, .waits = true}), 6, 1e-7);
  EXPECT_NEAR(share({.microbatches = 8, .stages = 4}), 2, 1e-7);
  const double waits = share({.microbatches = 8, .stages = 4, .waits = true});
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

}  // namespace
}  // namespace planner
