#include "sim/model/convolution_form_json.h"

#include <gmock/gmock.h>

#include "sim/model/map_families.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using testing::HasSubstr;

Json resnet() {
  return {{"model_type", "resnet"},
          {"hidden_sizes", {256, 512}},
          {"depths", {2, 2}},
          {"id2label", {{"0", "cat"}, {"1", "dog"}, {"2", "fish"}}}};
}

std::string refused(const Json& json) {
  try {
    model_config_from_json(json, "config.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ConvolutionForm, LabelsAreCounted) { EXPECT_EQ(model_config_from_json(resnet(), "config.json").vocabulary, 3); }

TEST(ConvolutionForm, WhatIsWrittenReadsBack) {
  for (const ModelConfig& model :
       {convolutional_model("amoebanet", {.kind = ConvolutionKind::Cells, .stem = 256, .depth = 18}, 10),
        convolutional_model("unet", {.kind = ConvolutionKind::UShaped, .image = 192, .stem = 64, .depth = 5, .repeats = 5}, 1),
        convolutional_model("resnet", {.widths = {256}, .depths = {2}, .groups = 32, .width_per_group = 4, .squeeze = true}, 10)})
    EXPECT_EQ(model_config_from_json(to_json(model), "again"), model) << model.model_type;
}

TEST(ConvolutionForm, FaultsAreNamed) {
  Json json = resnet();
  json["depths"] = {2};
  EXPECT_THAT(refused(json), HasSubstr("another length"));
  json = resnet();
  json["hidden_sizes"] = {100, 512};
  EXPECT_THAT(refused(json), HasSubstr("does not divide"));
  json = resnet();
  json["depths"] = {0, 2};
  EXPECT_THAT(refused(json), HasSubstr("no list of sizes"));
  json = resnet();
  json.erase("hidden_sizes");
  EXPECT_THAT(refused(json), HasSubstr("hidden_sizes"));
  EXPECT_THAT(refused({{"model_type", "unet"}, {"image_size", 100}}), HasSubstr("image_size"));
  EXPECT_THAT(refused({{"model_type", "amoebanet"}, {"num_filters", 100}}), HasSubstr("num_filters"));
}

}  // namespace
}  // namespace sim
