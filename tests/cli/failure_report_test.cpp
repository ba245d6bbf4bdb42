#include "cli/failure_report.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace cli {
namespace {

std::string cause_text(const std::string& words) { return cause_of(words).text; }

TEST(FailureReport, NamesTheRankAndTheSignal) {
  const Cause cause = cause_of("----\nmpirun noticed that process rank 1 with PID 0 on node host exited on signal 9 (Killed).\n----\n");
  EXPECT_EQ(cause.rank, sim::Rank(1));
  EXPECT_EQ(cause.text, "rank 1 was ended by signal 9 (Killed)");
}

TEST(FailureReport, NamesTheRankAndItsExitCode) {
  EXPECT_EQ(cause_text("The first process to do so was:\n\n  Process name: [[22290,1],3]\n  Exit code:    40\n---"),
            "rank 3 ended with exit code 40");
  EXPECT_EQ(cause_text("MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith errorcode 30.\n"),
            "rank 2 gave up with exit code 30");
}

TEST(FailureReport, SaysNothingItDoesNotKnow) {
  EXPECT_EQ(cause_text("something else"), "");
  EXPECT_FALSE(cause_of("").rank.exists());
}

TEST(FailureReport, ReadsLongWords) {
  const std::string long_words(1 << 20, 'x');
  EXPECT_EQ(cause_text("process rank 1 " + long_words), "");
  EXPECT_EQ(cause_text(long_words + "\nMPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\n" + long_words +
                       "\nwith errorcode 30.\n" + long_words),
            "rank 2 gave up with exit code 30");
}

TEST(FailureReport, ARefusalIsTheWordsOfTheRankThatRefused) {
  const std::string folder = testing::TempDir() + "refusal";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/mpirun.txt") << "MPI_ABORT was invoked on rank 1 in communicator MPI_COMM_WORLD\nwith errorcode 30.\n";
  std::ofstream(folder + "/stderr.0.txt") << "error: of rank 0\n";
  std::ofstream(folder + "/stderr.1.txt") << "error: of an earlier run\nstep 3\nerror: tokens.bin: token 300; plan a larger vocabulary\n";
  EXPECT_EQ(refusal({.folder = folder, .ranks = 2, .status = 30}), "error: tokens.bin: token 300; plan a larger vocabulary\n");
}

}  // namespace
}  // namespace cli
