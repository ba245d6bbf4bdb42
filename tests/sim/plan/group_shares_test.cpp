#include "sim/plan/group_shares.h"

#include <gmock/gmock.h>

#include "tests/sim/plan/broken.h"
#include "tests/sim/plan/plans.h"

namespace sim {
namespace {

using testing::broken;
using ::testing::IsEmpty;

// Two nodes of two devices each, of which the second is twice as fast.
ParallelPlan shared_plan(DeviceMesh mesh, std::vector<std::int64_t> shares) {
  ParallelPlan plan = testing::tiny_plan(mesh);
  plan.cluster.hardware.devices_per_node = 2;
  for (const std::int64_t share : shares)
    plan.cluster.groups.push_back({plan.cluster.hardware, plan.cluster.devices / static_cast<std::int32_t>(shares.size()), share});
  plan.cluster.groups.back().hardware.name = "faster";
  return plan;
}

TEST(GroupShares, MicrobatchesAreDealtByThem) {
  ParallelPlan plan = shared_plan({.data = 4}, {1, 3});
  plan.microbatch_size = 2;
  ASSERT_THAT(violations(plan), IsEmpty());
  const std::vector<DeviceGroup>& groups = plan.cluster.groups;
  EXPECT_EQ(samples_of(plan, groups[0]), 1);
  EXPECT_EQ(samples_of(plan, groups[1]), 3);
  const ParallelPlan fast = as_of_group(plan, groups[1]);
  EXPECT_EQ(fast.microbatch_size, 3);
  EXPECT_EQ(fast.num_microbatches(), plan.num_microbatches());
  EXPECT_EQ(fast.cluster.hardware.name, "faster");
  EXPECT_THAT(violations(fast), IsEmpty());
}

TEST(GroupShares, AreWholeSamples) {
  ParallelPlan plan = shared_plan({.data = 4}, {1, 3});
  plan.microbatch_size = 1;
  EXPECT_THAT(violations(plan), broken("/cluster/groups", "no whole samples"));
  EXPECT_EQ(violations(plan).front().remedy, "use microbatch=2");
}

TEST(GroupShares, ASampleIsOfOneShare) {
  EXPECT_THAT(violations(shared_plan({.tensor = 4}, {1, 3})), broken("/cluster/groups", "would share a sample"));
  EXPECT_THAT(violations(shared_plan({.data = 2, .pipeline = 2}, {1, 3})), broken("/cluster/groups", "shares 1 and 3"));
  EXPECT_THAT(violations(shared_plan({.data = 2, .pipeline = 2}, {1, 1})), IsEmpty()) << "the cut deals the stages' work";
}

TEST(GroupShares, AreNotOfTheWorker) {
  EXPECT_THAT(why_not_runnable(shared_plan({.data = 4}, {1, 1})), broken("/cluster/groups", "deals a batch out equally"));
}

}  // namespace
}  // namespace sim
