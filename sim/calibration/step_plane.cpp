#include "sim/calibration/step_plane.h"

#include <cmath>

#include "sim/engine/step_path.h"

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

PlannedStep::PlannedStep(const ParallelPlan& plan) : plan_(plan), model_(make_model_graph(plan)), graph_(lower(model_, plan)) {}

// Constants and what they rest on alone: what else the stack says was settled when the row was described.
ParallelPlan PlannedStep::plan_with(const SoftwareStack& stack, const KernelTraits& part) const {
  ParallelPlan plan = plan_;
  plan.cluster.software.interval = stack.interval;
  plan.cluster.software.fitted_parts = stack.fitted_parts;
  plan.cluster.hardware.kernels->interval = part.interval;
  put(stack, part, plan);
  return plan;
}

StepPlane PlannedStep::touch(const SoftwareStack& stack, const KernelTraits& part) const {
  StepPlane plane{.time = 0, .at = point_of(stack, part), .slope = {}};
  ParallelPlan plan = plan_with(stack, part);
  const StepPath path = simulated_path(model_, plan, graph_);
  plane.time = to_seconds(path.step_time).count();
  plane.slope = slopes(stack, part, [&](const SoftwareStack& other, const KernelTraits& kernels) {
    put(other, kernels, plan);
    return time_along(path, model_, plan, graph_).count();
  });
  return plane;
}

Seconds PlannedStep::time(const SoftwareStack& stack, const KernelTraits& part) const {
  return to_seconds(simulated_path(model_, plan_with(stack, part), graph_).step_time);
}

}  // namespace sim
