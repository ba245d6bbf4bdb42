// meshwright-worker: one rank. Started by `meshwright run` and `meshwright measure` under mpirun; the only program that links LibTorch.
#include <ATen/Parallel.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "executor/kernels/counting_allocator.h"
#include "executor/launch/determinism.h"
#include "executor/launch/failure.h"
#include "executor/launch/heartbeat_report.h"
#include "executor/launch/job.h"
#include "executor/launch/machine_report.h"
#include "executor/launch/measure.h"
#include "executor/launch/numa_binding.h"
#include "executor/launch/rank_environment.h"
#include "executor/launch/stop_request.h"
#include "executor/launch/worker.h"
#include "executor/training/hugging_face.h"
#include "sim/units/folder_lock.h"

namespace executor {
namespace {

constexpr int kUsage = 2, kLacksSomething = 30, kInterrupted = 130;

// Under a launcher each rank's words have a file of their own; on a terminal rank 0 keeps it.
void redirect_words(const WorkerOptions& options, const RankEnvironment& place) {
  const bool keeps_terminal = place.rank == sim::Rank(0) && isatty(STDERR_FILENO) == 1;
  if (!place.is_launched || options.command != "run" || keeps_terminal) return;
  std::error_code ignored;
  std::filesystem::create_directories(options.out, ignored);
  if (std::freopen(fmt::format("{}/stderr.{}.txt", options.out, place.rank.value()).c_str(), "a", stderr) == nullptr) return;
  std::setvbuf(stderr, nullptr, _IOLBF, 0);
}

// What talks to other ranks. It belongs to the caller: were it ended while an exception passes, MPI would wait for ranks that wait for this one.
struct Connections {
  std::shared_ptr<MpiSession> mpi;
  Transport transport;
};

CommunicationOptions waiting(const WorkerOptions& options) { return {.time_limit = sim::Seconds(options.hang_limit)}; }

DeviceChoice connect(const WorkerOptions& options, const RankEnvironment& place, sim::DeviceKind planned, Connections& to) {
  const DeviceWish wish{.device = options.device, .communication = options.communication, .planned = planned};
  Surroundings around = look_around(place, to.mpi != nullptr);
  if (around.knows_gpus && to.mpi && place.size > 1) around.shares_card = do_two_say_the_same(card_of(wish, around));
  const DeviceChoice choice = choose_device(wish, around);
  if (!choice.device.is_cpu()) {
    if (options.deterministic) compute_deterministically();
    const std::string bound = bind_beside(choice.device);  // first: what CUDA starts and takes of the host for the device is there, too
    c10::impl::VirtualGuardImpl(choice.device.type()).setDevice(choice.device);
    if (place.rank == sim::Rank(0))
      fmt::print(stderr, "device: {} ({}{}{})\n", choice.device.str(), choice.why, bound.empty() ? "" : "; ", bound);
  }
  to.transport = join_job(choice, place, to.mpi, waiting(options));
  return choice;
}

int perform(const WorkerOptions& options, const RankEnvironment& place, Connections& to) {
  if (options.command == "report") {
    std::fputs(heartbeat_report(options.out, options.ranks).c_str(), stdout);
    return 0;
  }
  if (options.command == "doctor") {
    const MachineReport report = report_of(look_at_machine(look_around(place, false)));
    std::fputs(report.text.c_str(), stdout);
    return report.can_run ? 0 : kLacksSomething;
  }
  if (options.command == "check") {  // whether a device of the plan's kind is here, before anything is written
    choose_device({.device = options.device,
                   .communication = options.communication,
                   .planned = load_runnable_plan(options.plan).cluster.hardware.kind},
                  look_around(place, true));
    return 0;
  }
  install_counting_allocator();
  at::set_num_threads(1);
  watch_stop_signals();
  if (place.is_launched) to.mpi = start_mpi(waiting(options));
  if (options.command == "export") {
    export_hugging_face(options.out + "/checkpoints", options.weights);
    return 0;
  }
  if (options.command == "measure") {
    const DeviceChoice choice = connect(options, place, sim::DeviceKind::Cpu, to);
    const MeasureOptions on_device{.largest = sim::Flops(choice.device.is_cpu() ? 0.35e9 : 4e12), .device = choice.device};
    measure_to_file(to.transport, options.out, on_device);
    return 0;
  }
  std::error_code ignored;
  std::filesystem::create_directories(options.out, ignored);
  std::optional<sim::FolderLock> lock;
  if (place.rank == sim::Rank(0) && !options.folder_is_locked) lock.emplace(options.out);
  const sim::ParallelPlan plan = load_runnable_plan(options.plan);
  const DeviceChoice choice = connect(options, place, plan.cluster.hardware.kind, to);
  return Worker(options, plan, choice, to.transport).run() == RunEnd::Completed ? 0 : kInterrupted;
}

int run_worker(const std::vector<std::string>& words) {
  const RankEnvironment place = read_rank_environment();
  const ParsedOptions parsed = parse_options(words);
  if (!parsed.options) {
    fmt::print(stderr, "usage: {}\n", parsed.problem);
    return kUsage;
  }
  redirect_words(*parsed.options, place);
  Connections connections;
  try {
    return perform(*parsed.options, place, connections);
  } catch (const std::exception& error) {
    return end_with(describe(error), place.is_launched && place.size > 1, connections.mpi.get());
  }
}

}  // namespace
}  // namespace executor

int main(int argc, char** argv) { return executor::run_worker({argv + 1, argv + argc}); }
