#include "gui/core/planner_answers.h"

#include <gmock/gmock.h>

#include "planner/improvements.h"
#include "planner/what_if.h"
#include "tests/gui/example_plans.h"

namespace gui {
namespace {

class PlannerAnswers : public testing::Test {
 protected:
  Answer to(Answer (*answer)(const SimulatedPlan&, const Asking&), const SharedPlan& plan) { return answer(*plan, {cancelled_, share_}); }
  std::atomic<bool> cancelled_{false};
  std::atomic<double> share_{0};
};

TEST_F(PlannerAnswers, ChangesAreThePlannersWithTheirChances) {
  const SharedPlan plan = test::exampleSimulation();
  const planner::Improvements found = planner::improvements(planner::request_like(plan->plan), {plan->plan, plan->result});
  const Answer answer = to(bestChanges, plan);
  ASSERT_EQ(answer.variants.size(), 1 + found.one.size() + found.two.size());
  ASSERT_GE(answer.variants.size(), 2u);
  EXPECT_TRUE(answer.variants.front().is_now);
  EXPECT_FALSE(answer.variants.front().faster_chance);
  EXPECT_EQ(answer.variants[1].step_time, found.one[0].result.step_time);
  EXPECT_TRUE(answer.variants[1].name.starts_with(found.one[0].changed[0] + '=')) << answer.variants[1].name;
  EXPECT_GT(answer.variants[1].faster_chance.value_or(0), 0.5);
}

TEST_F(PlannerAnswers, TheBestPlanIsNeverSlowerAndIsProven) {
  const SharedPlan plan = test::exampleSimulation();
  const Answer answer = to(bestPlans, plan);
  ASSERT_GE(answer.variants.size(), 2u);
  EXPECT_LE(answer.variants[1].step_time, plan->result.step_time);
  EXPECT_GT(share_, 0);
  const Answer again = to(bestPlans, simulatePlan(answer.variants[1].plan));
  EXPECT_TRUE(again.sentence.starts_with("None was found")) << again.sentence;
}

TEST_F(PlannerAnswers, MoreIsHeldAgainstTheBestAsThingsAre) {
  const SharedPlan plan = test::exampleSimulation();
  planner::SearchRequest request = planner::request_like(plan->plan);
  const Answer answer = to(worthOfMore, plan);
  ASSERT_EQ(answer.variants.size(), 1 + planner::what_ifs(request).size());
  EXPECT_TRUE(answer.variants.front().is_now);
  EXPECT_GE(answer.variants[1].tokens_per_second, answer.variants.front().tokens_per_second);  // memory never harms
  EXPECT_EQ(answer.variants.back().plan.workload.global_batch, 2 * plan->plan.workload.global_batch);
  EXPECT_FALSE(answer.variants.back().faster_chance);  // another question
}

}  // namespace
}  // namespace gui
