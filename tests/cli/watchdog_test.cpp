#include "cli/watchdog.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

namespace cli {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class WatchdogOfTwo : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(folder_);
    plan_.mesh.data = 2;
    for (sim::HeartbeatFile& file : files_) file.process = getpid();
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  sim::HeartbeatRecord& record(int rank) { return files_[rank].records[files_[rank].written % 2]; }
  void begin(int rank, std::int64_t step) {
    ++files_[rank].written;
    record(rank) = {
        .step = step, .unix_nanoseconds = 1, .key = {.phase = sim::Phase::Backward, .operation = sim::Operation::Mlp}, .activity = {}};
    save(rank);
  }
  void save(int rank) const {
    std::ofstream(sim::heartbeat_path(folder_, sim::Rank(rank)), std::ios::binary)
        .write(reinterpret_cast<const char*>(&files_[rank]), sizeof files_[rank]);
  }
  Watchdog watchdog(std::optional<std::int64_t> limit = {}) const {
    return Watchdog({.folder = folder_, .plan = plan_, .limit = limit}, start_);
  }
  Watchdog::Clock::time_point at(int time) const { return start_ + seconds(time); }

  std::string folder_ = ::testing::TempDir() + "watchdog";
  sim::ParallelPlan plan_;
  sim::HeartbeatFile files_[2]{};
  Watchdog::Clock::time_point start_ = Watchdog::Clock::now();
};

TEST_F(WatchdogOfTwo, NamesTheRankThatHoldsUpTheOthers) {
  Watchdog dog = watchdog(20);
  for (int rank : {0, 1}) begin(rank, 12);
  EXPECT_FALSE(dog.look(at(1)).hangs);
  files_[0].wait = {.of = files_[0].written, .for_rank = 1, .in = "all_gather x (data group of ranks 0 1)"};
  save(0);  // a wait that is noted is no progress
  EXPECT_FALSE(dog.look(at(20)).hangs);
  const Watchdog::Finding found = dog.look(at(22));
  EXPECT_TRUE(found.hangs);
  ASSERT_EQ(found.words.size(), 1U);
  EXPECT_THAT(found.words.front(), HasSubstr("no rank has begun anything for 21 s (rank 1 holds up the run)"));
  EXPECT_THAT(found.words.front(), HasSubstr("rank 0: step 12, phase backward, task s"));
  EXPECT_THAT(found.words.front(), HasSubstr("waits for rank 1 in all_gather x"));
}

// All headers have come, and a message has not: the wait names nobody, and who does not wait is to blame.
TEST_F(WatchdogOfTwo, AWaitForNobodyInParticularIsStillAWait) {
  Watchdog dog = watchdog(20);
  for (int rank : {0, 1}) begin(rank, 12);
  dog.look(at(1));
  files_[0].wait = {.of = files_[0].written, .for_rank = -1, .in = "all_reduce x (world group of ranks 0 1)"};
  save(0);
  const Watchdog::Finding found = dog.look(at(22));
  ASSERT_EQ(found.words.size(), 1U);
  EXPECT_THAT(found.words.front(), HasSubstr("(rank 1 holds up the run)"));
  EXPECT_THAT(found.words.front(), HasSubstr(", waits in all_reduce x"));
}

TEST_F(WatchdogOfTwo, ProgressOfAnyRankIsProgress) {
  Watchdog dog = watchdog(20);
  for (int time = 0; time < 200; time += 15) {
    begin(time % 2, 1);
    EXPECT_FALSE(dog.look(at(time)).hangs) << time;
  }
}

TEST_F(WatchdogOfTwo, TheLimitFollowsTheSteps) {
  Watchdog dog = watchdog();
  for (int step : {1, 2, 3}) {
    for (int rank : {0, 1}) begin(rank, step);
    dog.look(at(10 * step));
  }
  EXPECT_FALSE(dog.look(at(30 + 199)).hangs) << "20 steps of 10 s";
  EXPECT_TRUE(dog.look(at(30 + 201)).hangs);
}

TEST_F(WatchdogOfTwo, OutsideOfStepsItIsPatient) {
  Watchdog dog = watchdog();
  EXPECT_FALSE(dog.look(at(599)).hangs) << "ranks that start";
  EXPECT_TRUE(dog.look(at(601)).hangs);
  Watchdog without = watchdog(0);
  EXPECT_FALSE(without.look(at(100'000)).hangs);
}

// SIGKILL of a rank: mpirun ends the others at once, or else we do.
TEST_F(WatchdogOfTwo, ARankThatIsGoneIsMissed) {
  Watchdog dog = watchdog(0);
  const pid_t child = fork();
  if (child == 0) pause();
  files_[1].process = child;
  for (int rank : {0, 1}) begin(rank, 3);
  EXPECT_FALSE(dog.look(at(1)).hangs);
  kill(child, SIGKILL);
  siginfo_t ended{};
  waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);  // dead, and nobody has asked how it ended
  EXPECT_FALSE(dog.look(at(2)).hangs);
  EXPECT_FALSE(dog.look(at(12)).hangs);
  waitpid(child, nullptr, 0);
  const Watchdog::Finding found = dog.look(at(13));
  EXPECT_TRUE(found.hangs);
  ASSERT_EQ(found.words.size(), 1U);
  EXPECT_THAT(found.words.front(), HasSubstr("rank 1 is gone, and mpirun has not ended the others for 10 s"));
}

TEST_F(WatchdogOfTwo, ARankOfAnotherMachineIsNotMissed) {
  Watchdog dog = watchdog(0);
  files_[1].process = std::numeric_limits<std::int32_t>::max();  // no process here has that number
  for (int rank : {0, 1}) begin(rank, 3);
  EXPECT_FALSE(dog.look(at(1)).hangs);
  EXPECT_FALSE(dog.look(at(100)).hangs);
}

TEST_F(WatchdogOfTwo, AStragglerIsToldOnceWhileItLasts) {
  Watchdog dog = watchdog();
  std::vector<std::string> told;
  for (int window = 0; window < 6; ++window) {
    const bool slow = window == 2 || window == 3;
    for (int rank : {0, 1}) {
      files_[rank].computing_nanoseconds += slow && rank == 1 ? 9'500'000'000 : 4'000'000'000;
      begin(rank, 10 * window);
    }
    for (const std::string& word : dog.look(at(10 * window + 10)).words) told.push_back(word);
  }
  EXPECT_THAT(told, ::testing::ElementsAre("rank 1 is a straggler: from step 20 on it computes 2.4 times as long as the ranks of its stage",
                                           "rank 1 keeps up again from step 40 on"));
}

}  // namespace
}  // namespace cli
