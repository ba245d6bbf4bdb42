#include "executor/communication/heartbeat.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

namespace executor {
namespace {

class HeartbeatTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/meshwright_heartbeat_XXXXXX";
    folder_ = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

const sim::TaskKey kTask{.stage = sim::StageIndex(1),
                         .chunk = sim::ChunkIndex(0),
                         .microbatch = sim::MicrobatchIndex(3),
                         .layer = sim::LayerIndex(2),
                         .phase = sim::Phase::Backward,
                         .operation = sim::Operation::Mlp,
                         .group = sim::MeshAxis::None,
                         .sequence = 0};

TEST_F(HeartbeatTest, TellsTheLastTask) {
  Heartbeat heartbeat(folder_, sim::Rank(4));
  EXPECT_FALSE(sim::read_heartbeat(folder_, sim::Rank(4)).has_value());
  heartbeat.begin_activity("loading the data");
  EXPECT_EQ(sim::read_heartbeat(folder_, sim::Rank(4))->doing, "loading the data");
  EXPECT_EQ(sim::read_heartbeat(folder_, sim::Rank(4))->step, -1);
  heartbeat.begin_step({7});
  heartbeat.begin_task({});
  heartbeat.begin_task(kTask);
  const auto reading = sim::read_heartbeat(folder_, sim::Rank(4));
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->step, 7);
  EXPECT_EQ(reading->doing, sim::to_text(kTask));
  EXPECT_EQ(reading->phase, "backward");
  EXPECT_EQ(reading->process, getpid());
  EXPECT_GT(reading->unix_nanoseconds, 1'700'000'000'000'000'000);
}

TEST_F(HeartbeatTest, OutlivesAKilledProcess) {
  const pid_t child = fork();
  if (child == 0) {
    Heartbeat heartbeat(folder_, sim::Rank(0));
    heartbeat.begin_step({2});
    heartbeat.begin_task(kTask);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto reading = sim::read_heartbeat(folder_, sim::Rank(0));
  ASSERT_TRUE(reading.has_value());
  EXPECT_EQ(reading->doing, sim::to_text(kTask));
  EXPECT_EQ(reading->process, child);
}

// A wait counts for the task in which it was noted.
TEST_F(HeartbeatTest, TellsForWhomARankWaits) {
  Heartbeat heartbeat(folder_, sim::Rank(0));
  heartbeat.begin_step({2});
  heartbeat.begin_task(kTask);
  heartbeat.note_wait({.number = 1, .rank = 0, .for_rank = 3, .in = "all_gather x (data group)"});
  EXPECT_EQ(sim::read_heartbeat(folder_, sim::Rank(0))->waits_for, sim::Rank(3));
  EXPECT_EQ(sim::read_heartbeat(folder_, sim::Rank(0))->waits_in, "all_gather x (data group)");
  heartbeat.begin_task(kTask);
  EXPECT_FALSE(sim::read_heartbeat(folder_, sim::Rank(0))->waits);
}

TEST_F(HeartbeatTest, AddsUpWhatItComputes) {
  Heartbeat heartbeat(folder_, sim::Rank(0));
  heartbeat.begin_task(kTask);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  heartbeat.begin_task({.operation = sim::Operation::AllReduce});
  const std::int64_t computed = sim::read_heartbeat(folder_, sim::Rank(0))->computing_nanoseconds;
  EXPECT_GE(computed, 30'000'000);
  std::this_thread::sleep_for(std::chrono::milliseconds(40));
  heartbeat.begin_activity("waiting");
  EXPECT_EQ(sim::read_heartbeat(folder_, sim::Rank(0))->computing_nanoseconds, computed) << "moving data is no computing";
}

TEST_F(HeartbeatTest, CutsLongActivities) {
  Heartbeat heartbeat(folder_, sim::Rank(0));
  heartbeat.begin_activity(std::string(500, 'x'));
  EXPECT_EQ(sim::read_heartbeat(folder_, sim::Rank(0))->doing, std::string(63, 'x'));
}

TEST_F(HeartbeatTest, MissingOrShortFilesAreNoReading) {
  EXPECT_FALSE(sim::read_heartbeat(folder_, sim::Rank(9)).has_value());
  EXPECT_THROW(Heartbeat("/nowhere/at/all", sim::Rank(0)), std::runtime_error);
}

}  // namespace
}  // namespace executor
