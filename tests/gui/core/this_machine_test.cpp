#include "gui/core/this_machine.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"

namespace gui {
namespace {

TEST(ThisMachine, RunsAsManyRanksAsItHasGpusOrFourACore) {
  sim::ParallelPlan plan = test::examplePlan();  // 4 ranks
  EXPECT_FALSE(whyNotHere(plan, {.cores = 1, .gpus = 0}));
  EXPECT_FALSE(whyNotHere(plan, {.cores = 1, .gpus = 8}));
  plan.mesh.data = 32;
  const std::optional<std::string> why = whyNotHere(plan, {.cores = 2, .gpus = 0});
  ASSERT_TRUE(why);
  EXPECT_THAT(*why, testing::HasSubstr("64 ranks"));
  EXPECT_THAT(*whyNotHere(plan, {.cores = 1, .gpus = 1}), testing::HasSubstr("(1 GPU, 1 core)"));
  EXPECT_FALSE(whyNotHere(plan, {.cores = 2, .gpus = 64}));
}

TEST(ThisMachine, HasACore) { EXPECT_GE(thisMachine().cores, 1); }

}  // namespace
}  // namespace gui
