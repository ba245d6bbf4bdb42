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
#include "cli/watchdog.h"
#include "sim/plan/resume_changes.h"
#include "sim/units/folder_lock.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"
#include "sim/units/token_layout.h"

namespace cli {
namespace {

sim::TokenType token_type(const RunOptions& options) {
  const auto name = std::ranges::find(sim::kTokenTypeNames, options.token_type);
  return static_cast<sim::TokenType>(name - std::begin(sim::kTokenTypeNames));
}

void require_tokens(const RunOptions& options, const sim::ParallelPlan& plan) {
  const sim::TokenLayout layout = sim::token_layout(options.data, token_type(options));
  if (layout.tokens <= plan.workload.sequence)
    throw sim::InputError(options.data,
                          {{"", fmt::format("has {} tokens, a sample takes {} and one more", layout.tokens, plan.workload.sequence),
                            "give it more text, or plan a shorter sequence"}});
  constexpr std::int64_t kShort = 1 << 16;
  if (layout.width == sim::Bytes(2) && plan.model.vocabulary > kShort && token_type(options) == sim::TokenType::Unstated)
    throw sim::InputError(options.data,
                          {{"", fmt::format("does not say what it holds, and 16 bits cannot name {} tokens", plan.model.vocabulary),
                            "say what it is: --token-type uint32, or uint16 where the rest of the vocabulary does not come"}});
}

constexpr std::int64_t kNever = 1'000'000'000;  // seconds

bool all_heartbeats_are_there(const std::string& folder, std::int32_t ranks) {
  for (std::int32_t rank = 0; rank < ranks; ++rank)
    if (!std::filesystem::exists(fmt::format("{}/heartbeat.{}", folder, rank))) return false;
  return true;
}

LaunchRequest launch_request(const RunOptions& options, const sim::ParallelPlan& plan) {
  LaunchRequest request{
      .ranks = plan.mesh.ranks(),
      .arguments = {"run", "--plan", options.dry_run ? options.plan : options.output + "/plan.json", "--data", options.data, "--steps",
                    std::to_string(options.steps), "--out", options.output},
      .error_file = options.output + "/mpirun.txt",
      .on_gpus = options.device.starts_with("cuda") || (options.device == "auto" && plan.cluster.hardware.kind == sim::DeviceKind::Gpu),
      .heeds_signals = [folder = options.output, ranks = plan.mesh.ranks()] { return all_heartbeats_are_there(folder, ranks); }};
  if (!options.dry_run) request.arguments.emplace_back("--folder-is-locked");
  if (options.resume) request.arguments.push_back("--resume");
  if (options.device != "auto") request.arguments.insert(request.arguments.end(), {"--device", options.device});
  if (options.token_type != "auto") request.arguments.insert(request.arguments.end(), {"--token-type", options.token_type});
  if (options.cuda_graphs) request.arguments.emplace_back("--cuda-graphs");
  if (options.deterministic) request.arguments.emplace_back("--deterministic");
  if (options.hang_limit)  // ranks end themselves later than the launcher finds them: it says more
    request.arguments.insert(request.arguments.end(),
                             {"--hang-limit", std::to_string(*options.hang_limit > 0 ? *options.hang_limit + 15 : kNever)});
  if (!options.weights.empty()) request.arguments.insert(request.arguments.end(), {"--weights", options.weights});
  return request;
}

// The whole lines that a file got since the last look; what stood in it before is not new.
class NewLines {
 public:
  explicit NewLines(std::string path) : path_(std::move(path)) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path_, error);
    if (!error) read_ = static_cast<std::streamoff>(size);
  }
  std::vector<std::string> look() {
    std::vector<std::string> lines;
    std::ifstream file(path_);
    file.seekg(read_);
    for (std::string line; std::getline(file, line) && !file.eof(); read_ = file.tellg()) lines.push_back(line);
    return lines;
  }

 private:
  std::string path_;
  std::streamoff read_ = 0;
};

// Told while the ranks train: the newest step, and what rank 0 notes for the person who started it.
class Follower {
 public:
  Follower(const RunOptions& options, const Console& console)
      : metrics_(options.output + "/metrics.ndjson"),
        notes_(options.output + "/stderr.0.txt"),
        steps_(options.steps),
        progress_("run: step"),
        console_(console) {}
  void look() {
    for (const std::string& line : metrics_.look())
      if (const std::optional<StepMetrics> step = parse_metrics(line)) last_ = *step;
    const std::string details =
        last_ ? fmt::format("loss {:.4f}, {:.0f} tokens/s", last_->loss, last_->tokens_per_second) : std::string("starting");
    progress_.update({.done = last_ ? last_->step : 0, .all = steps_, .details = details});
    for (const std::string& line : notes_.look())
      if (line.starts_with("note: ")) console_.say(line);
  }

 private:
  NewLines metrics_, notes_;
  std::int64_t steps_;
  Progress progress_;
  const Console& console_;
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

// Whatever the ranks ended with: they were told to.
int stopped(const RunOptions& options, int status, const Console& console) {
  const std::int64_t saved = restart_point(options.output).from;
  if (saved == 0)
    console.say("interrupted before the first checkpoint: nothing is saved; start again without --resume");
  else if (status == kInterrupted || status == kSuccess)
    console.say("interrupted: a checkpoint was written; continue with --resume");
  else
    console.say(fmt::format("interrupted: the checkpoint of step {} is the newest; continue with --resume", saved));
  return kInterrupted;
}

int ended(const RunOptions& options, const sim::ParallelPlan& plan, int status, const Console& console) {
  if (status != kSuccess && !interrupted())
    return failed({.folder = options.output, .ranks = plan.mesh.ranks(), .status = status}, console);
  const int code = interrupted() ? stopped(options, status, console) : kSuccess;
  const std::vector<StepMetrics> metrics = read_metrics(options.output);
  std::string text = plan_summary(plan) + "\n";
  if (!metrics.empty())
    text += fmt::format("step {} of {}: loss {:.4f} (step {}: {:.4f}), {:.0f} tokens/s\n", metrics.back().step,
                        std::max(options.steps, metrics.back().step), metrics.back().loss, metrics.front().step, metrics.front().loss,
                        median_tokens_per_second(metrics));
  console.result(text + "Run folder: " + options.output, [&] { return run_document(options, metrics); });
  return code;
}

sim::ParallelPlan load_runnable(const std::string& path) {
  sim::ParallelPlan plan = sim::load_plan(path);
  const std::vector<sim::Violation> refused = sim::why_not_runnable(plan);
  if (!refused.empty()) throw sim::InputError(path, refused);
  return plan;
}

// With what was asked to be another from here on. A plan that breaks a rule by it is named.
sim::ParallelPlan load_changed(const RunOptions& options) {
  sim::ParallelPlan plan = load_runnable(options.plan);
  for (const std::string& change : options.changes) sim::apply_change(plan, change);
  const std::vector<sim::Violation> broken = sim::violations(plan);
  if (!options.changes.empty() && !broken.empty()) throw sim::InputError("--change", broken);
  return plan;
}

// Said before anything starts, not when a rank has failed.
void check_fallback(const RunOptions& options, const sim::ParallelPlan& plan) {
  if (options.fallback.empty()) return;
  std::vector<sim::Violation> violations;
  for (const std::string& difference : sim::differences(plan, load_runnable(options.fallback)).training)
    violations.push_back({difference.substr(0, difference.find(':')), difference.substr(difference.find(':') + 2),
                          "make a fallback of the same training, with fewer devices"});
  if (!violations.empty()) throw sim::InputError(options.fallback, violations);
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

// Of an earlier launch: a rank that has none yet does not heed signals, and does not hang.
void forget_heartbeats(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("heartbeat.")) std::filesystem::remove(entry.path());
}

int launch_once(const RunOptions& options, const sim::ParallelPlan& plan, const Console& console) {
  if (interrupted()) return kInterrupted;
  forget_heartbeats(options.output);
  Follower follower(options, console);
  Watchdog watchdog({.folder = options.output, .plan = plan, .limit = options.hang_limit});
  bool hangs = false;
  const int status = launch(launch_request(options, plan), [&] {
    follower.look();
    if (hangs) return false;  // told once
    const Watchdog::Finding finding = watchdog.look();
    for (const std::string& word : finding.words) console.say(word);
    hangs = hangs || finding.hangs;
    return !hangs;
  });
  return hangs ? kRankFailed : status;  // mpirun was told to end, and ends well
}

// Until it ends, or has failed once more than it may. `plan` becomes the fallback, if there is one, at the first restart.
int launch_with_restarts(RunOptions options, sim::ParallelPlan& plan, const Console& console) {
  int status = launch_once(options, plan, console);
  for (std::int64_t restart = 1; restart <= options.max_restarts && may_restart(status) && !interrupted(); ++restart) {
    const RestartPoint point = restart_point(options.output);
    if (const Cause cause = cause_of(sim::load_text_file(options.output + "/mpirun.txt")); cause.rank.exists()) console.say(cause.text);
    console.say(restart_text(point, {.number = restart, .of = options.max_restarts}));
    options.resume = true;
    if (!options.fallback.empty()) {
      plan = load_runnable(options.fallback);
      say_layout(prepare_run_folder(options, plan), console);
    }
    options.resume = point.from > 0;
    status = launch_once(options, plan, console);
  }
  return status;
}

}  // namespace

int run(const RunOptions& options, const Console& console) {
  interrupted();  // from here on it is a flag
  sim::ParallelPlan plan = load_changed(options);
  check_fallback(options, plan);
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
