#include "executor/launch/rank_environment.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace executor {
namespace {

class RankEnvironmentTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMIX_SIZE", "SLURM_PROCID", "SLURM_NTASKS",
                             "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"})
      unsetenv(name);
  }
};

TEST_F(RankEnvironmentTest, AloneWithoutALauncher) {
  EXPECT_FALSE(read_rank_environment().is_launched);
  EXPECT_EQ(read_rank_environment().size, 1);
}

TEST_F(RankEnvironmentTest, MpirunComesBeforeTorchrun) {
  setenv("RANK", "5", 1);
  setenv("WORLD_SIZE", "8", 1);
  EXPECT_EQ(read_rank_environment().rank, sim::Rank(5));
  EXPECT_EQ(read_rank_environment().local_rank, 5) << "all on one host, unless it says more";
  setenv("LOCAL_RANK", "1", 1);
  setenv("LOCAL_WORLD_SIZE", "4", 1);
  EXPECT_EQ(read_rank_environment().local_rank, 1);
  EXPECT_EQ(read_rank_environment().local_size, 4);
  setenv("OMPI_COMM_WORLD_RANK", "1", 1);
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  EXPECT_EQ(read_rank_environment().rank, sim::Rank(1));
  EXPECT_EQ(read_rank_environment().size, 2);
}

}  // namespace
}  // namespace executor
