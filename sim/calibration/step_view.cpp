#include "sim/calibration/step_view.h"

#include <algorithm>
#include <cmath>

#include "sim/cost/plan_likeness.h"
#include "sim/cost/prediction_interval.h"

namespace sim {
namespace {

constexpr double kHalfWidths = 1.2816;  // standard deviations of a normal to either side that hold 80 %
constexpr double kSlowerHosts[] = {6e-6, 18e-6};

}  // namespace

double interval_factor(double width) { return std::exp(kHalfWidths * width); }
double width_of(double half_width) { return std::log1p(half_width) / kHalfWidths; }

void take_moves(const Belief& belief, SoftwareStack& stack) {
  for (std::size_t at = 0; at < kStackConstants; ++at) {
    const FittedConstant<SoftwareStack>& constant = stack_constants()[at];
    const double before = constant.get(stack), move = belief.moves[at + 1];
    constant.set(stack, constant.divides ? before * std::exp(-move) : std::max(before + move, 0.0));
  }
}

StepView step_view(const PlannedStep& step, const SoftwareStack& stack, const KernelTraits& part) {
  StepView view{.planes = {step.touch(stack, part)},
                .home = point_of(stack, part),
                .width = width_of(prediction_interval(step.plan_with(stack, part)).half_width),
                .like = likeness_of(step.plan_with(stack, part))};
  for (const double more : kSlowerHosts) {
    SoftwareStack slower = stack;
    slower.host_per_kernel += Seconds(more);
    view.planes.push_back(step.touch(slower, part));
  }
  return view;
}

}  // namespace sim
