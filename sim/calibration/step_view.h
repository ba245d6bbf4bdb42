// A plan's step as belief.h sees it: simulated at its profile's constants, and at those of a slower host.
#pragma once

#include "sim/calibration/belief.h"

namespace sim {

StepView step_view(const PlannedStep& step, const SoftwareStack& stack, const KernelTraits& part);

// The constants where the belief puts them; the pace is not among them.
void take_moves(const Belief& belief, SoftwareStack& stack);

// Of a time and of its standard deviation in the logarithm: the factor, up and down, between which four of five lie.
double interval_factor(double width);
double width_of(double half_width);  // of a relative interval

}  // namespace sim
