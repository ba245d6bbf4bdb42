#include "planner/fixed_axes.h"

#include <algorithm>

#include "sim/units/input_error.h"
#include "sim/units/near_name.h"

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

std::vector<std::string> names_of_axes() {
  std::vector<std::string> names;
  for (const Axis& axis : all_axes()) names.emplace_back(axis.field->name);
  return names;
}

std::string near_value(const sim::PlanField& field, const std::string& text) {
  std::vector<std::string> names;
  if (field.access.names != nullptr)
    for (const std::string_view name : field.access.names())
      if (is_searched(field, std::string(name))) names.emplace_back(name);
  return sim::near_name_remedy(text, names, "use " + searched(field));
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
      wrong.push_back({name, "there is no such axis", sim::near_name_remedy(name, names_of_axes(), "use one of " + axis_names())});
    } else if (!is_searched(*axis->field, text)) {
      wrong.push_back({name, "'" + text + "' is no value of it", near_value(*axis->field, text)});
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
