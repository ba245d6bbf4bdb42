#include "executor/communication/mpi_session.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "mpi_test.h"

namespace executor {
namespace {

// Ranks wait for their operations in different orders: waiting for one must move the others on.
TEST(MpiSession, WaitsInAnyOrder) {
  auto group = communicator();
  std::vector<at::Tensor> buffers;
  std::vector<WorkHandle> works;
  for (std::int32_t i = 0; i < 6; ++i) {
    buffers.push_back(of_rank(group.rank(), 50'000));
    works.push_back(group.all_reduce(buffers.back(), ReduceOperation::Sum, key(i)));
  }
  std::ranges::rotate(works, works.begin() + group.rank());
  if (group.rank() % 2 == 1) std::ranges::reverse(works);
  for (auto& work : works) work->wait();
  for (const auto& buffer : buffers) EXPECT_TRUE(at::equal(buffer, serial_sum(group.size(), 50'000, at::kFloat)));
}

TEST(MpiSession, SlowRanksDoNotChangeBits) {
  auto group = communicator();
  for (std::int32_t slow = 0; slow < group.size(); ++slow) {
    const at::Tensor buffer = of_rank(group.rank(), 10'000);
    if (slow == group.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    auto work = group.all_reduce(buffer, ReduceOperation::Sum, key(slow));
    if (slow == group.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    work->wait();
    EXPECT_TRUE(at::equal(buffer, serial_sum(group.size(), 10'000, at::kFloat)));
  }
}

// A send is done when it was posted: a rank that sends to all before it receives anything must not block.
TEST(MpiSession, SendsDoNotBlock) {
  auto group = communicator();
  std::vector<WorkHandle> sends;
  const at::Tensor large = of_rank(group.rank(), 2'000'000), received = at::full({2'000'000}, 0, at::kFloat);
  for (std::int32_t peer = 0; peer < group.size(); ++peer) {
    if (peer != group.rank()) sends.push_back(group.send(large, peer, key(1, sim::Operation::Send, sim::Phase::Step)));
  }
  for (std::int32_t peer = 0; peer < group.size(); ++peer) {
    if (peer == group.rank()) continue;
    group.receive(received, peer, key(1, sim::Operation::Receive, sim::Phase::Step))->wait();
    EXPECT_TRUE(at::equal(received, of_rank(peer, 2'000'000)));
  }
}  // the handles wait

TEST(MpiSession, BarrierWaitsForTheLastRank) {
  auto group = communicator();
  const auto start = std::chrono::steady_clock::now();
  MPI_Barrier(MPI_COMM_WORLD);  // a common start
  if (group.rank() == group.size() - 1) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  group.barrier();
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(45));
}

TEST(MpiSession, AFailureIsRepeated) {
  if (world().size == 1) GTEST_SKIP() << "needs two ranks";
  MpiCommunicator group(session({.time_limit = sim::Seconds(2)}), world().everyone(), "world", nullptr);
  if (group.rank() == 0) {
    const at::Tensor buffer = at::full({4}, 1, at::kFloat);
    EXPECT_THROW(group.receive(buffer, 1, key(1, sim::Operation::Receive))->wait(), CollectiveError);
    const auto start = std::chrono::steady_clock::now();
    auto later = group.receive(buffer, 1, key(2, sim::Operation::Receive));
    EXPECT_THROW(later->wait(), CollectiveError);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));  // no second time limit
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST(MpiSession, ErrorCodesBecomeCollectiveErrors) {
  EXPECT_NO_THROW(check_mpi(MPI_SUCCESS, "nothing"));
  EXPECT_THROW(check_mpi(MPI_ERR_RANK, "MPI_Isend"), CollectiveError);
}

}  // namespace
}  // namespace executor
