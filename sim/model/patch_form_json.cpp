#include "sim/model/patch_form_json.h"

#include <fmt/format.h>

#include "sim/model/convolution_form_json.h"
#include "sim/units/json_reader.h"

namespace sim {

void read_patches(const JsonReader& config, ModelConfig& model) {
  PatchForm form = model.patches.value_or(PatchForm{});
  form.image = config.integer("image_size", form.image, {8, 1e4});
  form.patch = config.integer("patch_size", form.patch, {1, 1e3});
  form.channels = config.integer("num_channels", form.channels, {1, 1e3});
  if (form.registers > 0) form.registers = config.integer("num_register_tokens", form.registers, {1, 1e4});
  if (form.patch > 0 && form.image / form.patch == 0)
    config.violate("patch_size", fmt::format("is {}, and an image has a side of {}", form.patch, form.image), "use a smaller one");
  model.patches = form;
  model.vocabulary = read_classes(config);
  model.max_positions = form.tokens();
}

void write_patches(Json& json, const ModelConfig& model) {
  json["image_size"] = model.patches->image;
  json["patch_size"] = model.patches->patch;
  json["num_channels"] = model.patches->channels;
  if (model.patches->registers > 0) json["num_register_tokens"] = model.patches->registers;
  json["num_labels"] = model.vocabulary;
}

}  // namespace sim
