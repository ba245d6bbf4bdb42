#include "sim/units/index.h"

#include <gtest/gtest.h>

#include <type_traits>

namespace sim {
namespace {

static_assert(!std::is_convertible_v<Rank, StageIndex>, "an index of one kind is none of another");
static_assert(!std::is_convertible_v<int, Rank>, "a bare number is no index");
static_assert(!std::is_constructible_v<Rank, StageIndex>);

TEST(Index, DoesNotExistUnlessSet) {
  EXPECT_FALSE(Rank().exists());
  EXPECT_EQ(Rank(), Rank::none());
  EXPECT_TRUE(Rank(0).exists());
}

TEST(Index, OrdersAndCounts) {
  Rank rank(3);
  EXPECT_EQ((++rank).value(), 4);
  EXPECT_LT(Rank::none(), Rank(0));
  EXPECT_LT(Rank(3), rank);
  EXPECT_EQ(rank.position(), 4u);
}

}  // namespace
}  // namespace sim
