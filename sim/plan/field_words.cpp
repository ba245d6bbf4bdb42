#include "sim/plan/field_words.h"

#include <algorithm>
#include <variant>

#include "sim/plan/field_uses.h"

namespace sim {
namespace {

struct SaidValue {
  std::string_view field, words;
  FieldValue from;  // and more
};
const SaidValue kSaid[] = {{"bucket_size", "one bucket", kOneBucket}};

// "prefetch 0", "exchange beside compute", "no exchange beside compute"; a word of its own says all.
std::string phrase(const PlanField& field, const ParallelPlan& plan) {
  std::string said = said_of(field, plan);
  if (said != text_of(field, plan)) return said;
  const FieldValue value = field.access.get(plan);
  if (const bool* is_so = std::get_if<bool>(&value)) return (*is_so ? "" : "no ") + std::string(field.words);
  return std::string(field.words) + ' ' + said;
}

}  // namespace

std::string said_of(const PlanField& field, const ParallelPlan& plan) {
  const FieldValue value = field.access.get(plan);
  for (const SaidValue& said : kSaid)
    if (said.field == field.name && value >= said.from) return std::string(said.words);
  return to_text(value);
}

std::string unusual_text(const ParallelPlan& plan, std::span<const std::string_view> told, FieldRole role) {
  std::string text;
  for (const PlanField& field : plan_fields()) {
    const bool is_told = std::find(told.begin(), told.end(), field.name) != told.end();
    if (field.role != role || is_told || is_at_default(field, plan) || !has_use(field, plan)) continue;
    text += (text.empty() ? "" : ", ") + phrase(field, plan);
  }
  return text;
}

}  // namespace sim
