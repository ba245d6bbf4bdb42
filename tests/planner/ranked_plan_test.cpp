#include "planner/ranked_plan.h"

#include <gmock/gmock.h>

#include "planner/evaluator.h"
#include "tests/planner/every_plan.h"

namespace planner {
namespace {

using ::testing::HasSubstr;

// Two plans of one space, simulated.
class RankedPlanTest : public ::testing::Test {
 protected:
  RankedPlanTest() {
    Evaluator evaluator(request_, model_);
    for (const std::int64_t index : {0, 1}) {
      results_[index] = simulate(model_, evaluator.plan(candidates_[static_cast<std::uint32_t>(index)]));
      outcomes_.push_back({.time = results_[index].step_time, .memory = results_[index].peak_memory, .index = index});
    }
    std::ranges::sort(outcomes_);
  }
  Found found() const { return {request_, model_, candidates_, results_, ranking_}; }

  SearchRequest request_ = small_request({.devices = 4});
  sim::ModelGraph model_ = sim::make_model_graph(request_.model, {request_.vocabulary_multiple});
  Candidates candidates_ = enumerate(request_).candidates;
  std::map<std::int64_t, sim::SimulationResult> results_;
  Ranking ranking_{request_};
  std::vector<Outcome> outcomes_;  // the faster first
};

TEST_F(RankedPlanTest, TheBestNeedsNoReason) {
  const RankedPlan best = ranked_plan(found(), outcomes_.front(), outcomes_.front());
  EXPECT_TRUE(best.reasons.empty());
  EXPECT_EQ(best.why_not_best, "");
  EXPECT_EQ(best.plan.predictions->step_time, sim::to_seconds(outcomes_.front().time));
  EXPECT_EQ(best.plan.predictions->peak_memory, outcomes_.front().memory);
}

TEST_F(RankedPlanTest, AnotherSaysHowMuchSlowerItIs) {
  const RankedPlan slower = ranked_plan(found(), outcomes_.back(), outcomes_.front());
  EXPECT_THAT(slower.why_not_best, HasSubstr("% slower"));
  EXPECT_GE(slower.slower_chance, 0.5);
}

TEST_F(RankedPlanTest, ARiskyOneSaysItsChanceAndItsGain) {
  const RankedPlan alone = risky_plan(found(), outcomes_.front(), std::nullopt);
  ASSERT_EQ(alone.reasons.size(), 1u);
  EXPECT_THAT(alone.why_not_best, HasSubstr("5.0 % is accepted"));
  const RankedPlan gains = risky_plan(found(), outcomes_.front(), outcomes_.back());
  EXPECT_THAT(gains.why_not_best, HasSubstr("faster"));
}

}  // namespace
}  // namespace planner
