#include "sim/validation/fit.h"

#include <algorithm>
#include <cmath>

#include "sim/validation/fitted_constants.h"

namespace sim {
namespace {

constexpr double kPrice = 0.001;                                                // of moving a constant through its whole range
constexpr double kSteps[] = {0.25, 0.12, 0.06, 0.25, 0.12, 0.06, 0.03, 0.015};  // of that range
constexpr int kRounds = 3;                                                      // of all constants, a step size
constexpr double kStackInterval = 0.09, kPartInterval = 0.04;  // together: of the rows, each source left out of its fit, 87 % are inside
constexpr std::string_view kPooled = "plain";                  // the stack that holds what all have in common

auto on_part(const std::string& name) {
  return [&name](const RunDescription& run) { return run.machine.part == name; };
}

auto under(const std::string& stack) {
  return [&stack](const RunDescription& run) { return run.stack == stack; };
}

class Fit {
 public:
  Fit(const std::vector<MeasuredRun>& runs, FittedProfiles profiles);
  FittedProfiles run();

 private:
  struct Row {
    const MeasuredRun* run;
    double weight, error;
  };
  double error_of(const MeasuredRun& run) const;
  template <typename Matches>
  double weighted(Matches matches);  // sum over those rows, computed again
  template <typename Profile, typename Matches>
  void improve(std::span<const FittedConstant<Profile>> constants, const std::vector<Profile*>& profiles, const Profile& home, double step,
               Matches matches);
  void pool();
  void inherit(SoftwareStack& stack) const;
  void fit_parts(double step);

  FittedProfiles profiles_;
  std::vector<Row> rows_;
  std::map<std::string, KernelTraits> homes_;
};

Fit::Fit(const std::vector<MeasuredRun>& runs, FittedProfiles profiles) : profiles_(std::move(profiles)) {
  std::map<std::string, double> counts;
  for (const MeasuredRun& run : runs) ++counts[run.target.source];
  for (const MeasuredRun& run : runs) {
    const std::string& source = run.target.source;
    rows_.push_back({&run, 1 / (counts[source] * static_cast<double>(counts.size())), 0});
    for (const std::string& name : {run.run.stack, run.run.machine.part, std::string(kPooled)}) profiles_.sources[name].insert(source);
  }
  for (const auto& [name, part] : profiles_.parts) homes_[name] = part.kernels;
}

double Fit::error_of(const MeasuredRun& run) const {
  const Setting setting{profiles_.parts.at(run.run.machine.part), profiles_.stacks.at(run.run.stack)};
  return std::abs(std::log(estimate_step(run.run, setting).time.count() / *run.target.time));
}

template <typename Matches>
double Fit::weighted(Matches matches) {
  double sum = 0;
  for (Row& row : rows_)
    if (matches(row.run->run)) sum += row.weight * (row.error = error_of(*row.run));
  return sum;
}

// One step up or down for each constant, in all of `profiles` together; kept where rows get better by more than it costs.
template <typename Profile, typename Matches>
void Fit::improve(std::span<const FittedConstant<Profile>> constants, const std::vector<Profile*>& profiles, const Profile& home,
                  double step, Matches matches) {
  double best = weighted(matches);
  for (const FittedConstant<Profile>& constant : constants) {
    if (constant.own && profiles.size() > 1) continue;
    const double range = constant.high - constant.low, center = constant.get(home);
    for (const double sign : {1.0, -1.0}) {
      const double before = constant.get(*profiles.front()), after = std::clamp(before + sign * step * range, constant.low, constant.high);
      for (Profile* profile : profiles) constant.set(*profile, after);
      const double price = kPrice * (std::abs(after - center) - std::abs(before - center)) / range, error = weighted(matches);
      if (error + price < best - 1e-12) {
        best = error;
        break;
      }
      for (Profile* profile : profiles) constant.set(*profile, before);
    }
  }
}

// What all stacks have in common.
void Fit::pool() {
  std::vector<SoftwareStack*> all;
  const SoftwareStack home = profiles_.stacks.at(std::string(kPooled));
  for (auto& [name, stack] : profiles_.stacks) {
    for (const auto& constant : stack_constants())
      if (!constant.own) constant.set(stack, constant.get(home));
    all.push_back(&stack);
  }
  for (const double step : kSteps)
    for (int round = 0; round < kRounds; ++round) improve(stack_constants(), all, home, step, [](const RunDescription&) { return true; });
}

// A stack without rows takes the constants of the same program in the nearest year that has some.
void Fit::inherit(SoftwareStack& stack) const {
  const SoftwareStack* nearest = nullptr;
  for (const auto& [name, other] : profiles_.stacks) {
    const bool same = std::find_first_of(stack.frameworks.begin(), stack.frameworks.end(), other.frameworks.begin(),
                                         other.frameworks.end()) != stack.frameworks.end();
    if (!same || !profiles_.sources.contains(name)) continue;
    if (!nearest || std::abs(other.from_year - stack.from_year) < std::abs(nearest->from_year - stack.from_year)) nearest = &other;
  }
  if (nearest)
    for (const auto& constant : stack_constants()) constant.set(stack, constant.get(*nearest));
}

void Fit::fit_parts(double step) {
  for (auto& [name, part] : profiles_.parts)
    if (profiles_.sources.contains(name)) improve(part_constants(), {&part.kernels}, homes_.at(name), step, on_part(name));
}

FittedProfiles Fit::run() {
  pool();
  const std::map<std::string, SoftwareStack> homes = profiles_.stacks;
  for (const double step : kSteps)
    for (int round = 0; round < kRounds; ++round) {
      for (auto& [name, stack] : profiles_.stacks)
        if (profiles_.sources.contains(name) && name != kPooled) improve(stack_constants(), {&stack}, homes.at(name), step, under(name));
      fit_parts(step);
    }
  for (auto& [name, stack] : profiles_.stacks)
    if (!profiles_.sources.contains(name)) inherit(stack);
  for (const auto& [name, sources] : profiles_.sources) {
    if (name == kPooled) continue;  // of an unknown stack: as wide as its file says
    if (profiles_.stacks.contains(name))
      profiles_.stacks.at(name).interval = kStackInterval;
    else
      profiles_.parts.at(name).kernels.interval = kPartInterval;
  }
  profiles_.error = weighted([](const RunDescription&) { return true; });
  return profiles_;
}

}  // namespace

FittedProfiles fit(const std::vector<MeasuredRun>& runs, FittedProfiles start) { return Fit(runs, std::move(start)).run(); }

ValidationRows leave_out_each(const MeasuredRuns& measured, const std::function<void(SourcesLeftOut)>& progress) {
  std::set<std::string> sources;
  for (const MeasuredRun& run : measured.runs) sources.insert(run.target.source);
  ValidationRows rows;
  SourcesLeftOut left_out{.done = 0, .all = static_cast<std::int64_t>(sources.size())};
  for (const std::string& source : sources) {
    if (progress) progress(left_out);
    ++left_out.done;
    std::vector<MeasuredRun> others;
    for (const MeasuredRun& run : measured.runs)
      if (run.target.source != source) others.push_back(run);
    const FittedProfiles profiles = fit(others, measured.profiles);
    for (const MeasuredRun& run : measured.runs) {
      if (run.target.source != source) continue;
      const Setting setting{profiles.parts.at(run.run.machine.part), profiles.stacks.at(run.run.stack)};
      rows.predictions.push_back({.id = run.id, .error = {}, .estimate = estimate_step(run.run, setting), .assumed = {}});
      rows.targets.push_back(run.target);
    }
  }
  return rows;
}

}  // namespace sim
