#include "sim/calibration/learn.h"
#include "sim/allocator/reserved_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sim/calibration/step_view.h"
#include "sim/cost/memory_counter.h"
#include "sim/cost/plan_likeness.h"
#include "sim/cost/prediction_interval.h"
#include "sim/engine/simulate.h"
#include "sim/units/input_error.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

constexpr int kSimulations = 3;        // of each plan, where the last belief is
constexpr double kOpenMemory = 2.0;    // GiB: how much programs differ in what they hold beside tensors
constexpr double kMissedShare = 0.05;  // of memory that is simulated

[[noreturn]] void refuse(std::string problem, std::string remedy) {
  throw InputError("measured runs", {{"", std::move(problem), std::move(remedy)}});
}

void check(const std::vector<Evidence>& evidence) {
  const auto has_step = [](const Evidence& one) { return one.step.has_value(); };
  if (std::ranges::none_of(evidence, has_step)) refuse("state no step time", "give one, as plan.json=7.42s");
  const Cluster& first = evidence.front().plan.cluster;
  for (const Evidence& one : evidence) {
    const Cluster& cluster = one.plan.cluster;
    if (cluster.software.name != first.software.name || cluster.hardware.name != first.hardware.name)
      refuse(fmt::format("{} is of {} on {}, {} of {} on {}", evidence.front().name, first.software.name, first.hardware.name, one.name,
                         cluster.software.name, cluster.hardware.name),
             "calibrate each program and GPU model by itself");
    if (one.step && one.step->count() <= 0) refuse(one.name + " took no time", "give the time of a step");
    if (const Bytes whole = cluster.hardware.memory; one.memory && *one.memory > whole)
      refuse(fmt::format("{} took {}, and {} has {}", one.name, to_text(*one.memory), cluster.hardware.name, to_text(whole)),
             "give the peak of one device, in GiB");
  }
}

// Devices whose kernels are not described have no constants but the pace.
StepPlane flat_plane(const ParallelPlan& plan) {
  return {.time = to_seconds(simulate(make_model_graph(plan), plan, Detail::Summary).step_time).count(), .at = {}, .slope = {}};
}

class Plans {
 public:
  explicit Plans(const std::vector<Evidence>& evidence) {
    plans_.reserve(evidence.size());
    for (const Evidence& one : evidence)
      if (one.step) add(one);
  }

  Belief believe() {
    Belief belief = sim::believe(measured_);
    for (int turn = 1; turn < kSimulations; ++turn) {
      simulate_at(belief);
      belief = sim::believe(measured_);
    }
    return belief;
  }

  double interval(const Belief& belief) const {
    double widest = 0;
    for (const StepView& view : views_) widest = std::max(widest, believed_width(belief, view));
    return interval_factor(widest) - 1;
  }
  const std::vector<StepView>& views() const { return views_; }

 private:
  void add(const Evidence& one) {
    const Cluster& cluster = one.plan.cluster;
    is_described_ = cluster.hardware.kernels.has_value();
    plans_.emplace_back(one.plan);
    if (is_described_)
      views_.push_back(step_view(plans_.back(), cluster.software, *cluster.hardware.kernels));
    else
      views_.push_back({.planes = {flat_plane(one.plan)},
                        .home = {},
                        .width = width_of(prediction_interval(one.plan).half_width),
                        .like = likeness_of(one.plan)});
    measured_.push_back({.seconds = one.step->count(), .spread = one.spread});
    for (std::size_t at = 0; at < views_.size(); ++at) measured_[at].step = &views_[at];
    stack_ = cluster.software;
    part_ = cluster.hardware.kernels.value_or(KernelTraits{});
  }

  void simulate_at(const Belief& belief) {
    if (!is_described_) return;
    SoftwareStack stack = stack_;
    take_moves(belief, stack);
    for (std::size_t at = 0; at < views_.size(); ++at) {
      StepPlane plane = plans_[at].touch(stack, part_);
      views_[at].planes.push_back(plane);
    }
  }

  std::vector<PlannedStep> plans_;
  std::vector<StepView> views_;
  std::vector<MeasuredView> measured_;
  SoftwareStack stack_;
  KernelTraits part_;
  bool is_described_ = false;
};

std::vector<LearnedConstant> constants_of(const Belief& belief, const SoftwareStack& before, const SoftwareStack& after,
                                          bool is_described) {
  std::vector<LearnedConstant> constants;
  for (std::size_t at = 0; at < kMoves; ++at) {
    const MoveKind& kind = move_kinds()[at];
    const bool is_asked = at == 0 || belief.totals > 1;
    const double known = is_asked ? 1 - belief.left[at] / belief.prior[at] : 0;
    LearnedConstant constant{std::string(kind.name), std::string(kind.family), before.pace, after.pace, "", known};
    if (at > 0) {
      const FittedConstant<SoftwareStack>& own = stack_constants()[at - 1];
      constant.unit = own.unit;
      constant.before = own.get(before);
      constant.after = own.get(after);
    }
    if (at == 0 || is_described) constants.push_back(std::move(constant));
  }
  return constants;
}

std::string forms_text(const std::vector<Evidence>& evidence) {
  std::set<std::string_view> forms;
  for (const Evidence& one : evidence)
    if (one.step)
      for (const std::string_view form : forms_of(one.plan)) forms.insert(form);
  std::string text;
  for (const std::string_view form : forms) text += (text.empty() ? "" : " ") + std::string(form);
  return text;
}

std::string evidence_text(const std::vector<Evidence>& evidence) {
  std::string text;
  for (const Evidence& one : evidence) {
    text += text.empty() ? "; learned from " : ", ";
    text += one.name;
    if (one.step) text += " (" + to_text(*one.step) + ")";
  }
  return text;
}

// What a device holds beside its tensors is the program's and the machine's: the mean of what is missing, as far as it is more than chance.
void learn_memory(const std::vector<Evidence>& evidence, SoftwareStack& software, std::vector<LearnedConstant>& constants) {
  double weight = 1 / (kOpenMemory * kOpenMemory), sum = 0;
  bool any = false;
  for (const Evidence& one : evidence) {
    if (!one.memory) continue;
    const SimulationResult result = simulate(make_model_graph(one.plan), one.plan, Detail::Summary);
    Bytes simulated{};
    for (const DeviceResult& device : result.devices)
      simulated = std::max(
          simulated, counted(MemoryCounter::Reserved, one.plan, device.at_peak, held_by_allocator(one.plan, device.stage, device.at_peak)));
    const double missed = static_cast<double>((*one.memory - simulated).value()) / (1 << 30);
    const double noise = kMissedShare * static_cast<double>(simulated.value()) / (1 << 30);
    weight += 1 / (noise * noise);
    sum += missed / (noise * noise);
    any = true;
  }
  if (!any) return;
  const double before = software.context_gib;
  software.context_gib = std::max(0.0, before + sum / weight);
  constants.push_back(
      {"context_gib", "memory beside tensors", before, software.context_gib, "GiB", 1 - 1 / std::sqrt(weight) / kOpenMemory});
}

}  // namespace

std::string_view known_text(double known) { return known >= 0.5 ? "identified" : known >= 1.0 / 6 ? "partly" : "not identifiable"; }

Learned learn(const std::vector<Evidence>& evidence) {
  check(evidence);
  Plans plans(evidence);
  const Belief belief = plans.believe();
  Learned learned{.cluster = evidence.front().plan.cluster, .constants = {}, .steps = {}};
  SoftwareStack& software = learned.cluster.software;
  const SoftwareStack before = software;
  const bool is_described = learned.cluster.hardware.kernels.has_value();
  if (is_described) take_moves(belief, software);
  software.pace = before.pace * std::exp(belief.moves[0]);
  for (const LearnedRun& run : learned_runs(belief)) software.learned_runs.push_back(run);
  learned.constants = constants_of(belief, before, software, is_described);
  learn_memory(evidence, software, learned.constants);
  software.source += evidence_text(evidence);
  if (software.name.empty()) software.name = "learned";
  std::size_t at = 0;
  for (const Evidence& one : evidence) {
    learned.cluster.devices = std::max(learned.cluster.devices, one.plan.cluster.devices);
    if (!one.step) continue;
    const StepView& view = plans.views()[at++];
    learned.interval_before = std::max(learned.interval_before, prediction_interval(one.plan).half_width);
    learned.steps.push_back({one.name, *one.step, Seconds(view.planes.front().time), Seconds(believed_seconds(belief, view))});
  }
  learned.interval = std::min(plans.interval(belief), 0.95);
  software.learned_interval = learned.interval;
  software.learned_forms = forms_text(evidence);
  return learned;
}

Cluster anonymous(Cluster cluster) {
  constexpr const char* kNobody = "measured runs, without names";
  HardwareProfile& hardware = cluster.hardware;
  hardware.name = "device";
  hardware.source = kNobody;
  hardware.sources.clear();
  hardware.traces.clear();
  if (hardware.kernels) hardware.kernels->source = kNobody;
  if (hardware.power) hardware.power->source = kNobody;
  cluster.software.name = "program";
  cluster.software.source = kNobody;
  cluster.software.frameworks.clear();
  return cluster;
}

}  // namespace sim
