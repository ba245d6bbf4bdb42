#include "executor/launch/worker_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace executor {
namespace {

TEST(WorkerOptions, RunTakesAll) {
  const auto parsed =
      parse_options({"run", "--plan", "p", "--data", "d", "--steps", "12", "--out", "o", "--resume", "--kill-at", "x", "--kill-rank", "1"});
  ASSERT_TRUE(parsed.options) << parsed.problem;
  EXPECT_EQ(parsed.options->steps, 12);
  EXPECT_TRUE(parsed.options->resume);
  EXPECT_EQ(parsed.options->kill_rank, sim::Rank(1));
}

TEST(WorkerOptions, SayWhereToCompute) {
  const auto parsed = parse_options({"run",
                                     "--plan",
                                     "p",
                                     "--data",
                                     "d",
                                     "--steps",
                                     "1",
                                     "--out",
                                     "o",
                                     "--device",
                                     "cuda:1",
                                     "--communication",
                                     "mpi",
                                     "--memory-snapshot",
                                     "s.pickle",
                                     "--no-checkpoint",
                                     "--cuda-graphs",
                                     "--deterministic",
                                     "--folder-is-locked",
                                     "--hang-limit",
                                     "7"});
  ASSERT_TRUE(parsed.options) << parsed.problem;
  EXPECT_EQ(parsed.options->device, "cuda:1");
  EXPECT_EQ(parsed.options->communication, "mpi");
  EXPECT_EQ(parsed.options->memory_snapshot, "s.pickle");
  EXPECT_TRUE(parsed.options->no_checkpoint);
  EXPECT_TRUE(parsed.options->cuda_graphs);
  EXPECT_TRUE(parsed.options->deterministic);
  EXPECT_EQ(parsed.options->hang_limit, 7);
  EXPECT_TRUE(parsed.options->folder_is_locked);
}

TEST(WorkerOptions, DoctorNeedsNothing) { EXPECT_TRUE(parse_options({"doctor"}).options); }

TEST(WorkerOptions, ProblemsAreNamed) {
  EXPECT_THAT(parse_options({}).problem, testing::HasSubstr("run | check | doctor | measure | report"));
  EXPECT_THAT(parse_options({"run", "--plan", "p", "--data", "d", "--out", "o"}).problem, testing::HasSubstr("--steps is missing"));
  EXPECT_THAT(parse_options({"check", "--out", "o"}).problem, testing::HasSubstr("--plan is missing"));
  EXPECT_THAT(parse_options({"run", "--steps", "-3"}).problem, testing::HasSubstr("--steps needs a value"));
  EXPECT_THAT(parse_options({"run", "--hang-limit", "0"}).problem, testing::HasSubstr("--hang-limit needs a value"));
  EXPECT_THAT(parse_options({"run", "--colour", "red"}).problem, testing::HasSubstr("unknown option --colour"));
  EXPECT_THAT(parse_options({"run", "--mutation", "stale_weights"}).problem, testing::HasSubstr("unknown option --mutation"));
}

}  // namespace
}  // namespace executor
