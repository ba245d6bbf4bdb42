#include "sim/calibration/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/calibration/measured_work.h"
#include "sim/cost/cost_model.h"
#include "sim/timeline/statistics.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

using Ratios = std::map<std::string, std::vector<double>>;  // by kind: measured / priced

[[noreturn]] void refuse(const CalibrationRun& run, std::string problem) {
  throw InputError(run.files.empty() ? std::string("traces") : run.files.front(),
                   {{"", std::move(problem), "calibrate with the folder of a run as it was written"}});
}

// What every task of the run's plan costs on `hardware`.
std::map<TaskKey, SimTime> priced_tasks(const CalibrationRun& run, const HardwareProfile& hardware) {
  ParallelPlan plan = run.plan;
  plan.cluster.hardware = hardware;
  const ModelGraph model = make_model_graph(plan);
  const TaskGraph graph = lower(model, plan);
  const CostModel costs(model, plan);
  std::map<TaskKey, SimTime> priced;
  for (const Task& task : graph.tasks()) priced.emplace(task.key, costs.cost(task, graph).duration);
  return priced;
}

void check_kind(const CalibrationRun& run, const HardwareProfile& base) {
  const DeviceKind ran_on = run.plan.cluster.hardware.kind;
  if (ran_on != base.kind)
    refuse(run, fmt::format("the run's plan is for a {} ({}), the profile describes a {} ({})", sim::at(kDeviceKindNames, ran_on),
                            run.plan.cluster.hardware.name, sim::at(kDeviceKindNames, base.kind), base.name));
}

void check_ranks(const CalibrationRun& run) {
  if (run.traces.empty()) refuse(run, "there are no traces");
  for (const RankTrace& trace : run.traces)
    if (!trace.rank.exists() || trace.rank.value() >= run.plan.mesh.ranks())
      refuse(run, fmt::format("rank {} is not of a plan of {} ranks", trace.rank.value(), run.plan.mesh.ranks()));
}

void add_ratios(const CalibrationRun& run, const HardwareProfile& hardware, Ratios& ratios) {
  check_kind(run, hardware);
  check_ranks(run);
  const std::map<TaskKey, SimTime> priced = priced_tasks(run, hardware);
  const auto price_of = [&](const TaskKey& key) {
    const auto price = priced.find(key);
    if (price == priced.end()) refuse(run, to_text(key) + " is no task of the run's plan");
    return price->second;
  };
  for (const MeasuredWork& work : measured_work(run.plan, run.traces)) {
    const SimTime price = price_of(work.key) + (work.with ? price_of(*work.with) : SimTime(0));
    if (price > SimTime(0)) ratios[kind_text(work.key)].push_back(to_seconds(work.duration) / to_seconds(price));
  }
}

// Kinds that these runs did not have keep what they had.
std::vector<Correction> merged(std::vector<Correction> corrections, const Ratios& ratios) {
  for (const auto& [kind, samples] : ratios) {
    const double factor = median(samples);
    if (factor <= 0) continue;  // too short for the clock
    std::erase_if(corrections, [&name = kind](const Correction& old) { return old.kind == name; });
    corrections.push_back({.kind = kind, .factor = factor, .samples = static_cast<std::int64_t>(samples.size())});
  }
  std::sort(corrections.begin(), corrections.end(), [](const Correction& a, const Correction& b) { return a.kind < b.kind; });
  return corrections;
}

}  // namespace

// Priced without the corrections of `base`: a factor replaces its predecessor, so the same traces give the same profile again.
HardwareProfile calibrate(const HardwareProfile& base, const std::vector<CalibrationRun>& runs) {
  HardwareProfile uncorrected = base;
  uncorrected.corrections.clear();
  Ratios ratios;
  for (const CalibrationRun& run : runs) add_ratios(run, uncorrected, ratios);
  HardwareProfile calibrated = base;
  calibrated.corrections = merged(base.corrections, ratios);
  for (const CalibrationRun& run : runs)
    for (const std::string& file : run.files)
      if (std::find(calibrated.traces.begin(), calibrated.traces.end(), file) == calibrated.traces.end()) calibrated.traces.push_back(file);
  return calibrated;
}

}  // namespace sim
