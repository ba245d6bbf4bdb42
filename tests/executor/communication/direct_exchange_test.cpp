#include "executor/communication/direct_exchange.h"

#include <gtest/gtest.h>

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>

#include <thread>

#include "mpi_test.h"

namespace executor {
namespace {

TEST(DirectExchange, ChunksCoverTheBufferOnce) {
  for (const std::int64_t elements : {0, 1, 5, 8, 9}) {
    const at::Tensor buffer = at::full({elements}, 0, at::kFloat);
    const Chunks chunks(buffer, {4});
    const std::byte* next = bytes_of(buffer).data();
    for (Peer peer; peer.rank < 4; ++peer.rank) {
      const auto chunk = chunks.of(peer);
      EXPECT_EQ(chunk.data(), next);
      EXPECT_LE(chunk.size(), static_cast<std::size_t>((elements + 3) / 4 * 4));
      next += chunk.size();
    }
    EXPECT_EQ(next, bytes_of(buffer).data() + elements * 4);
  }
}

TEST(DirectExchange, ChunksMayBeUnequal) {
  const at::Tensor buffer = at::full({7}, 0, at::kFloat);
  const Chunks chunks(OwnedParts{buffer, {3, 0, 4}});
  EXPECT_EQ(chunks.of({0}).size(), 12U);
  EXPECT_TRUE(chunks.of({1}).empty());
  EXPECT_EQ(chunks.of({2}).data(), bytes_of(buffer).data() + 12);
}

TEST(DirectExchange, SumsItsChunkOfAllRanks) {
  const auto [rank, size] = world();
  const MpiGroup group{.session = session(), .communicator = MPI_COMM_WORLD, .rank = rank, .size = size, .name = "world", .members = {}};
  const std::int64_t elements = 1001;
  const at::Tensor full = of_rank(rank, elements);
  const DirectExchange exchange(group, Chunks(full, {size}), {9});
  MpiMessages messages(MPI_COMM_WORLD, sim::Bytes(1 << 20));
  exchange.post(messages);
  while (!messages.test()) std::this_thread::yield();
  exchange.reduce_into(exchange.own_chunk(), ReduceOperation::Sum);
  const std::int64_t length = (elements + size - 1) / size, begin = std::min(rank * length, elements),
                     end = std::min(begin + length, elements);
  EXPECT_TRUE(at::equal(full.slice(0, begin, end), serial_sum(size, elements, at::kFloat).slice(0, begin, end)));
}

}  // namespace
}  // namespace executor
