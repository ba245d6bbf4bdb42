#include "executor/communication/staged_communicator.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include "executor/communication/transport.h"
#include "mpi_test.h"
#include "tests/executor/checked_device/checked_device.h"

namespace executor {
namespace {

std::vector<sim::Rank> everybody() {
  std::vector<sim::Rank> ranks;
  for (std::int32_t rank = 0; rank < world().size; ++rank) ranks.emplace_back(rank);
  return ranks;
}
at::TensorOptions on_device() { return at::TensorOptions().dtype(at::kDouble).device(checked_device()); }
double at_of(const at::Tensor& tensor, std::int64_t at) { return tensor.cpu().data_ptr<double>()[at]; }

TEST(StagedCommunicator, DeviceTensorsGoThroughTheHost) {
  const auto group = Transport(session()).make(everybody(), "data", nullptr);
  const std::int32_t ranks = world().size, rank = world().rank;
  const at::Tensor buffer = at::full({3}, rank + 1.0, on_device());
  group->all_reduce(buffer, ReduceOperation::Sum, key(1))->wait();
  EXPECT_EQ(at_of(buffer, 2), ranks * (ranks + 1) / 2.0);
  const at::Tensor full = at::arange(2 * ranks, on_device()), shard = at::empty({2}, on_device());
  group->reduce_scatter(shard, full, key(2))->wait();
  EXPECT_EQ(at_of(shard, 1), ranks * (2.0 * rank + 1));
  group->all_gather(full, shard, key(3))->wait();
  EXPECT_EQ(at_of(full, 2 * ranks - 1), ranks * (2.0 * ranks - 1));
  std::vector<std::int64_t> owned(static_cast<std::size_t>(ranks));
  owned.back() = 3;  // all of it
  const OwnedParts parts{at::full({3}, rank + 1.0, on_device()), owned};
  const at::Tensor own = at::empty({owned[static_cast<std::size_t>(rank)]}, on_device());
  group->reduce_to_owners(own, parts, key(7))->wait();
  if (rank == ranks - 1) {
    EXPECT_EQ(at_of(own, 2), ranks * (ranks + 1) / 2.0);
  }
  group->gather_from_owners(parts, key(8))->wait();
  EXPECT_EQ(at_of(parts.whole, 1), ranks);
  const std::vector<std::int64_t> each(static_cast<std::size_t>(ranks), 2);
  const RowExchange rows{
      .sent = at::full({2 * ranks, 1}, rank, on_device()), .received = at::empty({2 * ranks, 1}, on_device()), .to = each, .from = each};
  group->exchange(rows, key(5))->wait();
  EXPECT_EQ(at_of(rows.received, 2 * ranks - 1), ranks - 1);
  const at::Tensor sent = at::arange(2 * ranks, on_device()).add_(100.0 * rank), came = at::empty({2 * ranks}, on_device());
  group->all_to_all(came, sent, key(5))->wait();
  EXPECT_EQ(at_of(came, 2 * ranks - 1), 100.0 * (ranks - 1) + 2 * rank + 1);
  group->ring_hop(came, sent, key(6))->wait();
  EXPECT_EQ(at_of(came, 1), 100.0 * ((rank + ranks - 1) % ranks) + 1);
  const at::Tensor word = at::full({1}, rank * 7.0, on_device());
  group->broadcast(word, ranks - 1, key(4))->wait();
  EXPECT_EQ(at_of(word, 0), 7.0 * (ranks - 1));
}

}  // namespace
}  // namespace executor
