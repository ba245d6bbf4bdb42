#include "cli/launch.h"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/interrupt.h"
#include "sim/units/input_error.h"

namespace cli {
namespace {

constexpr auto kWatch = std::chrono::milliseconds(100);
constexpr const char* kPassedOn = "OMP_NUM_THREADS";

// A rank a core while there are cores enough; more ranks go round the cores, so that each core has its share of every stage. Left to itself the
// kernel lets two of them share a core while another idles: ranks that poll wake too often for it to move them.
std::vector<std::string> binding(std::int32_t ranks, bool on_gpus) {
  if (on_gpus) return {"--bind-to", "none"};
  if (static_cast<unsigned>(ranks) <= std::thread::hardware_concurrency()) return {"--map-by", "core", "--bind-to", "core"};
  return {"--map-by", "core:OVERSUBSCRIBE", "--bind-to", "core:overload-allowed"};
}

// Ends a launch: politely where the ranks heed it, again and again until they have; else at once.
class Ending {
 public:
  Ending(const Process& mpirun, const LaunchRequest& request) : mpirun_(mpirun), heeds_signals_(request.heeds_signals) {}
  void ask() {
    const auto now = Clock::now();
    if (now - asked_ < kBetweenAsking) return;
    asked_ = now;
    if (heeds_signals_ && heeds_signals_() && !is_forced_)
      mpirun_.signal(SIGUSR1);  // mpirun hands it to the ranks; SIGINT would make it kill them
    else
      force();
  }
  void force() {
    if (!std::exchange(is_forced_, true)) forced_ = Clock::now(), mpirun_.signal(SIGTERM);
    if (Clock::now() - forced_ > kForMpirun) mpirun_.signal_group(SIGKILL);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kBetweenAsking{1}, kForMpirun{15};
  const Process& mpirun_;
  std::function<bool()> heeds_signals_;
  bool is_forced_ = false;
  Clock::time_point asked_, forced_;
};

}  // namespace

std::string worker_path() { return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "meshwright-worker").string(); }

std::string require_worker() {
  std::string worker = worker_path();
  if (!std::filesystem::exists(worker))
    throw sim::InputError(
        worker, {{"", "does not exist: this build has no worker", "build it:  cmake --preset release && cmake --build --preset release"}});
  return worker;
}

int run_worker(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{require_worker()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  Process worker({.command = command, .environment = {}, .output_file = {}, .error_file = {}});
  std::optional<int> status;
  while (!status) status = worker.wait_for(kWatch);
  return *status;
}

std::vector<std::string> mpirun_command(const LaunchRequest& request) {
  const std::string worker = require_worker();
  std::vector<std::string> command{"mpirun", "--allow-run-as-root", "--oversubscribe", "-np", std::to_string(request.ranks), "-x",
                                   kPassedOn};
  for (std::string& word : binding(request.ranks, request.on_gpus)) command.push_back(std::move(word));
  command.push_back(worker);
  command.insert(command.end(), request.arguments.begin(), request.arguments.end());
  return command;
}

int launch(const LaunchRequest& request, const std::function<bool()>& watch) try {
  const std::atomic<bool>& stop = interrupted();
  Process mpirun({.command = mpirun_command(request),
                  .environment = {std::string(kPassedOn) + "=1"},
                  .output_file = {},
                  .error_file = request.error_file,
                  .death_signal = SIGUSR1});  // should we be killed, the ranks end with a checkpoint
  Ending ending(mpirun, request);
  bool goes_on = true;
  while (!mpirun.wait_for(kWatch)) {
    goes_on = watch() && goes_on;
    if (insisted() || !goes_on)
      ending.force();
    else if (stop)
      ending.ask();
  }
  watch();
  return *mpirun.poll();
} catch (const std::system_error& error) {
  throw sim::InputError("mpirun", {{"", error.code().message(), "install the package openmpi-bin:  cmake/setup.sh"}});
}

}  // namespace cli
