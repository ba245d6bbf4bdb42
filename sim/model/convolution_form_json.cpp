#include "sim/model/convolution_form_json.h"

#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr JsonReader::Range kMapWidth = {1, 1e5}, kMapCount = {1, 1e3}, kImageSide = {8, 1e4}, kManyClasses = {1, 1e7};
constexpr std::string_view kBlocks[] = {"basic", "bottleneck"}, kRegularBlocks[] = {"x", "y"};
constexpr std::int64_t kUsualLabels = 2;

std::vector<std::int64_t> read_sizes(const JsonReader& config, const std::string& key, const JsonReader::Range& range) {
  std::vector<std::int64_t> sizes = config.integers(key);
  bool fits = !sizes.empty() && sizes.size() <= 16;
  for (const std::int64_t size : sizes)
    fits &= size >= static_cast<std::int64_t>(range.low) && size <= static_cast<std::int64_t>(range.high);
  if (fits) return sizes;
  config.violate(key, "is no list of sizes, one for each stage", "give 1 to 16 positive sizes");
  return {};
}

void read_stages(const JsonReader& config, ConvolutionForm& form) {
  form.stem = config.integer("embedding_size", form.stem, kMapWidth);
  form.widths = read_sizes(config, "hidden_sizes", kMapWidth);
  form.depths = read_sizes(config, "depths", kMapCount);
  if (form.widths.size() == form.depths.size()) return;
  config.violate("depths", "has another length than hidden_sizes", "give both for each stage");
  form.widths.clear(), form.depths.clear();
}

void read_residual(const JsonReader& config, ConvolutionForm& form) {
  read_stages(config, form);
  form.bottleneck = config.choice("layer_type", kBlocks, 1) == 1;
  form.early_stride = config.boolean("downsample_in_first_stage", false);
  form.strides_first = config.boolean("downsample_in_bottleneck", false);
  form.groups = config.integer("groups", 1, kMapWidth);
  form.width_per_group = config.integer("width_per_group", form.width_per_group, kMapWidth);
  form.squeeze = config.boolean("squeeze_excitation", false);
  for (const std::int64_t width : form.widths)
    if (form.bottleneck && (width % 64 != 0 || width / 4 * form.width_per_group / 64 == 0))
      config.violate("hidden_sizes", "has a width that a bottleneck of these groups does not divide",
                     "use multiples of 64 and wider groups");
}

void read_regular(const JsonReader& config, ConvolutionForm& form) {
  form.stem = 32;
  read_stages(config, form);
  form.width_per_group = config.integer("groups_width", 64, kMapWidth);
  form.squeeze = config.choice("layer_type", kRegularBlocks, 1) == 1;
  form.early_stride = config.boolean("downsample_in_first_stage", true);
  for (const std::int64_t width : form.widths)
    if (width > form.width_per_group && width % (width / form.width_per_group) != 0)
      config.violate("hidden_sizes", "has a width that its groups do not divide", "use multiples of groups_width");
}

void write_stages(Json& json, const ConvolutionForm& form) {
  json["embedding_size"] = form.stem;
  json["hidden_sizes"] = form.widths;
  json["depths"] = form.depths;
  json["downsample_in_first_stage"] = form.early_stride;
}

}  // namespace

std::int64_t read_classes(const JsonReader& config) {
  const bool lists = config.has("id2label") && config.json()["id2label"].is_object();
  return config.integer("num_labels", lists ? static_cast<std::int64_t>(config.json()["id2label"].size()) : kUsualLabels, kManyClasses);
}

void read_maps(const JsonReader& config, ModelConfig& model) {
  ConvolutionForm& form = *model.convolution;
  form.channels = config.integer("num_channels", form.channels, kMapWidth);
  form.image = config.integer("image_size", form.image, kImageSide);
  model.vocabulary = form.kind == ConvolutionKind::UShaped ? 1 : read_classes(config);
  switch (form.kind) {
    case ConvolutionKind::Residual: return read_residual(config, form);
    case ConvolutionKind::Regular: return read_regular(config, form);
    case ConvolutionKind::Cells:
      form.depth = config.integer("num_layers", 4, kMapCount);
      form.stem = config.integer("num_filters", 512, {16, 1e5});
      if (form.stem % 16 != 0) config.violate("num_filters", "is no multiple of 16", "cells take quarters of a quarter of it");
      return;
    case ConvolutionKind::UShaped:
      form.depth = config.integer("depth", 5, {1, 8});
      form.repeats = config.integer("num_convs", 5, kMapCount);
      form.stem = config.integer("base_channels", 64, {2, 4096});
      if (form.image % (std::int64_t{1} << form.depth) != 0)
        config.violate("image_size", "is not halved as often as the network has levels", "use a multiple of 2^depth");
      if (form.stem % 2 != 0) config.violate("base_channels", "is odd", "levels on the way up have half of it");
  }
}

void write_maps(Json& json, const ModelConfig& model) {
  const ConvolutionForm& form = *model.convolution;
  json["num_channels"] = form.channels;
  json["image_size"] = form.image;
  if (form.kind != ConvolutionKind::UShaped) json["num_labels"] = model.vocabulary;
  switch (form.kind) {
    case ConvolutionKind::Residual:
      write_stages(json, form);
      json["layer_type"] = kBlocks[form.bottleneck ? 1 : 0];
      json["downsample_in_bottleneck"] = form.strides_first;
      if (form.groups != 1) json["groups"] = form.groups;
      if (form.width_per_group != ConvolutionForm{}.width_per_group) json["width_per_group"] = form.width_per_group;
      if (form.squeeze) json["squeeze_excitation"] = true;
      return;
    case ConvolutionKind::Regular:
      write_stages(json, form);
      json["layer_type"] = kRegularBlocks[form.squeeze ? 1 : 0];
      json["groups_width"] = form.width_per_group;
      return;
    case ConvolutionKind::Cells:
      json["num_layers"] = form.depth;
      json["num_filters"] = form.stem;
      return;
    case ConvolutionKind::UShaped:
      json["depth"] = form.depth;
      json["num_convs"] = form.repeats;
      json["base_channels"] = form.stem;
  }
}

}  // namespace sim
