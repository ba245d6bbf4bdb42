#include "planner/sketch.h"

#include <gtest/gtest.h>

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
