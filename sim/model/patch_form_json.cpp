#include "sim/model/patch_form_json.h"

#include <fmt/format.h>

#include "sim/model/convolution_form_json.h"
#include "sim/units/json_reader.h"

namespace sim {

void read_patches(const JsonReader& config, ModelConfig& model) {
  PatchForm form;
  form.image = config.integer("image_size", form.image, {8, 1e4});
  form.patch = config.integer("patch_size", form.patch, {1, 1e3});
  form.channels = config.integer("num_channels", form.channels, {1, 1e3});
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
  json["num_labels"] = model.vocabulary;
}

}  // namespace sim
