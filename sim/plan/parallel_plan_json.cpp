#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sim/plan/field_json.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

constexpr std::string_view kFormat = "meshwright.plan/1";

struct ValueJson {
  Json operator()(Bytes value) const { return to_exact_text(value); }
  template <class Value>
  Json operator()(const Value& value) const {
    return value;
  }
};

void write(const PlanField& field, const FieldValue& value, Json& json) {
  const FieldPlace place = place_of(field);
  (place.group.empty() ? json : json[place.group])[place.key] = to_json(value);
}

Json head_json(const ParallelPlan& plan) {
  Json json;
  json["format"] = kFormat;
  json["model"] = to_json(plan.model);
  json["cluster"] = to_json(plan.cluster);
  return json;
}

// A number that was a switch: as that, where it says enough.
FieldValue written(const PlanField& field, const ParallelPlan& plan) {
  FieldValue value = field.access.get(plan);
  const auto* const number = std::get_if<std::int64_t>(&value);
  if (field.was_switch && number != nullptr && *number <= 1) value = *number == 1;
  return value;
}

// All that the predictions depend on.
Json hashed_json(const ParallelPlan& plan) {
  Json json = head_json(plan);
  for (const PlanField& field : plan_fields()) {
    if (field.role != FieldRole::Workload && field.role != FieldRole::Layout) continue;
    if (field.is_older_spelling ? !is_at_default(field, plan) : stands_in_file(field, plan))
      write(field, field.hashed != nullptr ? field.hashed(plan) : written(field, plan), json);
  }
  return json;
}

std::string read_text(const PlanField& field, const JsonReader& at, const std::string& key, const std::string& fallback) {
  if (field.access.names == nullptr) return at.text(key, fallback);
  const std::vector<std::string_view> names = field.access.names();
  const auto position = position_in(names, std::find(names.begin(), names.end(), fallback));
  return std::string(names[at.choice(key, names, position)]);
}

std::vector<std::string> read_texts(const JsonReader& at, const std::string& key) {
  std::vector<std::string> texts;
  for (const JsonReader& item : at.children(key))
    if (item.json().is_string())
      texts.push_back(item.json().get<std::string>());
    else
      item.violate("", "is no text", "put it in quotes");
  return texts;
}

FieldValue read_value(const PlanField& field, const JsonReader& at, const std::string& key) {
  static const ParallelPlan defaults;
  FieldValue fallback = field.access.get(defaults);
  const JsonReader::Range range{field.range.low, field.range.high};
  switch (field.access.kind) {
    case FieldKind::Integer:
      if (field.was_switch && at.json().contains(key) && at.json()[key].is_boolean()) return std::int64_t{at.boolean(key)};
      return at.integer(key, field.required ? std::nullopt : std::optional(std::get<std::int64_t>(fallback)), range);
    case FieldKind::Number: return at.number(key, std::get<double>(fallback), range);
    case FieldKind::Switch: return at.boolean(key, std::get<bool>(fallback));
    case FieldKind::Text: return read_text(field, at, key, std::get<std::string>(fallback));
    case FieldKind::Amount: return at.bytes(key, std::get<Bytes>(fallback));
    case FieldKind::Integers: return at.integers(key);
    case FieldKind::Lines: return read_texts(at, key);
  }
  return fallback;
}

void read_field(const PlanField& field, const JsonReader& at, ParallelPlan& plan) {
  const std::string key = place_of(field).key;
  const bool is_given = at.has(key);
  if (field.access.set == nullptr || (!field.required && !is_given)) return;
  for (const Violation& fault : field.access.set(plan, read_value(field, at, key))) at.violate(key, located(fault), fault.remedy);
}

void read_fields(const JsonReader& json, ParallelPlan& plan) {
  std::map<std::string, JsonReader> groups{{"", json}, {"workload", json.child("workload")}, {"mesh", json.child("mesh")}};
  if (json.has("training")) groups.insert({"training", json.child("training")});
  for (const PlanField& field : plan_fields())
    if (const auto group = groups.find(place_of(field).group); group != groups.end()) read_field(field, group->second, plan);
}

// What follows from others stands in a file for people; one who changes it there means something by it.
std::vector<Violation> wrong_in_derived(const JsonReader& json, const ParallelPlan& plan) {
  std::vector<Violation> wrong;
  for (const PlanField& field : plan_fields()) {
    const FieldPlace place = place_of(field);
    if (field.access.set != nullptr || !place.group.empty() || !json.has(place.key)) continue;
    const Json follows = to_json(field.access.get(plan));
    if (json.json()[place.key] != follows)
      wrong.push_back({std::string(field.path),
                       fmt::format("is {}, and {} follows from the others", json.json()[place.key].dump(), follows.dump()),
                       fmt::format("write {}, or leave it out: {}", follows.dump(), field.meaning)});
  }
  return wrong;
}

}  // namespace

Json to_json(const FieldValue& value) { return std::visit(ValueJson{}, value); }

FieldPlace place_of(const PlanField& field) {
  const std::string path(field.path.substr(1));
  const std::size_t slash = path.find('/');
  if (slash == std::string::npos) return {.group = "", .key = path};
  return {.group = path.substr(0, slash), .key = path.substr(slash + 1)};
}

Json to_json(const ParallelPlan& plan) {
  Json json = head_json(plan);
  for (const PlanField& field : plan_fields())
    if (stands_in_file(field, plan)) write(field, written(field, plan), json);
  if (plan.predictions)
    json["predictions"] = {{"step_time", to_exact_text(plan.predictions->step_time)},
                           {"peak_memory", to_exact_text(plan.predictions->peak_memory)},
                           {"made_from", plan.predictions->hash}};
  return json;
}

ParallelPlan plan_from_json(const Json& document, const std::string& file) {
  const JsonReader json(document, file);
  if (json.text("format") != kFormat)
    json.violate("format", fmt::format("is not \"{}\"", kFormat), "give a plan file (meshwright plan -o plan.json)");
  json.finish();
  ParallelPlan plan;
  read_fields(json, plan);
  if (json.has("predictions")) {
    const JsonReader made = json.child("predictions");
    plan.predictions = Predictions{made.seconds("step_time"), made.bytes("peak_memory"), made.text("made_from")};
  }
  json.child("model");
  json.child("cluster");
  json.refuse_unknown();
  json.finish();
  const std::optional<Adapters> adapters = plan.model.adapters;  // words of the workload
  const FrozenParts frozen = plan.model.frozen;
  const std::int64_t predictions = plan.model.mtp_layers, source_tokens = plan.model.source_tokens;
  const bool apart = plan.model.mtp_apart;
  plan.model = model_config_from_json(document.at("model"), file);
  plan.model.adapters = adapters;
  plan.model.frozen = frozen;
  plan.model.mtp_layers = predictions;
  plan.model.mtp_apart = apart;
  plan.model.source_tokens = source_tokens;
  plan.cluster = cluster_from_json(document.at("cluster"), file);
  if (std::vector<Violation> found = violations(plan); !found.empty()) throw InputError(file, std::move(found));
  if (std::vector<Violation> found = wrong_in_derived(json, plan); !found.empty()) throw InputError(file, std::move(found));
  return plan;
}

std::string plan_hash(const ParallelPlan& plan) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, 64 bits: an identity, not a protection
  for (const char c : hashed_json(plan).dump()) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return fmt::format("{:016x}", hash);
}

ParallelPlan load_plan(const std::string& path) { return plan_from_json(load_json_file(path), path); }
void save_plan(const ParallelPlan& plan, const std::string& path) { save_json_file(to_json(plan), path); }

}  // namespace sim
