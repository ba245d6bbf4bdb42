#include "executor/communication/mpi_communicator.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "mpi_test.h"

namespace executor {
namespace {

constexpr at::ScalarType kTypes[] = {at::kFloat, at::kDouble, at::kLong, at::kBFloat16, at::kHalf};

TEST(MpiCommunicator, AllReduceIsTheSerialSumInRankOrder) {
  auto group = communicator();
  for (const auto type : kTypes) {
    for (const std::int64_t elements : {0, 1, 2, 3, 5, 64, 1000, 4097}) {  // also fewer elements than ranks
      const at::Tensor buffer = of_rank(group.rank(), elements, type);
      group.all_reduce(buffer, ReduceOperation::Sum, key(1))->wait();
      EXPECT_TRUE(at::equal(buffer, serial_sum(group.size(), elements, type))) << type << " " << elements;
    }
  }
}

TEST(MpiCommunicator, AllReduceMaximum) {
  auto group = communicator();
  const at::Tensor buffer = of_rank(group.rank(), 777);
  at::Tensor expected = of_rank(0, 777);
  for (std::int32_t rank = 1; rank < group.size(); ++rank) expected = expected.maximum(of_rank(rank, 777));
  group.all_reduce(buffer, ReduceOperation::Maximum, key(1))->wait();
  EXPECT_TRUE(at::equal(buffer, expected));
}

TEST(MpiCommunicator, ReduceScatterGivesEachRankItsChunkOfTheSum) {
  auto group = communicator();
  for (const auto type : kTypes) {
    for (const std::int64_t shard_elements : {0, 1, 63, 1024}) {
      const std::int64_t elements = shard_elements * group.size();
      const at::Tensor full = of_rank(group.rank(), elements, type), shard = at::empty({shard_elements}, type);
      group.reduce_scatter(shard, full, key(1, sim::Operation::ReduceScatter))->wait();
      const std::int64_t begin = shard_elements * group.rank();
      EXPECT_TRUE(at::equal(shard, serial_sum(group.size(), elements, type).slice(0, begin, begin + shard_elements))) << type;
      EXPECT_TRUE(at::equal(full, of_rank(group.rank(), elements, type)));  // only read
    }
  }
}

TEST(MpiCommunicator, ReduceScatterIntoItsOwnChunk) {
  auto group = communicator();
  const std::int64_t elements = 100 * group.size(), begin = 100 * group.rank();
  const at::Tensor full = of_rank(group.rank(), elements), shard = full.slice(0, begin, begin + 100);
  group.reduce_scatter(shard, full, key(1))->wait();
  EXPECT_TRUE(at::equal(shard, serial_sum(group.size(), elements, at::kFloat).slice(0, begin, begin + 100)));
}

TEST(MpiCommunicator, AllGatherConcatenates) {
  auto group = communicator();
  for (const bool in_place : {false, true}) {
    for (const std::int64_t elements : {0, 1, 513}) {
      const at::Tensor full = at::full({elements * group.size()}, -1, at::kFloat);
      const std::int64_t begin = elements * group.rank();
      at::Tensor shard = in_place ? full.slice(0, begin, begin + elements) : at::empty({elements}, at::kFloat);
      shard.copy_(of_rank(group.rank(), elements));
      group.all_gather(full, shard, key(1, sim::Operation::AllGather))->wait();
      for (std::int32_t rank = 0; rank < group.size(); ++rank) {
        EXPECT_TRUE(at::equal(full.slice(0, rank * elements, (rank + 1) * elements), of_rank(rank, elements)));
      }
    }
  }
}

// Rank r owns 10 r elements: the first none.
std::vector<std::int64_t> unequal(std::int32_t ranks) {
  std::vector<std::int64_t> elements;
  for (std::int32_t rank = 0; rank < ranks; ++rank) elements.push_back(10 * rank);
  return elements;
}
std::int64_t first_of(std::int32_t rank) { return 5 * rank * (rank - 1); }

TEST(MpiCommunicator, OwnersGetTheSumOfTheirParts) {
  Ledger ledger;
  auto group = communicator(&ledger);
  for (const auto type : kTypes) {
    const std::int64_t elements = first_of(group.size()), begin = first_of(group.rank()), own = 10 * group.rank();
    const at::Tensor whole = of_rank(group.rank(), elements, type), sum = at::empty({own}, type);
    group.reduce_to_owners(sum, {whole, unequal(group.size())}, key(1, sim::Operation::ReduceScatter))->wait();
    EXPECT_TRUE(at::equal(sum, serial_sum(group.size(), elements, type).slice(0, begin, begin + own))) << type;
    EXPECT_EQ(ledger.back().payload, sim::Bytes(static_cast<std::int64_t>(whole.nbytes()))) << "the whole buffer, on each rank";
  }
}

TEST(MpiCommunicator, OwnersPartsComeToAll) {
  auto group = communicator();
  const at::Tensor whole = at::full({first_of(group.size())}, -1, at::kFloat);
  const std::int64_t begin = first_of(group.rank());
  whole.slice(0, begin, begin + 10 * group.rank()).copy_(of_rank(group.rank(), 10 * group.rank()));
  group.gather_from_owners({whole, unequal(group.size())}, key(1, sim::Operation::AllGather))->wait();
  for (std::int32_t rank = 0; rank < group.size(); ++rank)
    EXPECT_TRUE(at::equal(whole.slice(0, first_of(rank), first_of(rank + 1)), of_rank(rank, 10 * rank)));
}

TEST(MpiCommunicator, RefusesPartsThatAreNotTheWhole) {
  auto group = communicator();
  std::vector<std::int64_t> elements = unequal(group.size());
  const at::Tensor whole = at::full({first_of(group.size()) + 1}, 0, at::kFloat);
  EXPECT_THROW(group.gather_from_owners({whole, elements}, key(1)), std::invalid_argument);
  elements.push_back(1);
  EXPECT_THROW(group.gather_from_owners({whole, elements}, key(1)), std::invalid_argument);
}

// Rank r has r + s rows for rank s: as many as that one for it, none where both are 0.
RowExchange uneven_rows(const MpiCommunicator& group, c10::ScalarType type) {
  RowExchange rows;
  std::int64_t all = 0;
  for (std::int32_t peer = 0; peer < group.size(); ++peer) {
    rows.to.push_back(group.rank() + peer);
    all += group.rank() + peer;
  }
  rows.from = rows.to;
  rows.sent = at::full({all, 3}, group.rank(), type);
  rows.received = at::full({all, 3}, -1, type);
  return rows;
}

TEST(MpiCommunicator, AllToAllBringsEachRankItsRows) {
  Ledger ledger;
  auto group = communicator(&ledger);
  for (const auto type : kTypes) {
    const RowExchange rows = uneven_rows(group, type);
    group.exchange(rows, key(1, sim::Operation::AllToAll))->wait();
    std::int64_t first = 0;
    for (std::int32_t peer = 0; peer < group.size(); ++peer) {
      const std::int64_t count = group.rank() + peer;
      EXPECT_TRUE(rows.received.narrow(0, first, count).eq(peer).all().item<bool>()) << type;
      first += count;
    }
    EXPECT_EQ(ledger.back().payload.value(), static_cast<std::int64_t>(rows.sent.nbytes())) << "the rank's own";
  }
}

TEST(MpiCommunicator, AllToAllRefusesCountsThatAreNotItsRows) {
  auto group = communicator();
  RowExchange rows = uneven_rows(group, at::kFloat);
  rows.to.front() += 1;
  EXPECT_THROW(group.exchange(rows, key(1, sim::Operation::AllToAll)), std::invalid_argument);
}

// What is no task of the graph stands in no ledger.
TEST(MpiCommunicator, WordsBesideTheTasksAreNotRecorded) {
  Ledger ledger;
  auto group = communicator(&ledger);
  group.all_reduce(of_rank(group.rank(), 3), ReduceOperation::Sum, {})->wait();
  EXPECT_TRUE(ledger.empty());
}

TEST(MpiCommunicator, AllToAllDealsChunks) {
  auto group = communicator();
  const std::int32_t ranks = group.size();
  for (const std::int64_t elements : {1, 513}) {
    const at::Tensor sent = of_rank(group.rank(), elements * ranks), received = at::full({elements * ranks}, -1, at::kFloat);
    group.all_to_all(received, sent, key(1, sim::Operation::AllToAll))->wait();
    for (std::int32_t from = 0; from < ranks; ++from)
      EXPECT_TRUE(at::equal(received.narrow(0, from * elements, elements),
                            of_rank(from, elements * ranks).narrow(0, group.rank() * elements, elements)));
  }
}

TEST(MpiCommunicator, ARingHopGoesToTheNextRank) {
  auto group = communicator();
  const at::Tensor sent = of_rank(group.rank(), 700), received = at::full({700}, -1, at::kFloat);
  group.ring_hop(received, sent, key(1, sim::Operation::RingHop))->wait();
  EXPECT_TRUE(at::equal(received, of_rank((group.rank() + group.size() - 1) % group.size(), 700)));
}

// The bits of a sum must not depend on how buffers are cut: one bucket or many.
TEST(MpiCommunicator, BucketsDoNotChangeBits) {
  auto group = communicator();
  const at::Tensor one = of_rank(group.rank(), 5000), many = one.clone();
  group.all_reduce(one, ReduceOperation::Sum, key(1))->wait();
  for (std::int64_t begin = 0; begin < 5000; begin += 777) {
    group.all_reduce(many.slice(0, begin, std::min<std::int64_t>(begin + 777, 5000)), ReduceOperation::Sum, key(2))->wait();
  }
  EXPECT_TRUE(at::equal(one, many));
}

TEST(MpiCommunicator, BroadcastFromEachRoot) {
  auto group = communicator();
  for (std::int32_t root = 0; root < group.size(); ++root) {
    const at::Tensor buffer = of_rank(group.rank(), 1001);
    group.broadcast(buffer, root, key(1))->wait();
    EXPECT_TRUE(at::equal(buffer, of_rank(root, 1001)));
  }
}

// A ring of transfers whose ends carry their own keys: the sender names its last layer, the receiver its first.
TEST(MpiCommunicator, TransfersMatchByWhatTheyCarry) {
  auto group = communicator();
  if (group.size() == 1) return;
  const std::int32_t next = (group.rank() + 1) % group.size(), last = (group.rank() + group.size() - 1) % group.size();
  for (const std::int64_t elements : {0, 100, 300'000}) {
    const at::Tensor forward = at::empty({elements}, at::kFloat), backward = at::empty({elements}, at::kFloat);
    const at::Tensor out = of_rank(group.rank(), elements), gradient = of_rank(group.rank() + 100, elements);
    auto sent = group.send(out, next, key(4, sim::Operation::Send, sim::Phase::Forward));
    auto sent_back = group.send(gradient, last, key(5, sim::Operation::Send, sim::Phase::Backward));
    // Received in the other order than sent.
    group.receive(backward, next, key(4, sim::Operation::Receive, sim::Phase::Backward))->wait();
    group.receive(forward, last, key(5, sim::Operation::Receive, sim::Phase::Forward))->wait();
    sent->wait();
    sent_back->wait();
    EXPECT_TRUE(at::equal(forward, of_rank(last, elements)));
    EXPECT_TRUE(at::equal(backward, of_rank(next + 100, elements)));
  }
}

TEST(MpiCommunicator, LongBuffersTravelInPieces) {
  MpiCommunicator group(session({.time_limit = sim::Seconds(30), .message = sim::Bytes(1000)}), world().everyone(), "world", nullptr);
  const at::Tensor buffer = of_rank(group.rank(), 10'007);
  group.all_reduce(buffer, ReduceOperation::Sum, key(1))->wait();
  EXPECT_TRUE(at::equal(buffer, serial_sum(group.size(), 10'007, at::kFloat)));
}

TEST(MpiCommunicator, LedgerHoldsWholeBuffersInOrder) {
  Ledger ledger;
  auto group = communicator(&ledger);
  const at::Tensor full = at::full({10 * group.size()}, 1, at::kFloat), shard = at::full({10}, 1, at::kFloat);
  group.all_reduce(shard, ReduceOperation::Sum, key(1))->wait();
  group.barrier();
  group.reduce_scatter(shard, full, key(2))->wait();
  group.all_gather(full, shard, key(3))->wait();
  const sim::Bytes whole(40 * group.size());
  const Ledger expected{{.key = key(1), .group_size = group.size(), .payload = sim::Bytes(40)},
                        {.key = key(2), .group_size = group.size(), .payload = whole},
                        {.key = key(3), .group_size = group.size(), .payload = whole}};
  EXPECT_EQ(ledger, expected);
}

TEST(MpiCommunicator, RefusesWhatItCannotMove) {
  auto group = communicator();
  const at::Tensor strided = at::full({10, 10}, 1, at::kFloat).t();
  EXPECT_THROW(group.all_reduce(strided, ReduceOperation::Sum, key(1)), std::invalid_argument);
  EXPECT_THROW(group.all_gather(at::full({7 * group.size() + 1}, 1), at::full({7}, 1), key(1)), std::invalid_argument);
  EXPECT_THROW(group.all_to_all(at::full({2 * group.size()}, 1), at::full({group.size()}, 1), key(1)), std::invalid_argument);
  EXPECT_THROW(group.ring_hop(at::full({2}, 1), at::full({1}, 1), key(1)), std::invalid_argument);
  EXPECT_THROW(group.send(at::full({1}, 1), group.rank(), key(1)), std::invalid_argument);
}

}  // namespace
}  // namespace executor
