#include "cli/launch_script.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sim/units/input_error.h"

namespace cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class LaunchScript : public testing::Test {
 protected:
  void SetUp() override {
    existed_ = std::filesystem::exists(worker_path());
    if (!existed_) std::ofstream(worker_path()) << "#!/bin/sh\n";
    plan_.mesh = {.data = 16, .pipeline = 1, .tensor = 1};
    plan_.cluster.hardware.kind = sim::DeviceKind::Gpu;
    plan_.cluster.hardware.devices_per_node = 8;
    plan_.cluster.devices = 16;
  }
  void TearDown() override {
    if (!existed_) std::filesystem::remove(worker_path());
  }
  std::string script(const std::string& launcher) const {
    return launch_script(launcher, {.ranks = 16, .arguments = {"run"}, .error_file = {}}, plan_);
  }
  sim::ParallelPlan plan_;
  bool existed_ = false;
};

TEST_F(LaunchScript, OfSlurmNamesNodesTasksAndGpus) {
  EXPECT_THAT(script("srun"), AllOf(HasSubstr("--nodes=2\n"), HasSubstr("--ntasks=16\n"), HasSubstr("--gpus-per-node=8\n"),
                                    HasSubstr("--cpus-per-task=8\n"), HasSubstr("srun --mpi=pmix"),
                                    HasSubstr("--cpus-per-task=$SLURM_CPUS_PER_TASK "), HasSubstr("meshwright-worker run\n")));
  plan_.cluster.hardware.kind = sim::DeviceKind::Cpu;
  EXPECT_THAT(script("srun"), HasSubstr("--cpus-per-task=1\n"));
}

TEST_F(LaunchScript, OfTorchrunSetsItsVariables) {
  EXPECT_THAT(script("torchrun"), AllOf(HasSubstr("WORLD_SIZE=16"), HasSubstr("first=$((${NODE_RANK:-0} * 8))"),
                                        HasSubstr("LOCAL_RANK=$local"), HasSubstr("seq 0 7")));
  plan_.cluster.hardware.kind = sim::DeviceKind::Cpu;
  EXPECT_THROW(script("torchrun"), sim::InputError);
}

TEST_F(LaunchScript, OfMpirunIsItsCommand) {
  EXPECT_THAT(script("mpirun"), HasSubstr("mpirun --allow-run-as-root"));
  EXPECT_THROW(script("smoke"), sim::InputError);
}

}  // namespace
}  // namespace cli
