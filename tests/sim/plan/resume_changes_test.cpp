#include "sim/plan/resume_changes.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

TEST(ResumeChanges, EverySettingIsADifferenceThatIsKnownAsIts) {
  for (const std::string_view name : changeable_settings()) {
    ParallelPlan changed = testing::tiny_plan();
    apply_change(changed, std::string(name) + "=12");
    const PlanDifferences found = differences(testing::tiny_plan(), changed);
    ASSERT_EQ(found.training.size(), 1U) << name;
    EXPECT_EQ(changeable_setting_of(found.training.front()), name);
    EXPECT_TRUE(found.layout.empty() || name == "global_batch") << "microbatches are counted, too";
  }
}

TEST(ResumeChanges, WhatIsTrainedMayNotChange) {
  EXPECT_EQ(changeable_setting_of("/training/seed: 1 before, 2 now"), "");
  EXPECT_EQ(changeable_setting_of("/workload/sequence: 1 before, 2 now"), "");
  ParallelPlan plan = testing::tiny_plan();
  for (const char* text : {"seed=2", "learning_rate", "learning_rate=", "learning_rate=fast", "learning_rate=nan", "global_batch=1.5",
                           "gradient_clip=-1", "=3", "global_batch=1e300"})
    EXPECT_THROW(apply_change(plan, text), InputError) << text;
}

}  // namespace
}  // namespace sim
