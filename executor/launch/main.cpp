// meshwright-worker: one rank. Started by `meshwright run` and `meshwright measure` under mpirun; the only program that links LibTorch.
#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "executor/kernels/counting_allocator.h"
#include "executor/launch/failure.h"
#include "executor/launch/heartbeat_report.h"
#include "executor/launch/measure.h"
#include "executor/launch/rank_environment.h"
#include "executor/launch/stop_request.h"
#include "executor/launch/worker.h"
#include "executor/training/hugging_face.h"

namespace executor {
namespace {

constexpr int kUsage = 2, kInterrupted = 130;

// Under a launcher each rank's words have a file of their own; on a terminal rank 0 keeps it.
void redirect_words(const WorkerOptions& options, const RankEnvironment& place) {
  const bool keeps_terminal = place.rank == sim::Rank(0) && isatty(STDERR_FILENO) == 1;
  if (!place.is_launched || options.command != "run" || keeps_terminal) return;
  std::error_code ignored;
  std::filesystem::create_directories(options.out, ignored);
  if (std::freopen(fmt::format("{}/stderr.{}.txt", options.out, place.rank.value()).c_str(), "a", stderr) == nullptr) return;
  std::setvbuf(stderr, nullptr, _IOLBF, 0);
}

// `session` belongs to the caller: were it ended while an exception passes, MPI would wait for ranks that wait for this one.
int perform(const WorkerOptions& options, const RankEnvironment& place, std::shared_ptr<MpiSession>& session) {
  if (options.command == "report") {
    std::fputs(heartbeat_report(options.out, options.ranks).c_str(), stdout);
    return 0;
  }
  install_counting_allocator();
  at::set_num_threads(1);
  watch_stop_signals();
  if (place.is_launched) session = MpiSession::start();
  if (options.command == "export") {
    export_hugging_face(options.out + "/checkpoints", options.weights);
    return 0;
  }
  if (options.command == "measure") {
    measure_to_file(session, options.out);
    return 0;
  }
  std::error_code ignored;
  std::filesystem::create_directories(options.out, ignored);
  return Worker(options, session).run() == RunEnd::Completed ? 0 : kInterrupted;
}

int run_worker(const std::vector<std::string>& words) {
  const RankEnvironment place = read_rank_environment();
  const ParsedOptions parsed = parse_options(words);
  if (!parsed.options) {
    fmt::print(stderr, "usage: {}\n", parsed.problem);
    return kUsage;
  }
  redirect_words(*parsed.options, place);
  std::shared_ptr<MpiSession> session;
  try {
    return perform(*parsed.options, place, session);
  } catch (const std::exception& error) {
    return end_with(describe(error), place.is_launched && place.size > 1);
  }
}

}  // namespace
}  // namespace executor

int main(int argc, char** argv) { return executor::run_worker({argv + 1, argv + argc}); }
