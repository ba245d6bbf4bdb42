#include "planner/fixed_axes.h"

#include <algorithm>

#include "sim/units/input_error.h"

namespace planner {
namespace {

// An order that is written out is not searched for.
bool is_searched(const sim::PlanField& field, const std::string& text) {
  return sim::parse_value(field, text) && !(field.name == "schedule" && text == sim::kOrderFromCsv);
}

std::string searched(const sim::PlanField& field) {
  if (field.name != "schedule") return sim::accepted(field);
  std::string names;
  for (const sim::Schedule& schedule : sim::all_schedules()) names += (names.empty() ? "" : ", ") + std::string(schedule.name);
  return names;
}

}  // namespace

FixedAxes read_fixed_axes(const Fixed& fixed) {
  FixedAxes axes;
  sim::ParallelPlan plan;
  std::vector<sim::Violation> wrong;
  for (const auto& [name, text] : fixed) {
    const auto axis =
        std::find_if(all_axes().begin(), all_axes().end(), [&, &name = name](const Axis& known) { return known.field->name == name; });
    if (axis == all_axes().end()) {
      wrong.push_back({"--fix " + name, "there is no axis '" + name + "'", "use one of " + axis_names()});
    } else if (!is_searched(*axis->field, text)) {
      wrong.push_back({"--fix " + name, "'" + text + "' is no value of " + name, "use " + searched(*axis->field)});
    } else {
      axis->field->access.set(plan, *sim::parse_value(*axis->field, text));
      axis->take(plan, axes.at);
      axes.given.insert(axis->field->name);
    }
  }
  if (!wrong.empty()) throw sim::InputError("--fix", std::move(wrong));
  return axes;
}

}  // namespace planner
