#include "cli/launch_script.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/units/input_error.h"

namespace cli {
namespace {

// Of a rank that tells a GPU what to do: itself, LibTorch's backward, NCCL's proxies, the writer of checkpoints.
constexpr int kCoresOfAGpuRank = 8;

struct Nodes {
  std::int32_t number = 1, ranks_each = 1;
};

Nodes nodes_of(const sim::ParallelPlan& plan) { return {.number = plan.cluster.hosts(), .ranks_each = plan.cluster.devices_per_host()}; }

// The worker and its words, as a shell reads them.
std::string worker_words(const LaunchRequest& request) {
  std::vector<std::string> words{require_worker()};
  words.insert(words.end(), request.arguments.begin(), request.arguments.end());
  return command_text(words);
}

std::string slurm_script(const LaunchRequest& request, const sim::ParallelPlan& plan) {
  const auto [nodes, each] = nodes_of(plan);
  const bool on_gpus = plan.cluster.hardware.kind == sim::DeviceKind::Gpu;
  return fmt::format(
      "#!/usr/bin/env bash\n#SBATCH --job-name=meshwright\n#SBATCH --nodes={}\n#SBATCH --ntasks={}\n#SBATCH --ntasks-per-node={}\n#SBATCH "
      "--cpus-per-task={}\n{}"
      "#SBATCH --signal=USR1@60\n\n# USR1: a checkpoint before the time is over. PMIx: ranks find each other through Open MPI.\n"
      "export OMP_NUM_THREADS=1\nsrun --mpi=pmix --kill-on-bad-exit=1 "
      "--cpus-per-task=$SLURM_CPUS_PER_TASK {}\n",
      nodes, plan.mesh.ranks(), each, on_gpus ? kCoresOfAGpuRank : 1, on_gpus ? fmt::format("#SBATCH --gpus-per-node={}\n", each) : "",
      worker_words(request));
}

std::string torchrun_script(const LaunchRequest& request, const sim::ParallelPlan& plan) {
  const auto [nodes, each] = nodes_of(plan);
  return fmt::format(
      "#!/usr/bin/env bash\n# On each of {0} nodes, with NODE_RANK from 0 to {1} and MASTER_ADDR the first node's name.\n"
      "set -eu\nexport OMP_NUM_THREADS=1 WORLD_SIZE={2} LOCAL_WORLD_SIZE={3}\n"
      "export MASTER_ADDR=${{MASTER_ADDR:-127.0.0.1}} MASTER_PORT=${{MASTER_PORT:-29500}}\nfirst=$((${{NODE_RANK:-0}} * {3}))\n"
      "for local in $(seq 0 {4}); do\n  LOCAL_RANK=$local RANK=$((first + local)) {5} &\ndone\n"
      "status=0\nfor local in $(seq 0 {4}); do wait -n || status=$?; [ $status = 0 ] || break; done\nkill $(jobs -p) 2>/dev/null || "
      "true\nexit $status\n",
      nodes, nodes - 1, plan.mesh.ranks(), each, each - 1, worker_words(request));
}

}  // namespace

std::string launch_script(const std::string& launcher, const LaunchRequest& request, const sim::ParallelPlan& plan) {
  if (launcher == "mpirun") return command_text(mpirun_command(request)) + "\n";
  if (launcher == "srun") return slurm_script(request, plan);
  if (launcher != "torchrun")
    throw sim::InputError("", {{"--launcher", fmt::format("\"{}\" starts no ranks", launcher), "mpirun, srun or torchrun"}});
  if (plan.cluster.hardware.kind == sim::DeviceKind::Cpu && plan.mesh.ranks() > 1)
    throw sim::InputError("",
                          {{"--launcher", "ranks that environment variables alone start are joined by NCCL, and this plan is for CPU ranks",
                            "mpirun or srun"}});
  return torchrun_script(request, plan);
}

}  // namespace cli
