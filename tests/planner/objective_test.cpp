#include "planner/objective.h"

#include <gtest/gtest.h>

namespace planner {
namespace {

TEST(Objective, EachIsFoundByItsNameAndStepByItsOldOne) {
  for (std::size_t at = 0; at < std::size(kObjectiveNames); ++at) {
    ASSERT_TRUE(find_objective(kObjectiveNames[at]));
    EXPECT_EQ(kObjectiveNames[static_cast<std::size_t>(*find_objective(kObjectiveNames[at]))], kObjectiveNames[at]);
  }
  EXPECT_EQ(find_objective("time"), Objective::Step);
  EXPECT_FALSE(find_objective("fastest"));
}

TEST(Objective, AMeasureHasItsUnit) {
  EXPECT_EQ(measure_text(Objective::Step, 1.5), "1.50 s");
  EXPECT_EQ(measure_text(Objective::Energy, 12'500), "12.5 kJ");
  EXPECT_EQ(measure_text(Objective::TimeToTrain, 86'400 * 3), "3 days");
}

}  // namespace
}  // namespace planner
