#include "cli/launch.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"

namespace cli {
namespace {

// A stand-in where the worker would be: beside the program that runs.
class Launch : public testing::Test {
 protected:
  void SetUp() override {
    existed_ = std::filesystem::exists(worker_path());
    if (!existed_) std::ofstream(worker_path()) << "#!/bin/sh\n";
  }
  void TearDown() override {
    if (!existed_) std::filesystem::remove(worker_path());
  }
  bool existed_ = false;
};

TEST_F(Launch, StatesBindingAndThreads) {
  const std::string two = command_text(mpirun_command({.ranks = 1, .arguments = {"measure"}, .error_file = {}}));
  EXPECT_THAT(two, testing::HasSubstr("-np 1"));
  EXPECT_THAT(two, testing::HasSubstr("--bind-to core"));
  EXPECT_THAT(two, testing::HasSubstr("-x OMP_NUM_THREADS"));
  EXPECT_THAT(two, testing::EndsWith("meshwright-worker measure"));
}

TEST_F(Launch, MoreRanksThanCoresGoRoundThem) {
  EXPECT_THAT(command_text(mpirun_command({.ranks = 10000, .arguments = {}, .error_file = {}})),
              testing::HasSubstr("--map-by core:OVERSUBSCRIBE --bind-to core:overload-allowed"));
}

TEST_F(Launch, RanksOfGpusBindThemselves) {
  EXPECT_THAT(command_text(mpirun_command({.ranks = 8, .arguments = {}, .error_file = {}, .on_gpus = true})),
              testing::HasSubstr("--bind-to none"));
}

TEST(LaunchWithoutWorker, NamesTheRemedy) {
  if (std::filesystem::exists(worker_path())) GTEST_SKIP() << "this build has a worker";
  EXPECT_THROW(mpirun_command({.ranks = 1, .arguments = {}, .error_file = {}}), sim::InputError);
}

}  // namespace
}  // namespace cli
