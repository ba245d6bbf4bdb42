#include "sim/task_graph/fold.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::ElementsAre;

std::vector<std::pair<std::int32_t, std::int32_t>> classes(const AxisFold& fold, std::int32_t degree) {
  std::vector<std::pair<std::int32_t, std::int32_t>> found;
  for (const IndexClass& one : fold.classes(degree)) found.emplace_back(one.first, one.size);
  return found;
}

TEST(Fold, KeepsTogetherWhatIsNotSetApart) {
  EXPECT_THAT(classes(Fold::Symmetric.data, 4), ElementsAre(std::pair(0, 4)));
  EXPECT_THAT(classes(Fold::None.data, 3), ElementsAre(std::pair(0, 1), std::pair(1, 1), std::pair(2, 1)));
  EXPECT_THAT(classes({.all_apart = false, .apart = {1}}, 4), ElementsAre(std::pair(0, 3), std::pair(1, 1)));
  EXPECT_THAT(classes({.all_apart = false, .apart = {0, 1, 3}}, 6),
              ElementsAre(std::pair(0, 1), std::pair(1, 1), std::pair(2, 3), std::pair(3, 1)));
  EXPECT_THAT(classes({.all_apart = false, .apart = {0, 1}}, 2), ElementsAre(std::pair(0, 1), std::pair(1, 1)));
}

TEST(Fold, EveryIndexIsInTheClassThatHoldsIt) {
  const std::int32_t degree = 5;
  for (int mask = 0; mask < 1 << degree; ++mask) {
    AxisFold fold;
    for (std::int32_t index = 0; index < degree; ++index)
      if ((mask >> index & 1) != 0) fold.apart.push_back(index);
    const std::vector<IndexClass> all = fold.classes(degree);
    std::vector<std::int32_t> members(all.size(), 0);
    for (std::int32_t index = 0; index < degree; ++index) {
      const auto place = static_cast<std::size_t>(fold.class_of(index));
      ASSERT_LT(place, all.size());
      EXPECT_LE(all[place].first, index);
      ++members[place];
    }
    for (std::size_t place = 0; place < all.size(); ++place) {
      EXPECT_EQ(members[place], all[place].size) << "mask " << mask;
      EXPECT_EQ(fold.class_of(all[place].first), static_cast<std::int32_t>(place));
    }
  }
}

TEST(Fold, DevicesAreNumberedAsLowerPlacesThem) {
  const DeviceMesh mesh{.data = 4, .pipeline = 2, .tensor = 2};
  const Fold one_apart{.data = {.all_apart = false, .apart = {1}}, .tensor = {}};
  for (Rank rank(0); rank.value() < mesh.ranks(); ++rank) {
    EXPECT_EQ(device_of(Fold::Symmetric, mesh, rank), DeviceId(mesh.coordinate(rank).stage.value()));
    EXPECT_EQ(device_of(Fold::None, mesh, rank), DeviceId(rank.value()));
  }
  EXPECT_EQ(device_of(one_apart, mesh, Rank(2)), DeviceId(1));
  EXPECT_EQ(device_of(one_apart, mesh, Rank(8)), DeviceId(2));
  EXPECT_EQ(static_cast<std::size_t>(one_apart.data.num_classes(4)), one_apart.data.classes(4).size());
}

}  // namespace
}  // namespace sim
