// Convolutional networks: what Transformers calls resnet and regnet, torchvision's words for groups beside them, and the two of torchgpipe's benchmarks.
#include "sim/model/map_families.h"

#include "sim/model/family.h"
#include "sim/model/map_layers.h"

namespace sim {
namespace {

constexpr Key kMaps[] = {
    {"num_channels", Part::Maps},
    {"hidden_act", &ModelConfig::activation},
};

void describe_maps(ModelConfig& config, ConvolutionKind kind) {
  config.convolution = ConvolutionForm{.kind = kind};
  config.activation = Activation::Relu;
  config.heads = config.kv_heads = config.hidden = config.head_dim = config.ffn = 1;
  config.max_positions = 1;
}

// A sample is one token, and blocks are all layers but the first and the last.
void complete_maps(ModelConfig& config) {
  const ConvolutionForm& form = *config.convolution;
  const bool is_staged = form.kind == ConvolutionKind::Residual || form.kind == ConvolutionKind::Regular;
  if (is_staged && form.widths.empty()) return;  // told
  if (form.depth > 0 || is_staged) config.layers = static_cast<std::int64_t>(map_layers(form, config.vocabulary).size()) - 2;
}

constexpr Family kMapFamilies[] = {
    {.name = "resnet",
     .keys = kMaps,
     .describe = [](ModelConfig& config) { describe_maps(config, ConvolutionKind::Residual); },
     .complete = complete_maps},
    {.name = "regnet",
     .keys = kMaps,
     .describe = [](ModelConfig& config) { describe_maps(config, ConvolutionKind::Regular); },
     .complete = complete_maps},
    {.name = "amoebanet",
     .keys = kMaps,
     .describe = [](ModelConfig& config) { describe_maps(config, ConvolutionKind::Cells); },
     .complete = complete_maps},
    {.name = "unet",
     .keys = kMaps,
     .describe = [](ModelConfig& config) { describe_maps(config, ConvolutionKind::UShaped); },
     .complete = complete_maps},
};

}  // namespace

ModelConfig convolutional_model(const std::string& family, const ConvolutionForm& form, std::int64_t classes) {
  ModelConfig model;
  model.model_type = family;
  describe_maps(model, form.kind);
  model.convolution = form;
  model.vocabulary = classes;
  complete_maps(model);
  return model;
}

std::span<const Family> map_families() { return kMapFamilies; }

}  // namespace sim
