#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "cli/commands.h"
#include "cli/documents_json.h"
#include "cli/exit_code.h"
#include "cli/failure_report.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/launch_script.h"
#include "cli/plan_text.h"
#include "cli/progress.h"
#include "cli/restart.h"
#include "cli/run_folder.h"
#include "sim/units/folder_lock.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace cli {
namespace {

void require_tokens(const RunOptions& options, const sim::ParallelPlan& plan) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(options.data, error);
  const std::string remedy = "make it with:  meshwright tokenize text... -o tokens.bin";
  if (error) throw sim::InputError(options.data, {{"", "cannot be read: " + error.message(), remedy}});
  if (bytes % 2 != 0)
    throw sim::InputError(options.data, {{"", fmt::format("has {} bytes, which is no whole number of 2-byte tokens", bytes), remedy}});
  const auto tokens = static_cast<std::int64_t>(bytes / 2);
  if (tokens <= plan.workload.sequence)
    throw sim::InputError(options.data, {{"", fmt::format("has {} tokens, a sample takes {} and one more", tokens, plan.workload.sequence),
                                          "give it more text, or plan a shorter sequence"}});
}

LaunchRequest launch_request(const RunOptions& options, const sim::ParallelPlan& plan) {
  LaunchRequest request{
      .ranks = plan.mesh.ranks(),
      .arguments = {"run", "--plan", options.dry_run ? options.plan : options.output + "/plan.json", "--data", options.data, "--steps",
                    std::to_string(options.steps), "--out", options.output},
      .error_file = options.output + "/mpirun.txt",
      .on_gpus = options.device.starts_with("cuda") || (options.device == "auto" && plan.cluster.hardware.kind == sim::DeviceKind::Gpu)};
  if (!options.dry_run) request.arguments.emplace_back("--folder-is-locked");
  if (options.resume) request.arguments.push_back("--resume");
  if (options.device != "auto") request.arguments.insert(request.arguments.end(), {"--device", options.device});
  if (options.cuda_graphs) request.arguments.emplace_back("--cuda-graphs");
  if (options.deterministic) request.arguments.emplace_back("--deterministic");
  if (options.hang_limit > 0) request.arguments.insert(request.arguments.end(), {"--hang-limit", std::to_string(options.hang_limit)});
  if (!options.weights.empty()) request.arguments.insert(request.arguments.end(), {"--weights", options.weights});
  return request;
}

// Reads what the ranks wrote since the last look.
class MetricsFollower {
 public:
  explicit MetricsFollower(const RunOptions& options)
      : path_(options.output + "/metrics.ndjson"), steps_(options.steps), progress_("run: step") {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path_, error);
    if (!error) read_ = static_cast<std::streamoff>(size);
  }
  void look() {
    std::ifstream file(path_);
    file.seekg(read_);
    for (std::string line; std::getline(file, line) && !file.eof(); read_ = file.tellg())
      if (const std::optional<StepMetrics> step = parse_metrics(line)) last_ = *step;
    if (last_)
      progress_.update({.done = last_->step,
                        .all = steps_,
                        .details = fmt::format("loss {:.4f}, {:.0f} tokens/s", last_->loss, last_->tokens_per_second)});
    else
      progress_.update({.done = 0, .all = steps_, .details = "starting"});
  }

 private:
  std::string path_;
  std::int64_t steps_;
  Progress progress_;
  std::streamoff read_ = 0;
  std::optional<StepMetrics> last_;
};

int failed(const FailedRun& run, const Console& console) {
  const bool refused = run.status == kInputError;
  const std::string words = refused ? refusal(run) : failure_report(run);
  const int code = refused ? kInputError : kRankFailed;
  console.say(words);
  if (console.form() == Form::Json) console.result("", [&] { return error_document(run.folder, {{"", words, ""}}, code); });
  return code;
}

int ended(const RunOptions& options, const sim::ParallelPlan& plan, int status, const Console& console) {
  const bool stopped = interrupted() && (status == kInterrupted || status == kSuccess);
  if (status != kSuccess && !stopped) return failed({.folder = options.output, .ranks = plan.mesh.ranks(), .status = status}, console);
  const std::vector<StepMetrics> metrics = read_metrics(options.output);
  std::string text = plan_summary(plan) + "\n";
  if (!metrics.empty())
    text += fmt::format("step {} of {}: loss {:.4f} (step {}: {:.4f}), {:.0f} tokens/s\n", metrics.back().step,
                        std::max(options.steps, metrics.back().step), metrics.back().loss, metrics.front().step, metrics.front().loss,
                        median_tokens_per_second(metrics));
  if (stopped) console.say("interrupted: a checkpoint was written; continue with --resume");
  console.result(text + "Run folder: " + options.output, [&] { return run_document(options, metrics); });
  return stopped ? kInterrupted : kSuccess;
}

sim::ParallelPlan load_runnable(const std::string& path) {
  const sim::ParallelPlan plan = sim::load_plan(path);
  const std::vector<sim::Violation> refused = sim::why_not_runnable(plan);
  if (!refused.empty()) throw sim::InputError(path, refused);
  return plan;
}

// The worker knows what it was built for and what is here; it says so itself.
int check_device(const RunOptions& options, const sim::ParallelPlan& plan) {
  if (options.device == "auto" && plan.cluster.hardware.kind == sim::DeviceKind::Cpu) return kSuccess;
  return run_worker({"check", "--plan", options.plan, "--out", options.output, "--device", options.device});
}

void say_layout(const std::vector<std::string>& differences, const Console& console) {
  if (differences.empty()) return;
  console.say(fmt::format("goes on under another layout ({}): the numbers are the same up to rounding", fmt::join(differences, "; ")));
}

int launch_once(const RunOptions& options, const sim::ParallelPlan& plan) {
  MetricsFollower follower(options);
  return launch(launch_request(options, plan), [&] { follower.look(); });
}

// Until it ends, or has failed once more than it may. `plan` becomes the fallback, if there is one, at the first restart.
int launch_with_restarts(RunOptions options, sim::ParallelPlan& plan, const Console& console) {
  int status = launch_once(options, plan);
  for (std::int64_t restart = 1; restart <= options.max_restarts && may_restart(status) && !interrupted(); ++restart) {
    const RestartPoint point = restart_point(options.output);
    console.say(cause_of(sim::load_text_file(options.output + "/mpirun.txt")).text);
    console.say(restart_text(point, {.number = restart, .of = options.max_restarts}));
    options.resume = true;
    if (!options.fallback.empty()) {
      plan = load_runnable(options.fallback);
      say_layout(prepare_run_folder(options, plan), console);
    }
    options.resume = point.from > 0;
    status = launch_once(options, plan);
  }
  return status;
}

}  // namespace

int run(const RunOptions& options, const Console& console) {
  sim::ParallelPlan plan = load_runnable(options.plan);
  if (!options.fallback.empty()) load_runnable(options.fallback);  // said before anything starts
  require_tokens(options, plan);
  require_worker();  // said before anything is written
  if (options.dry_run) {
    const std::string script = launch_script(options.launcher, launch_request(options, plan), plan);
    console.result(script, [&] { return script_document(script); });
    return kSuccess;
  }
  if (options.launcher != "mpirun")
    throw sim::InputError(
        "", {{"--launcher", options.launcher + " is shown, not started from here", "add --dry-run, and hand the script to the scheduler"}});
  if (const int status = check_device(options, plan); status != kSuccess) return refused_by_worker(options.plan, status, console);
  if (!options.resume) make_run_folder(options.output);
  const sim::FolderLock lock(options.output);
  say_layout(prepare_run_folder(options, plan), console);
  if (const std::int64_t reached = restart_point(options.output).from; options.resume && reached >= options.steps) {
    console.say(fmt::format("the run has reached step {} already: nothing is left to train up to step {}", reached, options.steps));
    return ended(options, plan, kSuccess, console);
  }
  const int status = launch_with_restarts(options, plan, console);
  return ended(options, plan, status, console);
}

}  // namespace cli
