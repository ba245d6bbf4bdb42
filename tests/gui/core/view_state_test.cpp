#include "gui/core/view_state.h"

#include <gmock/gmock.h>

namespace gui {
namespace {

const sim::DeviceMesh kMesh{.data = 2, .pipeline = 2, .tensor = 2};

std::vector<sim::GraphDevice> everyRank() {
  std::vector<sim::GraphDevice> devices;
  for (sim::Rank rank(0); rank.value() < 8; ++rank) devices.push_back({rank, kMesh.coordinate(rank).stage, 1});
  return devices;
}
std::vector<std::size_t> orderBy(GroupBy group, std::set<std::int32_t> pinned = {}) {
  return deviceOrder(everyRank(), kMesh, {.group = group, .pinned = std::move(pinned)});
}

TEST(ViewState, RanksOfAnAxisStandTogether) {
  EXPECT_THAT(orderBy(GroupBy::Rank), testing::ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  for (const GroupBy group : {GroupBy::Stage, GroupBy::Data, GroupBy::Tensor}) {
    const std::vector<std::size_t> order = orderBy(group);
    EXPECT_TRUE(std::is_permutation(order.begin(), order.end(), orderBy(GroupBy::Rank).begin()));
    const auto place = [&](std::size_t at) {
      const sim::MeshCoordinate where = kMesh.coordinate(sim::Rank(static_cast<std::int32_t>(order[at])));
      return group == GroupBy::Stage ? where.stage.value() : group == GroupBy::Data ? where.data : where.tensor;
    };
    for (std::size_t at = 0; at < order.size(); ++at) EXPECT_EQ(place(at), at < 4 ? 0 : 1);
  }
}

// Each in a group but the pinned ones, by rank those of a stage.
TEST(ViewState, GroupsHoldTheRanksOfAPlace) {
  const std::vector<sim::GraphDevice> devices = everyRank();
  const ViewState state{.group = GroupBy::Rank, .pinned = {6}};
  const std::vector<DeviceGroup> groups = groupsOf(deviceOrder(devices, kMesh, state), devices, kMesh, state);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].devices.size() + groups[1].devices.size(), 7u);
  for (const DeviceGroup& group : groups)
    for (const std::size_t device : group.devices) EXPECT_EQ(devices[device].stage.value(), group.place);
}

TEST(ViewState, PinnedOnesStandFirst) { EXPECT_THAT(orderBy(GroupBy::Rank, {6, 3}), testing::ElementsAre(3, 6, 0, 1, 2, 4, 5, 7)); }

}  // namespace
}  // namespace gui
