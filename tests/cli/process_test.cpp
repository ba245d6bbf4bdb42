#include "cli/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>

namespace cli {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{10000};

ProcessRequest shell(const std::string& script) {
  return {.command = {"/bin/sh", "-c", script}, .environment = {}, .output_file = {}, .error_file = {}};
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Process, GivesTheExitStatus) { EXPECT_EQ(Process(shell("exit 7")).wait_for(kLong), 7); }

TEST(Process, ASignalIs128More) {
  Process child(shell("exec sleep 60"));
  EXPECT_EQ(child.wait_for(milliseconds(50)), std::nullopt);
  child.signal(SIGKILL);
  EXPECT_EQ(child.wait_for(kLong), 128 + SIGKILL);
}

TEST(Process, RedirectsAndAddsToTheEnvironment) {
  const std::string out = testing::TempDir() + "process_out.txt", err = testing::TempDir() + "process_err.txt";
  setenv("MESHWRIGHT_TEST_WORD", "old", 1);
  ProcessRequest request = shell("echo $MESHWRIGHT_TEST_WORD; echo oh >&2");
  request.environment = {"MESHWRIGHT_TEST_WORD=new"};
  request.output_file = out;
  request.error_file = err;
  EXPECT_EQ(Process(request).wait_for(kLong), 0);
  EXPECT_EQ(contents(out), "new\n");
  EXPECT_EQ(contents(err), "oh\n");
}

TEST(Process, StandsInItsOwnGroup) {
  Process child(shell("test $(ps -o pgid= -p $$) = $$"));
  EXPECT_EQ(child.wait_for(kLong), 0);
}

// A grandchild tells, since a killed parent cannot.
TEST(Process, AKilledParentIsTold) {
  const std::string told = testing::TempDir() + "process_told.txt";
  std::ofstream(told) << "";
  const pid_t parent = fork();
  if (parent == 0) {
    ProcessRequest request = shell("trap 'echo told > " + told + "; exit' USR1; echo ready > " + told + "; while :; do sleep 0.02; done");
    request.death_signal = SIGUSR1;
    const Process child(request);
    while (contents(told) != "ready\n") usleep(1000);
    raise(SIGKILL);
  }
  waitpid(parent, nullptr, 0);
  for (int look = 0; look < 1000 && contents(told) != "told\n"; ++look) usleep(10000);
  EXPECT_EQ(contents(told), "told\n");
}

TEST(Process, AFileThatCannotBeMadeIsAnError) {
  ProcessRequest request = shell("exit 0");
  request.output_file = "/no/such/folder/out.txt";
  EXPECT_THROW(Process{request}, std::system_error);
}

TEST(Process, AMissingProgramIsNamed) {
  try {
    Process({.command = {"meshwright-no-such-program"}, .environment = {}, .output_file = {}, .error_file = {}});
    FAIL();
  } catch (const std::system_error& error) {
    EXPECT_NE(std::string(error.what()).find("meshwright-no-such-program"), std::string::npos);
    EXPECT_EQ(error.code().value(), ENOENT);
  }
}

TEST(Process, NoChildOutlivesIt) {
  const std::string mark = testing::TempDir() + "process_mark.txt";
  std::remove(mark.c_str());
  { Process child(shell("sleep 0.3; echo alive > " + mark)); }
  Process(shell("sleep 0.6")).wait_for(kLong);
  EXPECT_EQ(contents(mark), "");
}

TEST(Process, CommandTextQuotesWhatAShellWouldSplit) { EXPECT_EQ(command_text({"a", "b c", ""}), "a 'b c' ''"); }

}  // namespace
}  // namespace cli
