#include "executor/launch/rank_environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>

namespace executor {
namespace {

using Variables = std::map<std::string, std::string>;

// What the launchers really set, by their documentation; of Slurm 23, Open MPI 4 and torchrun 2.
const Variables kMpirun{{"OMPI_COMM_WORLD_RANK", "3"},       {"OMPI_COMM_WORLD_SIZE", "4"},      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}, {"OMPI_COMM_WORLD_NODE_RANK", "1"}, {"PMIX_RANK", "3"},
                        {"PMIX_NAMESPACE", "1207"},          {"PMIX_SERVER_URI3", "1207.0"}};
const Variables kSbatch{
    {"SLURM_JOB_ID", "7"}, {"SLURM_NTASKS", "2"},       {"SLURM_PROCID", "0"},          {"SLURM_LOCALID", "0"},
    {"SLURM_NODEID", "0"}, {"SLURM_NNODES", "2"},       {"SLURM_NTASKS_PER_NODE", "1"}, {"SLURM_TASKS_PER_NODE", "1(x2)"},
    {"SLURM_NPROCS", "2"}, {"SLURM_CPUS_ON_NODE", "64"}};
const Variables kSrun{{"SLURM_JOB_ID", "7"},          {"SLURM_PROCID", "9"},          {"SLURM_NTASKS", "11"},
                      {"SLURM_LOCALID", "1"},         {"SLURM_NODEID", "2"},          {"SLURM_TASKS_PER_NODE", "8(x4)"},
                      {"SLURM_NTASKS_PER_NODE", "8"}, {"SLURM_STEP_NUM_TASKS", "11"}, {"SLURM_STEP_TASKS_PER_NODE", "4(x2),3"}};
const Variables kTorchrun{
    {"RANK", "5"},      {"WORLD_SIZE", "8"},      {"LOCAL_RANK", "1"},      {"LOCAL_WORLD_SIZE", "4"},      {"GROUP_RANK", "1"},
    {"ROLE_RANK", "5"}, {"MASTER_ADDR", "node0"}, {"MASTER_PORT", "29500"}, {"TORCHELASTIC_RUN_ID", "none"}};

Variables operator+(Variables one, const Variables& other) {
  one.insert(other.begin(), other.end());
  return one;
}

// Only these variables, and what is no launcher's.
class RankEnvironmentTest : public testing::Test {
 protected:
  RankEnvironment in(const Variables& variables) {
    for (char** at = environ; *at != nullptr; ++at) {
      const std::string name = std::string(*at).substr(0, std::string(*at).find('='));
      for (const char* const start : {"OMPI_", "PMIX_", "SLURM_", "RANK", "WORLD_SIZE", "LOCAL_"})
        if (name.starts_with(start)) return unsetenv(name.c_str()), in(variables);  // the list has moved
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    return read_rank_environment();
  }
  void TearDown() override { in({}); }
};

void expect_place(const RankEnvironment& is, const RankEnvironment& expected) {
  EXPECT_EQ(is.is_launched, expected.is_launched);
  EXPECT_EQ(is.rank, expected.rank);
  EXPECT_EQ(is.size, expected.size);
  EXPECT_EQ(is.local_rank, expected.local_rank);
  EXPECT_EQ(is.local_size, expected.local_size);
}
RankEnvironment place(std::int32_t rank, std::int32_t size, std::int32_t local_rank, std::int32_t local_size) {
  return {.rank = sim::Rank(rank), .size = size, .local_rank = local_rank, .local_size = local_size, .is_launched = true};
}

TEST_F(RankEnvironmentTest, AloneWithoutALauncher) {
  expect_place(in({}), {});
  expect_place(in({{"WORLD_SIZE", "8"}}), {});  // left over: nobody named a rank
}

TEST_F(RankEnvironmentTest, EveryLaunchersOwnVariables) {
  expect_place(in(kMpirun), place(3, 4, 1, 2));
  expect_place(in(kSrun), place(9, 11, 1, 3));  // the third node of "4(x2),3", not the allocation's eight
  expect_place(in(kTorchrun), place(5, 8, 1, 4));
  expect_place(in({{"PMIX_RANK", "1"}, {"PMIX_SIZE", "2"}}), place(1, 2, 1, 2));
}

TEST_F(RankEnvironmentTest, TheInnermostLauncherWins) {
  expect_place(in(kTorchrun + kSbatch), place(5, 8, 1, 4));  // torchrun in a batch script, or started by srun once a node
  expect_place(in(kMpirun + kSbatch), place(3, 4, 1, 2));
  expect_place(in(kMpirun + kTorchrun), place(3, 4, 1, 2));
  expect_place(in(kSrun + Variables{{"WORLD_SIZE", "11"}, {"RANK", "0"}}), place(9, 11, 1, 3));  // exported once, for all
}

TEST_F(RankEnvironmentTest, VariablesByHandMeanOneHostUnlessTheySayMore) {
  expect_place(in({{"RANK", "5"}, {"WORLD_SIZE", "8"}}), place(5, 8, 5, 8));
}

TEST_F(RankEnvironmentTest, SlurmTellsTasksNodeByNode) {
  const auto local_size = [&](const char* text, const char* node) {
    return in({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "99"}, {"SLURM_NODEID", node}, {"SLURM_STEP_TASKS_PER_NODE", text}}).local_size;
  };
  EXPECT_EQ(local_size("2,1(x3),5", "0"), 2);
  EXPECT_EQ(local_size("2,1(x3),5", "3"), 1);
  EXPECT_EQ(local_size("2,1(x3),5", "4"), 5);
  EXPECT_EQ(local_size("2,1(x3),5", "5"), 99) << "a node that it does not name";
  EXPECT_EQ(local_size("(x", "0"), 99);
}

}  // namespace
}  // namespace executor
