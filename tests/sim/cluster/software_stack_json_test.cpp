#include <gmock/gmock.h>

#include "sim/cluster/software_stack.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

Json valid() { return {{"format", "meshwright.software/1"}, {"name", "x"}, {"source", "its documentation"}}; }

TEST(SoftwareStackJson, FieldsAreRead) {
  Json json = valid();
  json["frameworks"] = {"a", "b"};
  json["host_per_kernel"] = "9 us";
  json["overlap_reduce"] = true;
  json["matrix_share"] = 0.9;
  const SoftwareStack stack = software_stack_from_json(json, "f");
  EXPECT_THAT(stack.frameworks, testing::ElementsAre("a", "b"));
  EXPECT_DOUBLE_EQ(stack.host_per_kernel.count(), 9e-6);
  EXPECT_TRUE(stack.overlap_reduce);
  EXPECT_EQ(stack.matrix_share, 0.9);
}

TEST(SoftwareStackJson, FaultsAreNamed) {
  Json json = valid();
  json["source"] = "";
  EXPECT_THROW(software_stack_from_json(json, "f"), InputError);
  json = valid();
  json["interval"] = 2;
  EXPECT_THROW(software_stack_from_json(json, "f"), InputError);
}

TEST(SoftwareStackJson, NothingOfAnotherKindIsDropped) {
  for (const auto& [key, value] :
       {std::pair("frameworks", Json{"a", 7}), std::pair("flash", Json("flash_3")), std::pair("attention", Json("")),
        std::pair("attention_gain", Json(0)), std::pair("matrix_share", Json(-0.0)), std::pair("network_share", Json(0)),
        std::pair("pace", Json(0)), std::pair("learned_runs", Json{{{"weight", 1}, {"at", {1, "x"}}}})}) {
    Json json = valid();
    json[key] = value;
    EXPECT_THROW(software_stack_from_json(json, "f"), InputError) << key;
  }
}

TEST(SoftwareStackJson, UnitsAndSourcesAreAskedFor) {
  Json json = valid();
  json["host_per_kernel"] = 9;
  EXPECT_THROW(software_stack_from_json(json, "f"), InputError);
  json = valid();
  json["fitted"] = {{"matrix_share", 0.9}};
  EXPECT_THROW(software_stack_from_json(json, "f"), InputError);
  json["fitted"]["source"] = "rows of a and b";
  EXPECT_EQ(software_stack_from_json(json, "f").matrix_share, 0.9);
}

TEST(SoftwareStackJson, WhatIsWrittenIsReadAgain) {
  for (const char* name : {"plain", "megatron-core", "fsdp1"}) {
    const SoftwareStack stack = load_software(name);
    const Json written = to_json(stack);
    EXPECT_EQ(to_json(software_stack_from_json(written, name)).dump(), written.dump()) << name;
    EXPECT_EQ(written["name"], name);
  }
}

}  // namespace
}  // namespace sim
