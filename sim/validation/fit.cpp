#include "sim/validation/fit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "sim/calibration/fitted_constants.h"
#include "sim/calibration/step_plane.h"
#include "sim/validation/simulated_row.h"

namespace sim {
namespace {

constexpr double kPrice = 0.001;                                            // of moving a constant through its whole range
constexpr double kSteps[] = {0.25, 0.12, 0.06, 0.03, 0.015, 0.007, 0.003};  // of that range
constexpr std::size_t kNearSteps = 2;                                       // the first of them to take once the steps are known near by
constexpr int kRounds = 4;                                                  // of all constants, a step size
constexpr int kTurns = 4;                                                   // of simulating where the constants are, and moving them
constexpr double kTouching = 1e-3;  // a plane whose first order differs by less than this share of the time is as good as a simulation
constexpr double kStackInterval = 0.09, kPartInterval = 0.04;  // together: of the rows, each source left out of its fit, 87 % are inside
constexpr std::string_view kPooled = "plain";                  // the stack that holds what all have in common

// What is known of a run's step; `step` is shared by all fits.
struct KnownStep {
  const MeasuredRun* run;
  const PlannedStep* step;
  std::vector<StepPlane> planes;
};

using Rows = std::vector<std::size_t>;

// Positions in the list of values that move together, and the rows that it changes.
struct Knob {
  std::vector<std::size_t> at;
  double low, high;
  bool divides;
  double home;
  const Rows* rows;
};

class Fit {
 public:
  Fit(std::vector<KnownStep>& known, FittedProfiles profiles);
  FittedProfiles run();

 private:
  struct Row {
    KnownStep* known;
    double weight;
    std::size_t stack, part;  // where their values begin
  };
  ConstantPoint point(const Row& row) const;
  double error_of(const Row& row) const;
  double weighted(const Rows& rows) const;
  void set(const Knob& knob, double value);
  void improve(std::span<Knob> knobs, double step);
  void descend(std::vector<std::vector<Knob>>& groups, std::size_t first_step);
  void simulate();
  void add_rows();
  template <typename Profile>
  void add_values(const std::string& name, const Profile& profile, std::span<const FittedConstant<Profile>> constants);
  template <typename Profile>
  Knob knob(const FittedConstant<Profile>& constant, std::vector<std::size_t> at, const Rows& rows) const;
  std::vector<std::vector<Knob>> pooled_knobs() const;
  std::vector<std::vector<Knob>> own_knobs() const;
  double left_home(const std::vector<std::vector<Knob>>& groups) const;
  void move_profiles();
  void pool();
  void fit_each();
  void name_parts();
  void inherit();
  const SoftwareStack* nearest_fitted(const SoftwareStack& stack) const;

  FittedProfiles profiles_;
  std::vector<KnownStep>& known_;
  std::vector<Row> rows_;
  std::vector<double> values_, coordinates_;
  std::map<std::string, std::size_t> stacks_at_, parts_at_;
  std::map<std::string, Rows> rows_of_;  // of a stack or part
  Rows all_;
};

Fit::Fit(std::vector<KnownStep>& known, FittedProfiles profiles) : profiles_(std::move(profiles)), known_(known) {
  const SoftwareStack home = profiles_.stacks.at(std::string(kPooled));
  for (auto& [name, stack] : profiles_.stacks) {
    stack.fitted_parts.clear();
    for (const auto& constant : stack_constants())
      if (!constant.own && constant.fitted) constant.set(stack, constant.get(home));
    stacks_at_[name] = values_.size();
    add_values(name, stack, stack_constants());
  }
  for (const auto& [name, part] : profiles_.parts) {
    parts_at_[name] = values_.size();
    add_values(name, part.kernels, part_constants());
  }
  add_rows();
}

template <typename Profile>
void Fit::add_values(const std::string& name, const Profile& profile, std::span<const FittedConstant<Profile>> constants) {
  rows_of_[name];
  for (const FittedConstant<Profile>& constant : constants) {
    values_.push_back(constant.get(profile));
    coordinates_.push_back(coordinate_of(constant.divides, values_.back()));
  }
}

void Fit::add_rows() {
  std::map<std::string, double> counts;
  for (const KnownStep& known : known_) ++counts[known.run->target.source];
  for (KnownStep& known : known_) {
    const std::string& source = known.run->target.source;
    const std::string &stack = known.run->stack(), &part = known.run->row.part;
    all_.push_back(rows_.size());
    for (const std::string& name : {stack, part}) rows_of_[name].push_back(rows_.size());
    for (const std::string& name : {stack, part, std::string(kPooled)}) profiles_.sources[name].insert(source);
    rows_.push_back({&known, 1 / (counts[source] * static_cast<double>(counts.size())), stacks_at_.at(stack), parts_at_.at(part)});
  }
}

ConstantPoint Fit::point(const Row& row) const {
  ConstantPoint point{};
  std::copy_n(coordinates_.begin() + static_cast<std::ptrdiff_t>(row.stack), kStackConstants, point.begin());
  std::copy_n(coordinates_.begin() + static_cast<std::ptrdiff_t>(row.part), kPartConstants, point.begin() + kStackConstants);
  return point;
}

double Fit::error_of(const Row& row) const {
  const ConstantPoint here = point(row);
  double time = 1e-9;
  for (const StepPlane& plane : row.known->planes) time = std::max(time, plane.height(here));
  return std::abs(std::log(time / *row.known->run->target.time));
}

double Fit::weighted(const Rows& rows) const {
  return std::accumulate(rows.begin(), rows.end(), 0.0,
                         [&](double sum, std::size_t at) { return sum + rows_[at].weight * error_of(rows_[at]); });
}

void Fit::set(const Knob& knob, double value) {
  for (const std::size_t at : knob.at) {
    values_[at] = value;
    coordinates_[at] = coordinate_of(knob.divides, value);
  }
}

// One step up or down for each constant; kept where rows get better by more than it costs.
void Fit::improve(std::span<Knob> knobs, double step) {
  if (knobs.empty() || knobs.front().rows->empty()) return;
  double best = weighted(*knobs.front().rows);
  for (const Knob& knob : knobs) {
    const double range = knob.high - knob.low;
    for (const double sign : {1.0, -1.0}) {
      const double before = values_[knob.at.front()], after = std::clamp(before + sign * step * range, knob.low, knob.high);
      set(knob, after);
      const double price = kPrice * (std::abs(after - knob.home) - std::abs(before - knob.home)) / range, error = weighted(*knob.rows);
      if (error + price < best - 1e-12) {
        best = error;
        break;
      }
      set(knob, before);
    }
  }
}

void Fit::descend(std::vector<std::vector<Knob>>& groups, std::size_t first_step) {
  for (std::size_t step = first_step; step < std::size(kSteps); ++step)
    for (int round = 0; round < kRounds; ++round)
      for (std::vector<Knob>& knobs : groups) improve(knobs, kSteps[step]);
}

// Where no plane touches yet.
void Fit::simulate() {
  move_profiles();
  tbb::parallel_for(std::size_t{0}, rows_.size(), [&](std::size_t at) {
    KnownStep& known = *rows_[at].known;
    const ConstantPoint here = point(rows_[at]);
    const auto touches = [&](const StepPlane& plane) {
      double moved = 0;
      for (std::size_t i = 0; i < here.size(); ++i) moved += std::abs(plane.slope[i] * (here[i] - plane.at[i]));
      return moved <= kTouching * plane.time;
    };
    if (std::any_of(known.planes.begin(), known.planes.end(), touches)) return;
    known.planes.push_back(known.step->touch(profiles_.stacks.at(known.run->stack()), profiles_.parts.at(known.run->row.part).kernels));
  });
}

void Fit::move_profiles() {
  for (auto& [name, stack] : profiles_.stacks)
    for (std::size_t at = 0; at < kStackConstants; ++at) stack_constants()[at].set(stack, values_[stacks_at_.at(name) + at]);
  for (auto& [name, part] : profiles_.parts)
    for (std::size_t at = 0; at < kPartConstants; ++at) part_constants()[at].set(part.kernels, values_[parts_at_.at(name) + at]);
}

template <typename Profile>
Knob Fit::knob(const FittedConstant<Profile>& constant, std::vector<std::size_t> at, const Rows& rows) const {
  const double home = values_[at.front()];
  return {std::move(at), constant.low, constant.high, constant.divides, home, &rows};
}

std::vector<std::vector<Knob>> Fit::pooled_knobs() const {
  std::vector<std::vector<Knob>> groups(1);
  for (std::size_t constant = 0; constant < kStackConstants; ++constant) {
    if (stack_constants()[constant].own || !stack_constants()[constant].fitted) continue;
    std::vector<std::size_t> at{stacks_at_.at(std::string(kPooled)) + constant};
    for (const auto& [name, begin] : stacks_at_)
      if (name != kPooled) at.push_back(begin + constant);
    groups.front().push_back(knob(stack_constants()[constant], std::move(at), all_));
  }
  return groups;
}

std::vector<std::vector<Knob>> Fit::own_knobs() const {
  std::vector<std::vector<Knob>> groups;
  const auto add = [&](const auto& constants, std::size_t begin, const Rows& rows) {
    groups.emplace_back();
    for (std::size_t at = 0; at < constants.size(); ++at)
      if (constants[at].fitted) groups.back().push_back(knob(constants[at], {begin + at}, rows));
  };
  for (const auto& [name, begin] : stacks_at_)
    if (name != kPooled) add(stack_constants(), begin, rows_of_.at(name));
  for (const auto& [name, begin] : parts_at_) add(part_constants(), begin, rows_of_.at(name));
  return groups;
}

double Fit::left_home(const std::vector<std::vector<Knob>>& groups) const {
  double price = 0;
  for (const std::vector<Knob>& knobs : groups)
    for (const Knob& knob : knobs) price += kPrice * std::abs(values_[knob.at.front()] - knob.home) / (knob.high - knob.low);
  return price;
}

// What all stacks have in common.
void Fit::pool() {
  auto groups = pooled_knobs();
  for (int turn = 0; turn < kTurns / 2; ++turn) {
    simulate();
    descend(groups, turn == 0 ? 0 : kNearSteps);
  }
}

// Each stack and part by itself. The best of what was simulated is kept: between simulations the planes promise too much.
void Fit::fit_each() {
  auto groups = own_knobs();
  std::vector<double> best, best_coordinates;
  double least = 1e300;
  for (int turn = 0; turn <= kTurns; ++turn) {
    simulate();
    profiles_.error = weighted(all_);
    if (const double error = profiles_.error + left_home(groups); error < least) {
      least = error;
      best = values_;
      best_coordinates = coordinates_;
    }
    if (turn < kTurns) descend(groups, turn == 0 ? 0 : kNearSteps);
  }
  values_ = std::move(best);
  coordinates_ = std::move(best_coordinates);
}

void Fit::name_parts() {
  std::map<std::string, std::set<std::string>> parts;
  for (const KnownStep& one : known_) parts[one.run->stack()].insert(one.run->row.part);
  for (const auto& [stack, names] : parts)
    if (stack != kPooled) profiles_.stacks.at(stack).fitted_parts = fmt::format("{}", fmt::join(names, " "));
}

// Stacks without rows take the constants of the same program in the nearest year that has some.
void Fit::inherit() {
  std::map<std::string, const SoftwareStack*> heirs;
  for (const auto& [name, stack] : profiles_.stacks)
    if (const SoftwareStack* nearest = profiles_.sources.contains(name) ? nullptr : nearest_fitted(stack)) heirs[name] = nearest;
  for (const auto& [name, nearest] : heirs) {
    for (const auto& constant : stack_constants())
      if (constant.fitted) constant.set(profiles_.stacks.at(name), constant.get(*nearest));
    profiles_.stacks.at(name).fitted_parts = nearest->fitted_parts;
    profiles_.sources[name] = profiles_.sources.at(nearest->name);
  }
}

const SoftwareStack* Fit::nearest_fitted(const SoftwareStack& stack) const {
  const SoftwareStack* nearest = nullptr;
  for (const auto& [name, other] : profiles_.stacks) {
    const bool same = std::find_first_of(stack.frameworks.begin(), stack.frameworks.end(), other.frameworks.begin(),
                                         other.frameworks.end()) != stack.frameworks.end();
    if (!same || !profiles_.sources.contains(name)) continue;
    if (!nearest || std::abs(other.from_year - stack.from_year) < std::abs(nearest->from_year - stack.from_year)) nearest = &other;
  }
  return nearest;
}

FittedProfiles Fit::run() {
  pool();
  fit_each();
  move_profiles();
  profiles_.error = weighted(all_);
  name_parts();
  inherit();
  for (const auto& [name, sources] : profiles_.sources) {
    if (name == kPooled) continue;  // of an unknown stack: as wide as its file says
    if (profiles_.stacks.contains(name))
      profiles_.stacks.at(name).interval = kStackInterval;
    else
      profiles_.parts.at(name).kernels.interval = kPartInterval;
  }
  return profiles_;
}

std::vector<std::unique_ptr<PlannedStep>> steps_of(const std::vector<MeasuredRun>& runs) {
  std::vector<std::unique_ptr<PlannedStep>> steps(runs.size());
  tbb::parallel_for(std::size_t{0}, runs.size(), [&](std::size_t at) { steps[at] = std::make_unique<PlannedStep>(runs[at].row.plan); });
  return steps;
}

std::vector<KnownStep> nothing_known(const std::vector<MeasuredRun>& runs, const std::vector<std::unique_ptr<PlannedStep>>& steps) {
  std::vector<KnownStep> known;
  for (std::size_t at = 0; at < runs.size(); ++at) known.push_back({&runs[at], steps[at].get(), {}});
  return known;
}

PredictedRow predicted(const KnownStep& known, const FittedProfiles& profiles) {
  const SoftwareStack& stack = profiles.stacks.at(known.run->stack());
  const KernelTraits& part = profiles.parts.at(known.run->row.part).kernels;
  PredictedRow row{.id = known.run->id, .error = {}, .estimate = {}, .assumed = {}, .speed = {}};
  const ParallelPlan plan = known.step->plan_with(stack, part);
  row.speed = whose_speed(plan.cluster);
  take_time(known.step->time(stack, part), prediction_interval(plan), plan, row.estimate);
  return row;
}

using VisitFit = std::function<void(const std::string& source, const FittedProfiles&)>;

void without_each(std::vector<KnownStep>& known, const FittedProfiles& start, const std::function<void(SourcesLeftOut)>& progress,
                  const VisitFit& visit) {
  std::set<std::string> sources;
  for (const KnownStep& one : known) sources.insert(one.run->target.source);
  if (sources.size() > 1) Fit(known, start).run();  // planes say what a step takes, not what was measured: all fits share them
  SourcesLeftOut left_out{.done = 0, .all = static_cast<std::int64_t>(sources.size())};
  for (const std::string& source : sources) {
    if (progress) progress(left_out);
    ++left_out.done;
    std::vector<KnownStep> others;
    std::copy_if(known.begin(), known.end(), std::back_inserter(others),
                 [&](const KnownStep& one) { return one.run->target.source != source; });
    visit(source, Fit(others, start).run());
  }
}

}  // namespace

FittedProfiles fit(const std::vector<MeasuredRun>& runs, FittedProfiles start) {
  const auto steps = steps_of(runs);
  std::vector<KnownStep> known = nothing_known(runs, steps);
  return Fit(known, std::move(start)).run();
}

ValidationRows leave_out_each(const MeasuredRuns& measured, const std::function<void(SourcesLeftOut)>& progress) {
  ValidationRows rows;
  const auto steps = steps_of(measured.runs);
  std::vector<KnownStep> known = nothing_known(measured.runs, steps);
  without_each(known, measured.profiles, progress, [&](const std::string& source, const FittedProfiles& profiles) {
    for (const KnownStep& one : known) {
      if (one.run->target.source != source) continue;
      rows.predictions.push_back(predicted(one, profiles));
      rows.targets.push_back(one.run->target);
    }
  });
  return rows;
}

void fit_without_each(const MeasuredRuns& measured, const std::function<void(const std::string& source, const FittedProfiles&)>& visit) {
  const auto steps = steps_of(measured.runs);
  std::vector<KnownStep> known = nothing_known(measured.runs, steps);
  without_each(known, measured.profiles, {}, visit);
}

}  // namespace sim
