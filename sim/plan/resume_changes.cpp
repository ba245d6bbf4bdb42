#include "sim/plan/resume_changes.h"

#include <algorithm>

#include "sim/plan/plan_fields.h"

namespace sim {
namespace {

[[noreturn]] void refuse(std::string problem) {
  std::string names;
  for (const std::string_view name : changeable_settings()) names += (names.empty() ? "" : ", ") + std::string(name);
  throw InputError("", {{"--change", std::move(problem), "write setting=number; what may change: " + names}});
}

}  // namespace

std::vector<std::string_view> changeable_settings() {
  std::vector<std::string_view> names;
  for (const PlanField& field : plan_fields())
    if (field.may_change) names.push_back(field.name);
  return names;
}

void apply_change(ParallelPlan& plan, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals), value = equals == std::string::npos ? "" : text.substr(equals + 1);
  const auto field = std::ranges::find_if(plan_fields(), [&](const PlanField& one) { return one.may_change && one.name == name; });
  if (field == plan_fields().end()) refuse("\"" + name + "\" may not change while a run goes on");
  const std::optional<FieldValue> read = parse_value(*field, value);
  if (!read) refuse("\"" + value + "\" is not " + accepted(*field) + ", as " + name + " takes it");
  if (const std::vector<Violation> wrong = field->access.set(plan, *read); !wrong.empty()) throw InputError("--change", wrong);
  if (field->role == FieldRole::Workload) plan.predictions.reset();  // of the other one
}

std::string_view changeable_setting_of(std::string_view difference) {
  for (const PlanField& field : plan_fields())
    if (field.may_change && difference.substr(0, difference.find(':')) == field.path) return field.name;
  return {};
}

}  // namespace sim
