#include "executor/communication/mpi_operation.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "mpi_test.h"

namespace executor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

at::Tensor ones(std::int64_t elements) { return at::full({elements}, 1, at::kFloat); }

// Rank 1 leaves the common order in the way that a test gives; every rank must name both operations, at once.
class Disagreement : public ::testing::Test {
 protected:
  void SetUp() override {
    if (world().size == 1) GTEST_SKIP() << "needs two ranks";
  }
  static bool is_odd_one() { return world().rank == 1; }
};

TEST_F(Disagreement, AnotherTask) {
  auto group = communicator();
  const auto message = failure_of([&] { group.all_reduce(ones(10), ReduceOperation::Sum, key(is_odd_one() ? 7 : 3))->wait(); });
  EXPECT_THAT(message, AllOf(HasSubstr("world group"), HasSubstr("the ranks disagree"), HasSubstr("ank 1 issued"), HasSubstr("40 bytes"),
                             HasSubstr(sim::to_text(key(7))), HasSubstr(sim::to_text(key(3)))))
      << message;
}

TEST_F(Disagreement, AnotherSize) {
  auto group = communicator();
  for (const std::int64_t elements : {10, 1'000'000}) {
    auto own = communicator();
    const auto message =
        failure_of([&] { own.all_reduce(ones(is_odd_one() ? elements + 6 : elements), ReduceOperation::Sum, key(3))->wait(); });
    EXPECT_THAT(message, AllOf(HasSubstr("the ranks disagree"), HasSubstr(std::to_string(elements * 4) + " bytes"))) << message;
  }
}

TEST_F(Disagreement, AnotherKindOfOperation) {
  auto group = communicator();
  const at::Tensor full = ones(10 * group.size()), shard = ones(10);
  const auto message = failure_of([&] {
    if (is_odd_one())
      group.all_gather(full, shard, key(3))->wait();
    else
      group.reduce_scatter(shard, full, key(3))->wait();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("all_gather"), HasSubstr("reduce_scatter"))) << message;
}

TEST_F(Disagreement, OneOperationLeftOut) {
  auto group = communicator();
  const auto message = failure_of([&] {
    if (!is_odd_one()) group.all_reduce(ones(4), ReduceOperation::Sum, key(1))->wait();
    group.all_reduce(ones(4), ReduceOperation::Sum, key(2))->wait();
  });
  EXPECT_THAT(message, AllOf(HasSubstr(sim::to_text(key(1))), HasSubstr(sim::to_text(key(2))))) << message;
}

TEST_F(Disagreement, NobodyComes) {
  MpiCommunicator group(session({.time_limit = sim::Seconds(0.2)}), world().everyone(), "data", nullptr);
  const auto message = failure_of([&] {
    if (!is_odd_one()) group.all_reduce(ones(4), ReduceOperation::Sum, key(1))->wait();
  });
  if (is_odd_one()) return;
  EXPECT_THAT(message, AllOf(HasSubstr("data group"), HasSubstr("s in all_reduce"), HasSubstr("Rank 1 has not come"),
                             HasSubstr(sim::to_text(key(1)))))
      << message;
}

TEST_F(Disagreement, RanksAreNamedByTheirNumbersInTheJob) {
  if (world().size < 3) GTEST_SKIP() << "needs a group that rank 0 is not in";
  std::vector<sim::Rank> members = world().everyone();
  world().rank == 0 ? members.resize(1) : static_cast<void>(members.erase(members.begin()));
  MpiCommunicator group(session({.time_limit = sim::Seconds(0.2)}), members, "data", nullptr);
  const auto message = failure_of([&] {
    if (world().rank > 1) group.all_reduce(ones(4), ReduceOperation::Sum, key(1))->wait();
  });
  if (world().rank < 2) return;
  EXPECT_THAT(message, AllOf(HasSubstr("rank " + std::to_string(world().rank) + " waited"), HasSubstr("Rank 1 has not come"))) << message;
}

TEST_F(Disagreement, AnotherTransferCame) {
  MpiCommunicator group(session({.time_limit = sim::Seconds(0.3)}), world().everyone(), "pipeline", nullptr);
  WorkHandle sent;
  const auto message = failure_of([&] {
    if (is_odd_one()) sent = group.send(ones(4), 0, key(2, sim::Operation::Send, sim::Phase::Forward));
    if (world().rank == 0) group.receive(ones(4), 1, key(6, sim::Operation::Receive, sim::Phase::Forward))->wait();
  });
  if (world().rank == 0) {
    EXPECT_THAT(message, AllOf(HasSubstr("it issued transfer"), HasSubstr(sim::to_text(key(2, sim::Operation::Send, sim::Phase::Forward)))))
        << message;
  }
}

// Of many sends each is asked: none of them moves the others, or a collective that fails, on.
TEST_F(Disagreement, IsNotToldByATransferThatEnds) {
  auto group = communicator();
  WorkHandle sum, moved;
  const auto message = failure_of([&] {
    sum = group.all_reduce(ones(10), ReduceOperation::Sum, key(is_odd_one() ? 7 : 3));
    if (is_odd_one()) moved = group.send(ones(4), 0, key(2, sim::Operation::Send, sim::Phase::Forward));
    if (world().rank == 0) moved = group.receive(ones(4), 1, key(3, sim::Operation::Receive, sim::Phase::Forward));
    for (const auto start = std::chrono::steady_clock::now(); moved && std::chrono::steady_clock::now() - start < std::chrono::seconds(10);)
      if (moved->has_ended()) break;
  });
  EXPECT_EQ(message, "");
  EXPECT_TRUE(!moved || moved->has_ended());
  EXPECT_THAT(failure_of([&] { sum->wait(); }), HasSubstr("the ranks disagree"));
}

}  // namespace
}  // namespace executor
