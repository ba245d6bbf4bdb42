#include "executor/communication/rendezvous.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "executor/communication/communicator.h"

namespace executor {
namespace {

TEST(Rendezvous, WordsReachTheOtherRanks) {
  const OpenStore server = open_store({.host = "127.0.0.1", .port = 0}, sim::Rank(0));
  EXPECT_NE(server.address.port, 0);
  std::thread client([&] {
    const OpenStore store = open_store(server.address, sim::Rank(1));
    EXPECT_EQ(store.rendezvous.get("id/0/0"), std::string("a\0b", 3)) << "bytes, and it waits for them";
    store.rendezvous.put("answer", "yes");
  });
  EXPECT_EQ(server.rendezvous.look("nothing"), std::nullopt);
  server.rendezvous.put("id/0/0", std::string("a\0b", 3));
  EXPECT_EQ(server.rendezvous.get("answer"), "yes");
  client.join();
}

TEST(Rendezvous, SaysWhichVariableIsMissing) {
  unsetenv("MASTER_ADDR");
  unsetenv("MASTER_PORT");
  EXPECT_THROW(store_address_of_environment(), CollectiveError);
  setenv("MASTER_ADDR", "here", 1);
  setenv("MASTER_PORT", "29501", 1);
  EXPECT_EQ(store_address_of_environment().port, 29501);
  setenv("MASTER_PORT", "many", 1);
  EXPECT_THROW(store_address_of_environment(), CollectiveError);
}

}  // namespace
}  // namespace executor
