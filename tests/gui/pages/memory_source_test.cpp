#include "gui/pages/memory_source.h"

#include <gmock/gmock.h>

#include "tests/gui/example_plans.h"
#include "tests/gui/import/snapshots.h"

namespace gui {
namespace {

TEST(MemorySource, OfAPlanHasADeviceAStage) {
  const SharedPlan plan = test::exampleSimulation();
  const MemorySource source = memoryOfPlan(plan);
  ASSERT_EQ(source.devices.size(), 2);
  EXPECT_EQ(source.picture(1).curve.peak().memory, plan->result.devices[1].peak_memory);
  EXPECT_GT(source.alive(1, sim::SimTime(0)).rows.size(), 2u);
  EXPECT_TRUE(source.note.isEmpty());
}

TEST(MemorySource, OfEveryRankShowsItsClass) {
  const SharedPlan plan = test::exampleSimulation(Ranks::OneByOne);
  const MemorySource source = memoryOfPlan(plan);
  ASSERT_EQ(source.devices.size(), 4);
  EXPECT_TRUE(source.devices[3].startsWith("rank 3, stage 1"));
  EXPECT_EQ(source.picture(3).curve.peak().memory, plan->result.devices[1].peak_memory);
  EXPECT_EQ(source.alive(3, sim::SimTime(0)).rows.size(), memoryOfPlan(test::exampleSimulation()).alive(1, sim::SimTime(0)).rows.size());
}

TEST(MemorySource, OfASnapshotSaysWhatWasLeftOut) {
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("s.pickle"), test::smallSnapshot());
  Progress progress;
  const MemorySource source = memoryOfSnapshot(importSnapshot(folder.file("s.pickle"), progress));
  ASSERT_EQ(source.devices.size(), 1);
  EXPECT_EQ(source.picture(0).curve.peak().memory, sim::Bytes(1100));
  EXPECT_EQ(source.picture(0).legend.size(), kNumAllocatedIn);
  EXPECT_EQ(source.alive(0, sim::SimTime(10'000'000)).rows.size(), 3u);  // before, backward, forward
  EXPECT_TRUE(source.note.contains("malformed events left out: 1"));
}

}  // namespace
}  // namespace gui
