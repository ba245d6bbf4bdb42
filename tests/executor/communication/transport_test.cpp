#include "executor/communication/transport.h"

#include <gtest/gtest.h>

#include "mpi_test.h"

namespace executor {
namespace {

TEST(Transport, KnowsItsPlace) {
  EXPECT_EQ(Transport().place().size, 1);
  EXPECT_EQ(Transport(session()).place().rank, world().rank);
  EXPECT_EQ(Transport(session()).place().size, world().size);
  EXPECT_TRUE(has_mpi());
}

TEST(Transport, SpreadsRankZerosAddress) {
  const StoreAddress address =
      spread_by_mpi({.host = world().rank == 0 ? "here" : "", .port = static_cast<std::uint16_t>(world().rank == 0 ? 29 : 0)});
  EXPECT_EQ(address.host, "here");
  EXPECT_EQ(address.port, 29);
}

TEST(Transport, HearsWhetherTwoSayTheSame) {
  const bool are_many = world().size > 1;
  EXPECT_EQ(do_two_say_the_same("all"), are_many);
  EXPECT_FALSE(do_two_say_the_same("rank " + std::to_string(world().rank)));
  EXPECT_FALSE(do_two_say_the_same(""));
  EXPECT_EQ(do_two_say_the_same(world().rank < 2 ? "the first two" : std::to_string(world().rank)), are_many) << "told to all";
}

}  // namespace
}  // namespace executor
