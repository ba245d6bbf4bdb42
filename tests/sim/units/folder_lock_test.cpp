#include "cli/run_lock.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "cli/process.h"
#include "sim/units/input_error.h"

namespace cli {
namespace {

std::string folder_named(const std::string& name) {
  const std::string folder = testing::TempDir() + "run_lock_" + name;
  std::filesystem::create_directories(folder);
  return folder;
}

TEST(RunLock, KeepsASecondRunOut) {
  const std::string folder = folder_named("second");
  std::optional<RunLock> first(folder);
  EXPECT_THROW(RunLock second(folder), sim::InputError);
  first.reset();
  EXPECT_NO_THROW(RunLock second(folder));
}

TEST(RunLock, OutlivesItsProgramInWhatWasStarted) {
  const std::string folder = folder_named("child");
  std::optional<RunLock> lock(folder);
  Process child({.command = {"sleep", "60"}, .environment = {}, .output_file = {}, .error_file = {}});
  lock.reset();
  EXPECT_THROW(RunLock other(folder), sim::InputError);
  child.signal_group(SIGKILL);
  EXPECT_TRUE(child.wait_for(std::chrono::seconds(10)));
  EXPECT_NO_THROW(RunLock other(folder));
}

TEST(RunLock, AMissingFolderIsNobodysYet) { EXPECT_NO_THROW(RunLock lock(testing::TempDir() + "run_lock_missing")); }

}  // namespace
}  // namespace cli
