#include "sim/timeline/activity.h"

#include <gmock/gmock.h>

#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using testing::compute_key;
using ::testing::Pair;
using testing::span;
using ::testing::UnorderedElementsAre;
using testing::us;

TEST(Activity, AddsUpKindsComputingAndCommunication) {
  const StageIndex stage(0);
  TaskKey sum = compute_key(stage, 0, Phase::Gradients, Operation::AllReduce);
  sum.group = MeshAxis::Data;
  const std::vector<Span> spans{
      span(0, compute_key(stage, 0, Phase::Forward), us(0), us(10)), span(0, compute_key(stage, 1, Phase::Forward), us(10), us(15)),
      span(0, sum, us(12), us(20), Stream::Reduce), span(0, compute_key(stage, 0, Phase::Backward), us(18), us(30))};
  const StepActivity activity = activity_of(spans);
  EXPECT_THAT(activity.kinds, UnorderedElementsAre(Pair("forward.attention", us(15)), Pair("backward.attention", us(12)),
                                                   Pair("gradients.all_reduce.data", us(8))));
  EXPECT_EQ(activity.computing, us(27));
  EXPECT_EQ(activity.busy, us(27));
  EXPECT_EQ(activity.communicating, us(8));
  EXPECT_EQ(activity.hidden, us(5));
}

TEST(Activity, OfNothing) {
  const StepActivity activity = activity_of({});
  EXPECT_TRUE(activity.kinds.empty());
  EXPECT_EQ(activity.busy, SimTime(0));
}

}  // namespace
}  // namespace sim
