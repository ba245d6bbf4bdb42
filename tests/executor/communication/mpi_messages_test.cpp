#include "executor/communication/mpi_messages.h"

#include <gtest/gtest.h>

#include <thread>

#include "mpi_test.h"

namespace executor {
namespace {

std::vector<std::byte> bytes_of_length(std::size_t length, int seed) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(seed));
  return bytes;
}

// Each rank sends to the next one, in pieces of 100 bytes: none, one, exactly several, several and a rest.
TEST(MpiMessages, CutsAndJoins) {
  const auto [rank, size] = world();
  for (const std::size_t length : {0, 1, 100, 300, 1234}) {
    MpiMessages messages(MPI_COMM_WORLD, sim::Bytes(100));
    const auto out = bytes_of_length(length, rank);
    std::vector<std::byte> in(length);
    messages.receive(in, {(rank + size - 1) % size}, {5});
    messages.send(out, {(rank + 1) % size}, {5});
    while (!messages.test()) std::this_thread::yield();
    EXPECT_TRUE(messages.empty());
    EXPECT_EQ(in, bytes_of_length(length, (rank + size - 1) % size));
  }
}

TEST(MpiMessages, NoMessagesHaveArrived) {
  MpiMessages messages(MPI_COMM_WORLD, sim::Bytes(100));
  EXPECT_TRUE(messages.test());
}

}  // namespace
}  // namespace executor
