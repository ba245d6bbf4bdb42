#include "sim/validation/known_networks.h"

#include <algorithm>
#include <cstdlib>

#include "sim/model/map_families.h"

namespace sim {
namespace {

constexpr std::int64_t kImageNetClasses = 1000;

// He et al. 2016 (table 1; the stride stands in the 3x3 convolution), Xie et al. 2017 (32 x 4d), Hu et al. 2018.
struct NamedResidual {
  std::string_view name;
  std::int64_t third_stage;
  std::int64_t groups = 1, width_per_group = 64;
  bool squeeze = false;
};
constexpr NamedResidual kResiduals[] = {
    {"resnet50", 6}, {"resnet101", 23}, {"resnext101-32x4d", 23, 32, 4}, {"se-resnext101-32x4d", 23, 32, 4, true}};

struct NamedSizes {
  std::int64_t first = 0, second = 0;
};  // the two numbers behind the colon of a name
NamedSizes sizes_of(const std::string& architecture) {
  const std::size_t comma = architecture.find(',');
  if (comma == std::string::npos) return {};
  return {std::atoll(architecture.c_str() + architecture.find(':') + 1), std::atoll(architecture.c_str() + comma + 1)};
}

}  // namespace

ModelConfig known_network(const std::string& architecture, ImageShape image) {
  ConvolutionForm form{.channels = image.channels, .image = image.pixels};
  const NamedSizes sizes = sizes_of(architecture);
  if (architecture.starts_with("amoebanet-d:")) {
    form.kind = ConvolutionKind::Cells;
    form.depth = sizes.first;
    form.stem = sizes.second;
    return convolutional_model("amoebanet", form, kImageNetClasses);
  }
  if (architecture.starts_with("unet:")) {
    form.kind = ConvolutionKind::UShaped;
    form.depth = 5;  // levels
    form.repeats = sizes.first;
    form.stem = sizes.second;
    return convolutional_model("unet", form, 1);
  }
  const auto named = std::ranges::find(kResiduals, architecture, &NamedResidual::name);
  if (named == std::end(kResiduals)) return {};
  form.widths = {256, 512, 1024, 2048};
  form.depths = {3, 4, named->third_stage, 3};
  form.groups = named->groups;
  form.width_per_group = named->width_per_group;
  form.squeeze = named->squeeze;
  return convolutional_model("resnet", form, kImageNetClasses);
}

}  // namespace sim
