#include "sim/units/folder_lock.h"

#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>

#include "sim/units/input_error.h"

namespace sim {
namespace {

using ::testing::HasSubstr;

std::string folder_named(const std::string& name) {
  const std::string folder = testing::TempDir() + "folder_lock_" + name + std::to_string(getpid());
  std::filesystem::create_directories(folder);
  return folder;
}

std::string refusal(const std::string& folder) {
  try {
    const FolderLock lock(folder);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(FolderLock, KeepsASecondRunOutAndNamesTheFirst) {
  const std::string folder = folder_named("second");
  std::optional<FolderLock> first(folder);
  EXPECT_THAT(refusal(folder), HasSubstr("(process " + std::to_string(getpid()) + ")"));
  EXPECT_THAT(refusal(folder), HasSubstr("kill " + std::to_string(getpid())));
  first.reset();
  EXPECT_EQ(refusal(folder), "");
}

TEST(FolderLock, OutlivesItsProgramInWhatWasStarted) {
  const std::string folder = folder_named("child");
  std::optional<FolderLock> lock(folder);
  const pid_t child = fork();
  if (child == 0) {
    execlp("sleep", "sleep", "60", nullptr);
    _exit(127);
  }
  lock.reset();
  while (refusal(folder).find("sleep (process") == std::string::npos) ASSERT_EQ(kill(child, 0), 0) << "until it is sleep";
  EXPECT_THAT(refusal(folder), HasSubstr("kill " + std::to_string(child)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(refusal(folder), "");
}

TEST(FolderLock, WhoOnlyLooksIsNotNamed) {
  const std::string folder = folder_named("looks");
  const FolderLock lock(folder);
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    for (int inherited = 3; inherited < 64; ++inherited)
      if (inherited != ready[1]) close(inherited);
    const std::filesystem::directory_iterator open(folder);
    [[maybe_unused]] const auto written = write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char word = 0;
  ASSERT_EQ(read(ready[0], &word, 1), 1);
  EXPECT_THAT(refusal(folder), testing::Not(HasSubstr(std::to_string(child))));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

TEST(FolderLock, AMissingFolderIsNobodysYet) { EXPECT_EQ(refusal(testing::TempDir() + "folder_lock_missing"), ""); }

}  // namespace
}  // namespace sim
