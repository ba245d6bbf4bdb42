#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::IsEmpty;

TEST(Runnable, TwoAxesTogetherRun) {
  EXPECT_THAT(why_not_runnable(testing::tiny_plan({.data = 2, .pipeline = 2, .tensor = 1})), IsEmpty());
}

TEST(Runnable, NamesTheFieldThatTheWorkerLacks) {
  ParallelPlan plan = testing::tiny_plan({.data = 2, .pipeline = 1, .tensor = 2});
  plan.zero_stage = 3;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/zero_stage")));
  plan.zero_stage = 0;
  plan.model.attention_dropout = 0.1;
  EXPECT_THAT(why_not_runnable(plan), ElementsAre(Field(&Violation::where, "/model/attn_pdrop")));
}

}  // namespace
}  // namespace sim
