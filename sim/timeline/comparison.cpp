#include "sim/timeline/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "sim/timeline/activity.h"
#include "sim/timeline/ledger.h"
#include "sim/timeline/rows.h"
#include "sim/timeline/statistics.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

SimTime end_of(const Timeline& timeline) {
  SimTime end{};
  for (const Span& span : timeline.spans) end = std::max(end, span.end);
  return end;
}

Seconds median_seconds(const std::vector<double>& samples) { return Seconds(median(samples)); }

// Adds up what ranks did in one step; simulated and measured steps go through the same sums.
class StepSums {
 public:
  void add(StageIndex stage, SimTime duration, const StepActivity& activity) {
    for (const auto& [kind, time] : activity.kinds) kinds_[kind].add(time);
    stages_[stage].add(activity.computing);
    all_ += duration;
    longest_ = std::max(longest_, duration);
    busy_ += activity.busy;
    communicating_ += activity.communicating;
    hidden_ += activity.hidden;
  }

  Seconds step() const { return to_seconds(longest_); }
  double bubble() const { return all_ > SimTime(0) ? 1.0 - to_seconds(busy_) / to_seconds(all_) : 0.0; }
  double overlap() const { return communicating_ > SimTime(0) ? to_seconds(hidden_) / to_seconds(communicating_) : 0.0; }
  double kind(const std::string& name) const { return mean(kinds_, name); }
  double stage(StageIndex stage) const { return mean(stages_, stage); }
  std::set<std::string> kind_names() const {
    std::set<std::string> names;
    for (const auto& [name, sum] : kinds_) names.insert(name);
    return names;
  }

 private:
  struct Sum {  // over the ranks that have it
    SimTime time{};
    std::int64_t ranks = 0;
    void add(SimTime more) { time += more, ++ranks; }
  };
  template <class Map, class Key>
  static double mean(const Map& sums, const Key& key) {
    const auto found = sums.find(key);
    return found == sums.end() ? 0.0 : to_seconds(found->second.time).count() / static_cast<double>(found->second.ranks);
  }

  std::map<std::string, Sum> kinds_;
  std::map<StageIndex, Sum> stages_;
  SimTime all_{}, longest_{}, busy_{}, communicating_{}, hidden_{};
};

class Comparer {
 public:
  Comparer(const TaskGraph& graph, const ParallelPlan& plan, const Timeline& simulated, const std::vector<RankTrace>& measured,
           WarmUp warm_up)
      : graph_(graph), plan_(plan), timeline_(simulated), measured_(measured), skip_(count_of(std::max<std::int64_t>(warm_up.steps, 0))) {
    check_traces();
    for (const DeviceRow& row : device_rows(simulated)) rows_.push_back(row.spans);
    step_time_ = end_of(simulated);
  }
  Comparison compare();

 private:
  void check_traces() const;
  std::span<const Span> simulated_row(Rank rank) const;
  void add_up();
  void compare_keys();
  void compare_memory();
  void compare_experts();
  ErrorRow row(std::string name, double simulated, const std::vector<double>& measured, std::int64_t samples) const;
  std::vector<ErrorRow> kind_rows() const;
  std::vector<ErrorRow> stage_rows() const;
  template <class Value>
  std::vector<double> each_step(Value value) const {
    std::vector<double> samples;
    for (const StepSums& step : steps_) samples.push_back(value(step));
    return samples;
  }

  const TaskGraph& graph_;
  const ParallelPlan& plan_;
  const Timeline& timeline_;
  const std::vector<RankTrace>& measured_;
  std::size_t skip_;
  SimTime step_time_{};
  std::vector<std::span<const Span>> rows_;  // by device
  StepSums simulated_;
  std::vector<StepSums> steps_;  // measured, without the warm-up
  std::map<std::string, std::int64_t> kind_samples_;
  Comparison result_;
};

void Comparer::check_traces() const {
  const auto refuse = [](std::string where, std::string problem) {
    throw InputError("traces",
                     {{std::move(where), std::move(problem), "compare all ranks of a run of this plan, of more steps than the warm-up"}});
  };
  if (measured_.empty()) refuse("", "there are none");
  for (const RankTrace& trace : measured_) {
    const std::string where = fmt::format("rank {}", trace.rank.value());
    if (!trace.rank.exists() || trace.rank.value() >= plan_.mesh.ranks())
      refuse(where, fmt::format("is not of a plan of {}", counted(plan_.mesh.ranks(), "rank")));
    if (trace.steps.size() <= skip_)
      refuse(where, fmt::format("has {}, {} of them warm-up", counted(std::ssize(trace.steps), "step"), skip_));
    if (trace.steps.size() != measured_.front().steps.size())
      refuse(where, fmt::format("has {}, rank {} has {}", counted(std::ssize(trace.steps), "step"), measured_.front().rank.value(),
                                measured_.front().steps.size()));
  }
}

// A folded device stands for every rank of its stage.
std::span<const Span> Comparer::simulated_row(Rank rank) const {
  const StageIndex stage = plan_.mesh.coordinate(rank).stage;
  std::span<const Span> of_stage;
  for (std::size_t device = 0; device < timeline_.devices.size(); ++device) {
    if (timeline_.devices[device].representative == rank) return rows_[device];
    if (timeline_.devices[device].stage == stage && of_stage.empty()) of_stage = rows_[device];
  }
  return of_stage;
}

void Comparer::add_up() {
  steps_.resize(measured_.front().steps.size() - skip_);
  for (const RankTrace& trace : measured_) {
    const StageIndex stage = plan_.mesh.coordinate(trace.rank).stage;
    simulated_.add(stage, step_time_, activity_of(simulated_row(trace.rank)));
    for (std::size_t at = 0; at < steps_.size(); ++at) {
      const MeasuredStep& step = trace.steps[at + skip_];
      steps_[at].add(stage, step.duration, activity_of(step.spans));
      for (const Span& span : step.spans) ++kind_samples_[kind_text(span.key)];
    }
  }
}

void Comparer::compare_keys() {
  for (const RankTrace& trace : measured_) {
    std::multiset<TaskKey> expected;
    for (const Span& span : simulated_row(trace.rank)) expected.insert(span.key);
    std::set<std::string> missing, extra;  // of any step, once
    for (std::size_t at = skip_; at < trace.steps.size(); ++at) {
      std::multiset<TaskKey> left = expected;
      for (const Span& span : trace.steps[at].spans) {
        const auto found = left.find(span.key);
        if (found == left.end())
          extra.insert(to_text(span.key));
        else
          left.erase(found);
      }
      for (const TaskKey& key : left) missing.insert(to_text(key));
    }
    const auto told = [&](const std::string& key) { return fmt::format("rank {}: {}", trace.rank.value(), key); };
    std::transform(missing.begin(), missing.end(), std::back_inserter(result_.only_simulated), told);
    std::transform(extra.begin(), extra.end(), std::back_inserter(result_.only_measured), told);
  }
}

void Comparer::compare_memory() {
  for (const MemorySample& sample : timeline_.memory)
    if (total(sample.alive) > result_.memory_simulated) {
      result_.memory_simulated = total(sample.alive);
      result_.memory_composition = sample.alive;
    }
  for (const RankTrace& trace : measured_)
    for (std::size_t at = skip_; at < trace.steps.size(); ++at)
      result_.memory_measured = std::max(result_.memory_measured, trace.steps[at].peak_memory);
}

void Comparer::compare_experts() {
  ExpertRows all;
  for (const RankTrace& trace : measured_)
    for (std::size_t at = skip_; at < trace.steps.size(); ++at) all += trace.steps[at].expert_rows;
  result_.expert_spread = spread_of(all);
}

ErrorRow Comparer::row(std::string name, double simulated, const std::vector<double>& measured, std::int64_t samples) const {
  return {.name = std::move(name), .samples = samples, .simulated = Seconds(simulated), .measured = median_seconds(measured)};
}

std::vector<ErrorRow> Comparer::kind_rows() const {
  std::set<std::string> names = simulated_.kind_names();
  for (const auto& [kind, samples] : kind_samples_) names.insert(kind);
  std::vector<ErrorRow> rows;
  for (const std::string& name : names) {
    const auto samples = kind_samples_.find(name);
    rows.push_back(row(name, simulated_.kind(name), each_step([&](const StepSums& step) { return step.kind(name); }),
                       samples == kind_samples_.end() ? 0 : samples->second));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const ErrorRow& a, const ErrorRow& b) { return a.measured > b.measured; });
  return rows;
}

std::vector<ErrorRow> Comparer::stage_rows() const {
  std::vector<ErrorRow> rows;
  for (StageIndex stage(0); stage.value() < plan_.mesh.pipeline; ++stage)
    rows.push_back(row(fmt::format("stage {}", stage.value()), simulated_.stage(stage),
                       each_step([&](const StepSums& step) { return step.stage(stage); }), static_cast<std::int64_t>(steps_.size())));
  return rows;
}

Comparison Comparer::compare() {
  add_up();
  compare_keys();
  compare_memory();
  compare_experts();
  const std::vector<double> times = each_step([](const StepSums& step) { return step.step().count(); });
  result_.step = row("step", to_seconds(step_time_).count(), times, static_cast<std::int64_t>(times.size()));
  result_.kinds = kind_rows();
  result_.stages = stage_rows();
  result_.bubble_simulated = simulated_.bubble();
  result_.bubble_measured = median(each_step([](const StepSums& step) { return step.bubble(); }));
  result_.overlap_simulated = simulated_.overlap();
  result_.overlap_measured = median(each_step([](const StepSums& step) { return step.overlap(); }));
  result_.noise = median(times) > 0 ? (quantile(times, {0.75}) - quantile(times, {0.25})) / median(times) : 0.0;
  const auto difference = why_ledgers_differ(graph_, plan_, measured_);
  result_.ledger_equal = !difference;
  result_.ledger_difference = difference.value_or("");
  return std::move(result_);
}

}  // namespace

double ErrorRow::error() const { return measured > Seconds(0) ? (simulated - measured) / measured : 0.0; }

Comparison compare(const TaskGraph& graph, const ParallelPlan& plan, const Timeline& simulated, const std::vector<RankTrace>& measured,
                   WarmUp warm_up) {
  return Comparer(graph, plan, simulated, measured, warm_up).compare();
}

}  // namespace sim
