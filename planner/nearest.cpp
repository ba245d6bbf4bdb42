#include "planner/nearest.h"

#include <cmath>

namespace planner {
namespace {

constexpr std::string_view kFollows = "data";  // from the other degrees

}  // namespace

Distance distance(const PlanCandidate& a, const PlanCandidate& b) {
  Distance all;
  for (const Axis& axis : all_axes()) {
    const double from = axis.number(a), to = axis.number(b);
    if (from == to || axis.field->name == kFollows) continue;
    ++all.axes;
    const double least = axis.field->range.low < 1 ? 1 : 0;  // stages of ZeRO begin with 0
    if (axis.is_degree) all.ratios += std::abs(std::log((from + least) / (to + least)));
  }
  return all;
}

std::string changes(const PlanCandidate& from, const PlanCandidate& to) {
  const std::vector<Argument> before = axes_of(from), after = axes_of(to);
  std::vector<Argument> changed;
  for (std::size_t at = 0; at < after.size(); ++at)
    if (before[at] != after[at] && !after[at].value.empty()) changed.push_back(after[at]);
  return to_text(changed);
}

std::string to_text(const std::vector<Argument>& axes) {
  std::string text;
  for (const Argument& axis : axes) {
    const bool is_word = !axis.value.empty() && axis.value.find(' ') == std::string::npos;
    text += (text.empty() ? "" : " ") + axis.name + "=" + (is_word ? axis.value : "\"" + axis.value + "\"");
  }
  return text;
}

}  // namespace planner
