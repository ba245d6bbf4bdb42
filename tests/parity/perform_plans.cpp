// Runs of many plans in one job, so that LibTorch starts once: each as meshwright-worker runs it under `meshwright run --steps 3`, into ROOT/<name of the plan>.
//
//   mpirun -np RANKS perform_plans ROOT PLAN...      plans of RANKS ranks each; ROOT holds tokens.bin
#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <filesystem>

#include "executor/communication/mpi_session.h"
#include "executor/kernels/counting_allocator.h"
#include "executor/launch/device_choice.h"
#include "executor/launch/failure.h"
#include "executor/launch/rank_environment.h"
#include "executor/launch/worker.h"

namespace {

void perform(const std::string& root, const std::string& plan, const std::shared_ptr<executor::MpiSession>& session) {
  executor::WorkerOptions options;
  options.plan = plan;
  options.data = root + "/tokens.bin";
  options.out = root + "/" + std::filesystem::path(plan).stem().string();
  options.steps = 3;
  std::filesystem::create_directories(options.out);
  executor::Worker(options, executor::load_runnable_plan(plan), {.device = c10::kCPU, .why = {}}, session).run();
}

}  // namespace

int main(int argc, char** argv) {
  executor::install_counting_allocator();
  at::set_num_threads(1);
  const auto session = executor::MpiSession::start();
  const char* at = "";
  try {
    for (char** plan = argv + 2; plan < argv + argc; ++plan) perform(argv[1], at = *plan, session);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", at, executor::describe(error).sentence);
    return executor::end_with(executor::describe(error), true, session.get());
  }
  return 0;
}
