#include "executor/communication/mpi_watch.h"

#include <ATen/ops/full.h>
#include <gmock/gmock.h>

#include <thread>

#include "mpi_test.h"

namespace executor {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

at::Tensor ones() { return at::full({10}, 1, at::kFloat); }

std::string failure_of_look(MpiWatch& watch) {
  try {
    while (true) watch.look({.number = 1, .rank = world().rank, .for_rank = 1, .in = "a test"}, false);
  } catch (const CollectiveError& error) {
    return error.what();
  }
}

class Circle : public ::testing::Test {
 protected:
  void SetUp() override {
    if (world().size == 1) GTEST_SKIP() << "needs two ranks";
  }
  static bool is_odd_one() { return world().rank == 1; }
  std::shared_ptr<MpiSession> session_ = session();
  MpiCommunicator one_{session_, world().everyone(), "world", nullptr}, other_{session_, world().everyone(), "data", nullptr};
};

// Rank 1 is in the data group's operation while the others are in the world's: neither group ever sees both headers.
TEST_F(Circle, AnotherGroup) {
  const std::string message =
      failure_of([&] { (is_odd_one() ? other_ : one_).all_reduce(ones(), ReduceOperation::Sum, key(is_odd_one() ? 7 : 3))->wait(); });
  EXPECT_THAT(message,
              AllOf(HasSubstr("wait for each other"), HasSubstr("rank 1 waits for rank 0 in all_reduce " + sim::to_text(key(7))),
                    HasSubstr("rank 0 waits for rank 1 in all_reduce " + sim::to_text(key(3))), HasSubstr("data group of ranks 0 1")))
      << message;
}

// Rank 1 waits for an activation that rank 0 would send after the collective in which it waits for rank 1.
TEST_F(Circle, ATransferAgainstACollective) {
  const sim::TaskKey receive = key(6, sim::Operation::Receive, sim::Phase::Forward);
  const std::string message = failure_of([&] {
    if (is_odd_one())
      one_.receive(ones(), 0, receive)->wait();
    else
      other_.all_reduce(ones(), ReduceOperation::Sum, key(3))->wait();
  });
  EXPECT_THAT(message, AllOf(HasSubstr("rank 1 waits for rank 0 in transfer " + sim::to_text(receive)),
                             HasSubstr("rank 0 waits for rank 1 in all_reduce")))
      << message;
}

// Slower than the patience of a wait, with everyone else waiting for it in turn: no circle.
TEST_F(Circle, ASlowRankIsNone) {
  if (is_odd_one()) std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  EXPECT_EQ(failure_of([&] { one_.all_reduce(ones(), ReduceOperation::Sum, key(1))->wait(); }), "");
  if (world().rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  EXPECT_EQ(failure_of([&] { other_.all_reduce(ones(), ReduceOperation::Sum, key(2))->wait(); }), "");
}

// Rank 1 ends while the others compute: it waits for their words, and they know why it went and whose exit code counts.
TEST(MpiWatch, ARankThatEndsTellsTheOthersAndWaitsForTheirWords) {
  using Clock = std::chrono::steady_clock;
  constexpr MpiWatch::Time kComputing{400};
  if (world().size == 1) GTEST_SKIP() << "needs two ranks";
  MpiWatch watch;
  const auto start = Clock::now();
  MPI_Barrier(MPI_COMM_WORLD);  // no rank computes before another one's clock has begun
  RankEnd first;
  if (world().rank == 1) {
    first = watch.end(30, "tokens.bin: cannot be read", MpiWatch::Time(10'000));
    EXPECT_GE(Clock::now() - start, kComputing);
  } else {
    std::this_thread::sleep_for(kComputing);
    const std::string message = failure_of_look(watch);
    EXPECT_EQ(message, "rank 1 has ended: tokens.bin: cannot be read");
    first = watch.end(50, message, MpiWatch::Time(10'000));
  }
  EXPECT_EQ(first.rank, 1);
  EXPECT_EQ(first.exit_code, 30);
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(9));  // nobody waited in vain
  MPI_Barrier(MPI_COMM_WORLD);
}

// A rank that hangs says nothing: the end comes without its words.
TEST(MpiWatch, PatienceEnds) {
  if (world().size == 1) GTEST_SKIP() << "needs two ranks";
  MpiWatch watch;
  const RankEnd first = world().rank == 0 ? watch.end(50, "", MpiWatch::Time(100)) : RankEnd{.rank = 0, .exit_code = 50};
  EXPECT_EQ(first.rank, 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace executor
