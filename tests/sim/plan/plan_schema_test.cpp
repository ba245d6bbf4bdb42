// plan.schema.json says of each field what the table says. To write it anew: MESHWRIGHT_BLESS=1 build/dev/bin/sim_plan_test --gtest_filter='PlanSchema*'
#include <gmock/gmock.h>

#include <cstdlib>

#include "sim/plan/field_json.h"

namespace sim {
namespace {

constexpr const char* kFile = "sim/plan/plan.schema.json";

Json number_schema(const PlanField& field, const char* type) {
  Json json{{"type", field.was_switch ? Json{type, "boolean"} : Json(type)}};
  const auto limit = [&](double end) { return field.access.kind == FieldKind::Integer ? Json(static_cast<std::int64_t>(end)) : Json(end); };
  json["minimum"] = limit(field.range.low);
  if (field.range.high < FieldRange{}.high) json["maximum"] = limit(field.range.high);
  return json;
}

Json type_schema(const PlanField& field) {
  switch (field.access.kind) {
    case FieldKind::Integer: return number_schema(field, "integer");
    case FieldKind::Number: return number_schema(field, "number");
    case FieldKind::Switch: return {{"type", "boolean"}};
    case FieldKind::Amount: return {{"$ref", "#/$defs/bytes"}};
    case FieldKind::Integers: return {{"type", "array"}, {"items", {{"type", "integer"}}}};
    case FieldKind::Lines: return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case FieldKind::Text: break;
  }
  if (field.access.names == nullptr) return {{"type", "string"}};
  return {{"enum", field.access.names()}};
}

Json field_schema(const PlanField& field) {
  Json json = type_schema(field);
  const bool is_list = field.access.kind == FieldKind::Integers || field.access.kind == FieldKind::Lines;
  if (!field.required && !is_list && field.access.set != nullptr) json["default"] = to_json(field.access.get(ParallelPlan()));
  const std::string grammar(field.access.grammar);
  json["description"] = std::string(field.meaning) + (grammar.empty() ? "" : ": " + grammar);
  return json;
}

Json object_schema(const char* description) {
  return {{"type", "object"},
          {"description", description},
          {"required", Json::array()},
          {"properties", Json::object()},
          {"additionalProperties", false}};
}

Json predictions_schema() {
  Json json = object_schema("what the planner found when it made the plan");
  json["required"] = {"step_time", "peak_memory", "made_from"};
  json["properties"] = {
      {"step_time", {{"type", "string"}, {"pattern", "^[0-9.e+-]+ ?(s|ms|us|ns|ps)$"}}},
      {"peak_memory", {{"$ref", "#/$defs/bytes"}}},
      {"made_from", {{"type", "string"}, {"pattern", "^[0-9a-f]{16}$"}, {"description", "hash of the fields above training"}}}};
  return json;
}

Json schema() {
  Json json = object_schema("What is trained, on what, and how it is cut. Complete in itself.");
  json["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  json["title"] = "Meshwright plan file, meshwright.plan/1";
  json["required"] = {"format", "model", "cluster", "workload", "mesh"};
  Json& all = json["properties"];
  all = {{"format", {{"const", "meshwright.plan/1"}}},
         {"model", {{"type", "object"}, {"description", "Hugging Face config.json"}}},
         {"cluster", {{"type", "object"}, {"description", "meshwright.cluster/1: hardware profile and number of devices"}}},
         {"workload", object_schema("what a step trains on")},
         {"mesh", object_schema("which rank stands where")}};
  for (const PlanField& field : plan_fields()) {
    const FieldPlace place = place_of(field);
    if (!place.group.empty() && !all.contains(place.group)) all[place.group] = object_schema("outside the hash of the predictions");
    Json& object = place.group.empty() ? json : all[place.group];
    object["properties"][place.key] = field_schema(field);
    if (field.required) object["required"].push_back(place.key);
  }
  all["predictions"] = predictions_schema();
  json["$defs"] = {{"bytes", {{"type", "string"}, {"pattern", "^[0-9.e+]+ ?(B|kB|KB|MB|GB|TB|KiB|MiB|GiB|TiB)$"}}}};
  return json;
}

TEST(PlanSchema, SaysWhatTheTableSays) {
  if (std::getenv("MESHWRIGHT_BLESS") != nullptr) save_json_file(schema(), kFile);
  EXPECT_EQ(load_text_file(kFile), schema().dump(2) + "\n") << "a field was changed: see the head of this test";
}

}  // namespace
}  // namespace sim
