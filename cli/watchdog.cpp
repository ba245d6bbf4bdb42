#include "cli/watchdog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>

namespace cli {
namespace {

constexpr std::chrono::seconds kShortestLimit{60}, kOutsideOfSteps{600}, kWindow{10}, kForMpirun{10};
constexpr int kStepsOfLimit = 20;
constexpr double kStraggles = 1.5, kMostOfTheTime = 0.5;

constexpr const char* kDead = ", dead";
constexpr const char* kGone = ", gone";

std::string seconds_text(Watchdog::Clock::duration time) { return fmt::format("{:.0f} s", std::chrono::duration<double>(time).count()); }

// "stopped (T)", as the kernel says of a process of this machine; empty: it is not here, or has ended.
std::string state_of(std::int64_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    constexpr std::string_view kState = "State:\t";
    if (!line.starts_with(kState)) continue;
    if (line.find("(stopped)") != std::string::npos || line.find("(tracing stop)") != std::string::npos) return ", stopped";
    return line.find("(zombie)") != std::string::npos ? kDead : "";
  }
  return kGone;
}

bool lives(std::int64_t process) {
  const std::string state = state_of(process);
  return state != kDead && state != kGone;
}

// Asks a rank of this machine for its stack, which it writes into its own file.
void ask_for_stack(const sim::HeartbeatReading& reading) {
  std::error_code error;
  const std::string program = std::filesystem::read_symlink(fmt::format("/proc/{}/exe", reading.process), error).filename();
  if (!error && program == "meshwright-worker") ::kill(static_cast<pid_t>(reading.process), SIGUSR2);
}

}  // namespace

Watchdog::Watchdog(WatchedRun run, Clock::time_point start)
    : run_(std::move(run)), moved_(start), step_began_(start), window_began_(start) {}

std::vector<std::optional<sim::HeartbeatReading>> Watchdog::read() const {
  std::vector<std::optional<sim::HeartbeatReading>> ranks;
  for (sim::Rank rank{0}; rank.value() < run_.plan.mesh.ranks(); ++rank) ranks.push_back(sim::read_heartbeat(run_.folder, rank));
  return ranks;
}

void Watchdog::note_progress(Clock::time_point now) {
  std::int64_t written = 0, step = -1;
  for (const auto& reading : ranks_)
    if (reading) written += reading->written, step = std::max(step, reading->step);
  if (written != written_) moved_ = now;
  written_ = written;
  if (step == step_) return;
  if (step_ >= 0) longest_step_ = std::max(longest_step_, now - step_began_);
  step_ = step;
  step_began_ = now;
}

std::optional<Watchdog::Clock::duration> Watchdog::limit() const {
  if (run_.limit) return *run_.limit > 0 ? std::optional<Clock::duration>(std::chrono::seconds(*run_.limit)) : std::nullopt;
  const bool in_steps =
      longest_step_.count() > 0 && std::ranges::all_of(ranks_, [](const auto& rank) { return rank && !rank->phase.empty(); });
  return in_steps ? std::max<Clock::duration>(kShortestLimit, kStepsOfLimit * longest_step_) : Clock::duration(kOutsideOfSteps);
}

// Who waits for nobody holds up the others.
std::string Watchdog::hang_words(Clock::duration idle) const {
  std::vector<std::size_t> blamed;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
    if (!ranks_[rank] || !ranks_[rank]->waits) blamed.push_back(rank);
  const std::string who =
      blamed.empty() ? "the ranks wait for each other" : fmt::format("rank {} holds up the run", fmt::join(blamed, ", "));
  return fmt::format("the run hangs: no rank has begun anything for {} ({}){}", seconds_text(idle), who, state_of_ranks());
}

std::string Watchdog::state_of_ranks() const {
  std::string text;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    text += "\n" + sim::heartbeat_text(run_.folder, sim::Rank(static_cast<std::int32_t>(rank)));
    if (ranks_[rank]) text += state_of(ranks_[rank]->process);
  }
  return fmt::format("{}\n  stacks are in {}/stderr.<rank>.txt", text, run_.folder);
}

void Watchdog::note_lost(Clock::time_point now) {
  bool any_lives = false;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    if (!ranks_[rank]) continue;
    if (lives(ranks_[rank]->process))
      any_lives = true, seen_.insert(ranks_[rank]->process);
    else if (seen_.contains(ranks_[rank]->process))
      lost_.try_emplace(static_cast<std::int32_t>(rank), now);
  }
  if (!any_lives) lost_.clear();  // it ends
}

std::string Watchdog::lost_words() const {
  std::vector<std::int32_t> lost;
  for (const auto& [rank, _] : lost_) lost.push_back(rank);
  return fmt::format("rank {} is gone, and mpirun has not ended the others for {}{}", fmt::join(lost, ", "), seconds_text(kForMpirun),
                     state_of_ranks());
}

std::string Watchdog::straggler_words(sim::Rank rank, double times) const {
  return fmt::format("rank {} is a straggler: from step {} on it computes {:.1f} times as long as the ranks of its stage", rank.value(),
                     step_, times);
}

void Watchdog::judge_window(Clock::time_point now, std::vector<std::string>& words) {
  if (now - window_began_ < kWindow) return;
  const double window = static_cast<double>(std::chrono::duration_cast<std::chrono::nanoseconds>(now - window_began_).count());
  std::vector<std::int64_t> computing;
  for (const auto& reading : ranks_) computing.push_back(reading ? reading->computing_nanoseconds : 0);
  std::map<std::int32_t, std::vector<double>> of_stage;
  const auto share = [&](std::size_t rank) { return static_cast<double>(computing[rank] - computing_[rank]) / window; };
  const auto stage = [&](std::size_t rank) { return run_.plan.mesh.coordinate(sim::Rank(static_cast<std::int32_t>(rank))).stage.value(); };
  for (std::size_t rank = 0; rank < computing_.size(); ++rank) of_stage[stage(rank)].push_back(share(rank));
  for (auto& [_, shares] : of_stage) std::ranges::sort(shares);
  for (std::size_t rank = 0; rank < computing_.size(); ++rank) {
    const std::vector<double>& shares = of_stage[stage(rank)];
    const double median = shares[(shares.size() - 1) / 2], own = share(rank);
    const bool straggles = median > 0 && own > kMostOfTheTime && own > kStraggles * median;
    bool& before = straggles_[static_cast<std::int32_t>(rank)];
    if (straggles && !before) words.push_back(straggler_words(sim::Rank(static_cast<std::int32_t>(rank)), own / median));
    if (!straggles && before) words.push_back(fmt::format("rank {} keeps up again from step {} on", rank, step_));
    before = straggles;
  }
  computing_ = std::move(computing);
  window_began_ = now;
}

Watchdog::Finding Watchdog::look(Clock::time_point now) {
  ranks_ = read();
  note_progress(now);
  Finding finding;
  judge_window(now, finding.words);
  note_lost(now);
  const bool has_lost = std::ranges::any_of(lost_, [&](const auto& lost) { return now - lost.second > kForMpirun; });
  const std::optional<Clock::duration> most = limit();
  finding.hangs = has_lost || (most && now - moved_ > *most);
  if (!finding.hangs) return finding;
  finding.words.push_back(has_lost ? lost_words() : hang_words(now - moved_));
  for (const auto& reading : ranks_)
    if (reading) ask_for_stack(*reading);
  return finding;
}

}  // namespace cli
