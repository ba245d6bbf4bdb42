#include "sim/validation/step_plane.h"

#include <cmath>

#include "sim/engine/step_path.h"
#include "sim/units/input_error.h"
#include "sim/validation/lowered_row.h"

namespace sim {
namespace {

constexpr double kNudge = 1e-3;  // of a logarithm; of a constant's range

template <typename Profile>
void move(const FittedConstant<Profile>& constant, Profile& profile, double& coordinate) {
  const double before = constant.get(profile), nudge = constant.divides ? kNudge : kNudge * (constant.high - constant.low);
  constant.set(profile, constant.divides ? before * std::exp(-nudge) : before + nudge);
  coordinate = nudge;
}

// Slope of `time` by each constant.
template <typename Time>
ConstantPoint slopes(const SoftwareStack& stack, const KernelTraits& part, Time time) {
  const double here = time(stack, part);
  ConstantPoint slope{};
  std::size_t at = 0;
  double nudge = 0;
  for (const auto& constant : stack_constants()) {
    SoftwareStack moved = stack;
    move(constant, moved, nudge);
    slope[at++] = (time(moved, part) - here) / nudge;
  }
  for (const auto& constant : part_constants()) {
    KernelTraits moved = part;
    move(constant, moved, nudge);
    slope[at++] = (time(stack, moved) - here) / nudge;
  }
  return slope;
}

// Constants alone: what else the stack says was settled when the run was lowered.
void put(const SoftwareStack& stack, const KernelTraits& part, ParallelPlan& plan) {
  for (const auto& constant : stack_constants()) constant.set(plan.cluster.software, constant.get(stack));
  for (const auto& constant : part_constants()) constant.set(*plan.cluster.hardware.kernels, constant.get(part));
}

}  // namespace

double coordinate_of(bool divides, double value) { return divides ? -std::log(value) : value; }

ConstantPoint point_of(const SoftwareStack& stack, const KernelTraits& part) {
  ConstantPoint point{};
  std::size_t at = 0;
  for (const auto& constant : stack_constants()) point[at++] = coordinate_of(constant.divides, constant.get(stack));
  for (const auto& constant : part_constants()) point[at++] = coordinate_of(constant.divides, constant.get(part));
  return point;
}

double StepPlane::height(const ConstantPoint& point) const {
  double sum = time;
  for (std::size_t i = 0; i < point.size(); ++i) sum += slope[i] * (point[i] - at[i]);
  return sum;
}

// None: the run has no plan, or one that breaks a rule.
std::optional<MeasuredStep::Lowered> MeasuredStep::lowered(const RunDescription& run, const Setting& setting, const RowWords& words) {
  if (!why_not_lowered(run).empty()) return std::nullopt;
  try {
    Lowered lowered{lowered_plan(run, setting, words), {}, {}};
    lowered.model = make_model_graph(lowered.plan);
    lowered.graph = lower(lowered.model, lowered.plan);
    return lowered;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

MeasuredStep::MeasuredStep(const RunDescription& run, const Setting& setting, const RowWords& words)
    : run_(run), device_(setting.device), lowered_(lowered(run, setting, words)) {}

StepPlane MeasuredStep::touch(const SoftwareStack& stack, const KernelTraits& part) const {
  StepPlane plane{.time = 0, .at = point_of(stack, part), .slope = {}};
  if (!lowered_) {
    Device device = device_;
    const auto estimate = [&](const SoftwareStack& other, const KernelTraits& kernels) {
      device.kernels = kernels;
      return estimate_step(run_, {device, other}).time.count();
    };
    plane.time = estimate(stack, part);
    plane.slope = slopes(stack, part, estimate);
    return plane;
  }
  ParallelPlan plan = lowered_->plan;
  put(stack, part, plan);
  const StepPath path = simulated_path(lowered_->model, plan, lowered_->graph);
  plane.time = to_seconds(path.step_time).count();
  plane.slope = slopes(stack, part, [&](const SoftwareStack& other, const KernelTraits& kernels) {
    put(other, kernels, plan);
    return time_along(path, lowered_->model, plan, lowered_->graph).count();
  });
  return plane;
}

Seconds MeasuredStep::time(const SoftwareStack& stack, const KernelTraits& part) const {
  if (!lowered_) {
    Device device = device_;
    device.kernels = part;
    return estimate_step(run_, {device, stack}).time;
  }
  ParallelPlan plan = lowered_->plan;
  put(stack, part, plan);
  return to_seconds(simulated_path(lowered_->model, plan, lowered_->graph).step_time);
}

}  // namespace sim
