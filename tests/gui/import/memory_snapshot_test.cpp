#include "gui/import/memory_snapshot.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <random>

#include "sim/units/input_error.h"
#include "tests/gui/import/snapshots.h"

namespace gui {
namespace {

SharedSnapshot snapshotOf(const std::string& bytes) {
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("a.pickle"), bytes);
  Progress progress;
  return importSnapshot(folder.file("a.pickle"), progress);
}

TEST(MemorySnapshot, FollowsAllocationsAndKnowsWhatWasThereBefore) {
  const SharedSnapshot snapshot = snapshotOf(test::smallSnapshot());
  ASSERT_EQ(snapshot->devices.size(), 1u);
  const SnapshotDevice& device = snapshot->devices[0];
  EXPECT_EQ(device.before, sim::Bytes(1000 - 200));  // the segments hold 1000 at the end, 200 of them allocated while recording
  EXPECT_EQ(device.most_reserved, sim::Bytes(4096));
  ASSERT_EQ(device.curve.size(), 3u);
  EXPECT_EQ(sim::total(device.curve[0].alive), sim::Bytes(900));
  EXPECT_EQ(sim::total(device.curve[1].alive), sim::Bytes(1100));
  EXPECT_EQ(sim::total(device.curve[2].alive), sim::Bytes(1000));
  EXPECT_EQ(device.curve[0].alive[static_cast<std::size_t>(memoryOf(AllocatedIn::Forward))], sim::Bytes(100));
  EXPECT_EQ(device.curve[1].alive[static_cast<std::size_t>(memoryOf(AllocatedIn::Backward))], sim::Bytes(200));
  EXPECT_EQ(device.malformed, 1);
}

TEST(MemorySnapshot, SaysWhoOwnsWhatIsAlive) {
  const SharedSnapshot snapshot = snapshotOf(test::smallSnapshot());
  const std::vector<OwnedMemory> owned = aliveAt(snapshot->devices[0], sim::SimTime(10'000'000));
  ASSERT_EQ(owned.size(), 2u);
  EXPECT_EQ(owned[0].size, sim::Bytes(200));
  EXPECT_EQ(snapshot->owners[owned[0].owner], "train.py:9 step");
  EXPECT_EQ(snapshot->owners[owned[1].owner], "train.py:3 block");
  EXPECT_EQ(aliveAt(snapshot->devices[0], snapshot->devices[0].length).size(), 1u);
}

TEST(MemorySnapshot, RefusesOtherPicklesAndSurvivesGarbage) {
  EXPECT_THROW(snapshotOf("\x80\x04}."), sim::InputError);
  const std::string whole = test::smallSnapshot();
  std::mt19937 random(9);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = whole.substr(0, round % 4 == 0 ? random() % whole.size() : whole.size());
    for (int change = 0; change < 4 && bytes.size() > 2; ++change) bytes[2 + random() % (bytes.size() - 2)] = static_cast<char>(random());
    try {
      const SharedSnapshot snapshot = snapshotOf(bytes);
      for (const SnapshotDevice& device : snapshot->devices) aliveAt(device, device.length);
    } catch (const sim::InputError&) {
    }
  }
}

}  // namespace
}  // namespace gui
