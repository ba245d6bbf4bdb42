// How far two steps are apart, as numbers: by stage, kind and collective, and how the ratios of paired tasks are spread.
#pragma once

#include "gui/core/compared_steps.h"

namespace gui {

struct RatioBin {
  double least = 0, most = 0;
  std::int64_t pairs = 0;
  sim::SimTime time{};  // on the right
};
std::vector<RatioBin> ratioHistogram(
    const ComparedSteps& steps);  // around 1, eight to a double, from 1/4 to 4; the outermost hold the rest
int binOfRatio(double ratio);     // its place there

struct ErrorGroup {
  enum class Of : std::uint8_t { Step, Stage, Kind, Collective } of{};
  sim::ErrorRow row;  // simulated: left; measured: right; mean of the ranks that have it
};
std::vector<ErrorGroup> errorGroups(const ComparedSteps& steps);  // in this order; within one, the longest first

}  // namespace gui
