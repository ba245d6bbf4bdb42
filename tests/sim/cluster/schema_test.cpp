// The JSON Schemas beside the formats say what the readers and writers do.
#include <gmock/gmock.h>

#include <regex>

#include "profiles.h"
#include "sim/cluster/cluster.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

// Enough of JSON Schema for our own: type, properties, required, pattern, $ref, items. Returns what does not fit.
void check(const Json& value, const Json& schema, const Json& root, const std::string& where, std::vector<std::string>& faults) {
  if (schema.contains("$ref")) {
    const std::string name = schema["$ref"].get<std::string>();
    if (name.starts_with("#/$defs/")) check(value, root["$defs"][name.substr(8)], root, where, faults);
    return;
  }
  if (schema.contains("pattern") && !std::regex_match(value.get<std::string>(), std::regex(schema["pattern"].get<std::string>())))
    faults.push_back(where + " does not match " + schema["pattern"].get<std::string>());
  for (const Json& key : schema.value("required", Json::array()))
    if (!value.contains(key.get<std::string>())) faults.push_back(where + "/" + key.get<std::string>() + " is required");
  if (value.is_object() && schema.contains("properties"))
    for (const auto& [key, item] : value.items()) {
      if (!schema["properties"].contains(key))
        faults.push_back(where + "/" + key + " is not described");
      else
        check(item, schema["properties"][key], root, where + "/" + key, faults);
    }
  if (value.is_array() && schema.contains("items"))
    for (const Json& item : value) check(item, schema["items"], root, where + "/-", faults);
}

std::vector<std::string> faults(const Json& value, const Json& schema) {
  std::vector<std::string> found;
  check(value, schema, schema, "", found);
  return found;
}

Json hardware_schema() { return load_json_file("sim/cluster/hardware.schema.json"); }

TEST(Schema, DescribesEveryProfile) {
  for (const char* name : {"a100-80gb-sxm", "h100-80gb-sxm"}) {
    EXPECT_THAT(faults(load_json_file(std::string("profiles/hardware/") + name + ".json"), hardware_schema()), testing::IsEmpty());
    EXPECT_THAT(faults(to_json(load_hardware_profile(name)), hardware_schema()), testing::IsEmpty());
  }
  for (const char* name : {"dgx-a100-64", "dgx-h100-1024"})
    EXPECT_THAT(
        faults(load_json_file(std::string("profiles/clusters/") + name + ".json"), load_json_file("sim/cluster/cluster.schema.json")),
        testing::IsEmpty());
}

TEST(Schema, DescribesWhatIsWritten) {
  HardwareProfile profile = two_per_node();
  profile.kind = DeviceKind::Cpu;
  profile.cores_per_node = 2;
  profile.measured = {{Kernel::Copy, Precision::Fp32, 1, {8}, Seconds(1e-6)}};
  profile.corrections = {{"forward.mlp", 1.5, 2}};
  profile.traces = {"t"};
  profile.sources = {{"memory", "x"}};
  EXPECT_THAT(faults(to_json(profile), hardware_schema()), testing::IsEmpty());
}

TEST(Schema, WhatItRequiresTheReaderRequires) {
  for (const Json& key : hardware_schema()["required"]) {
    Json json = to_json(two_per_node());
    json.erase(key.get<std::string>());
    EXPECT_FALSE(faults(json, hardware_schema()).empty());
    EXPECT_THROW(hardware_profile_from_json(json, "f"), InputError) << key;
  }
}

}  // namespace
}  // namespace sim
