#include <gmock/gmock.h>

#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

TEST(PlanDifferences, OfWhatIsTrainedAndOfHowItIsCut) {
  const ParallelPlan before = testing::tiny_plan();
  ParallelPlan now = before;
  EXPECT_THAT(differences(before, now).training, IsEmpty());
  EXPECT_THAT(differences(before, now).layout, IsEmpty());
  now.training.seed = before.training.seed + 1;
  now.zero_stage = 2;
  now.mesh.tensor = 2;
  EXPECT_THAT(differences(before, now).training, ElementsAre(StartsWith("/training/seed: ")));
  EXPECT_THAT(differences(before, now).layout, UnorderedElementsAre("/zero_stage: 0 before, 2 now", "/mesh/tensor: 1 before, 2 now"));
}

TEST(PlanDifferences, PredictionsAndHowOftenIsSavedDoNotCount) {
  const ParallelPlan before = testing::tiny_plan();
  ParallelPlan now = before;
  now.predictions = Predictions{};
  now.training.keep_last = 77;
  now.training.checkpoint_interval = 5;
  EXPECT_THAT(differences(before, now).training, IsEmpty());
  EXPECT_THAT(differences(before, now).layout, IsEmpty());
}

}  // namespace
}  // namespace sim
