#include "sim/plan/field_json.h"

namespace sim {
namespace {

void collect(const std::string& pointer, const Json& before, const Json& now, std::vector<std::string>& found) {
  if (before == now) return;
  if (!before.is_object() || !now.is_object()) {
    found.push_back(pointer + ": " + before.dump() + " before, " + now.dump() + " now");
    return;
  }
  for (const auto& [key, value] : before.items()) collect(pointer + "/" + key, value, now.contains(key) ? now[key] : Json(), found);
  for (const auto& [key, value] : now.items())
    if (!before.contains(key)) collect(pointer + "/" + key, Json(), value, found);
}

}  // namespace

PlanDifferences differences(const ParallelPlan& before, const ParallelPlan& now) {
  PlanDifferences found;
  collect("/model", to_json(before.model), to_json(now.model), found.training);
  collect("/cluster", to_json(before.cluster), to_json(now.cluster), found.layout);
  for (const PlanField& field : plan_fields()) {
    if (field.role == FieldRole::Saving || (!stands_in_file(field, before) && !stands_in_file(field, now))) continue;
    std::vector<std::string>& of_role = field.role == FieldRole::Layout ? found.layout : found.training;
    collect(std::string(field.path), to_json(field.access.get(before)), to_json(field.access.get(now)), of_role);
  }
  return found;
}

}  // namespace sim
