#include <fmt/format.h>

#include <algorithm>

#include "sim/plan/plan_fields.h"
#include "sim/units/json_reader.h"
#include "sim/validation/row_fields.h"

namespace sim {
namespace {

const PlanField* field_at(std::string_view path) {
  const std::span<const PlanField> fields = plan_fields();
  const auto found = std::ranges::find(fields, path, &PlanField::path);
  return found == fields.end() || found->access.set == nullptr ? nullptr : &*found;
}

std::string as_typed(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

void set_field(const JsonReader& at, const std::string& path, ParallelPlan& plan) {
  const PlanField* const field = field_at(path);
  if (field == nullptr) return at.violate(path, "is no place of a plan file that a row can set", "write it as /slices or /mesh/reshard");
  if (!is_at_default(*field, plan))
    return at.violate(path, fmt::format("is {} by other words of the row", text_of(*field, plan)), "say it once");
  const std::optional<FieldValue> value = parse_value(*field, as_typed(at.json()[path]));
  if (!value) return at.violate(path, fmt::format("is {}", at.json()[path].dump()), "use " + accepted(*field));
  for (const Violation& fault : field->access.set(plan, *value)) at.violate(path, fault.problem, fault.remedy);
}

}  // namespace

void set_row_fields(const JsonReader& row_plan, ParallelPlan& plan) {
  if (!row_plan.has("fields")) return;
  const JsonReader fields = row_plan.child("fields");
  for (const std::string& path : fields.keys()) set_field(fields, path, plan);
}

}  // namespace sim
