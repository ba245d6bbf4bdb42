#include "sim/estimate/convolution_layers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sim/units/input_error.h"

namespace sim {
namespace {

struct Widening { double first = 0, second = 0; };   // the two numbers behind the colon of a name

Widening numbers_of(const std::string& architecture) {
  const std::size_t colon = architecture.find(':'), comma = architecture.find(',');
  if (colon == std::string::npos || comma == std::string::npos) return {};
  return {std::atof(architecture.c_str() + colon + 1), std::atof(architecture.c_str() + comma + 1)};
}

struct Bottlenecks { int depth[4]; double groups = 1, width = 64; bool squeeze = false; };

// He et al. 2016 with the stride in the 3x3 convolution; Xie et al. 2017 with groups.
ConvolutionalNetwork residual(const Bottlenecks& shape, double image) {
  ConvolutionalNetwork net;
  double size = image / 2, inputs = 64;
  net.layers.push_back({3, 64, 7, 2, size});
  size /= 2;
  for (int level = 0; level < 4; ++level) {
    const double outputs = 256 * std::pow(2, level), inner = shape.width * (shape.groups > 1 ? 2 : 1) * std::pow(2, level);
    for (int block = 0; block < shape.depth[level]; ++block) {
      const double before = size, stride = block == 0 && level > 0 ? 2 : 1;
      size /= stride;
      net.layers.push_back({inputs, inner, 1, 1, before});
      net.layers.push_back({inner, inner, 3, stride, size, shape.groups});
      net.layers.push_back({inner, outputs, 1, 1, size});
      if (block == 0) net.layers.push_back({inputs, outputs, 1, stride, size});
      inputs = outputs;
    }
  }
  if (shape.squeeze) net.pointwise += 1;
  net.classifier = inputs * 1000;
  return net;
}

struct Mobile { double expansion, outputs, repeats, stride, kernel; };
struct Scale { double width = 1, depth = 1; };

// Tan and Le 2019: inverted bottlenecks, scaled in width and depth.
ConvolutionalNetwork efficient(const Scale& scale, double image) {
  constexpr Mobile kBlocks[] = {{1, 16, 1, 1, 3},  {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3},
                                {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}};
  const auto round = [&](double width) { return std::max(8.0, std::floor(width * scale.width / 8 + 0.5) * 8); };
  ConvolutionalNetwork net;
  double size = image / 2, inputs = round(32);
  net.layers.push_back({3, inputs, 3, 2, size});
  for (const Mobile& block : kBlocks)
    for (int at = 0; at < static_cast<int>(std::ceil(block.repeats * scale.depth)); ++at) {
      const double stride = at == 0 ? block.stride : 1, inner = inputs * block.expansion;
      if (block.expansion > 1) net.layers.push_back({inputs, inner, 1, 1, size});
      size /= stride;
      net.layers.push_back({inner, inner, block.kernel, stride, size, inner});
      net.layers.push_back({inner, round(block.outputs), 1, 1, size});
      inputs = round(block.outputs);
    }
  net.layers.push_back({inputs, round(1280), 1, 1, size});
  net.pointwise = 4;
  net.classifier = round(1280) * 1000;
  return net;
}

// Real et al. 2019 as torchgpipe runs it: normal cells in three groups with a reduction between, bottlenecks of a quarter inside.
ConvolutionalNetwork amoeba(const Widening& shape, double image) {
  ConvolutionalNetwork net;
  double size = image / 8, filters = shape.second / 4;
  net.layers.push_back({3, filters, 3, 2, image / 2});
  for (int group = 0; group < 3; ++group) {
    filters = shape.second * std::pow(2, group);
    for (int cell = 0; cell < static_cast<int>(shape.first / 3) + 1; ++cell) {
      const double inner = filters / 4;
      for (int way = 0; way < 2; ++way) net.layers.push_back({filters * 3, filters, 1, 1, size});
      for (int op = 0; op < 3; ++op) {
        net.layers.push_back({filters, inner, 1, 1, size});
        net.layers.push_back({inner, inner, op == 0 ? 3.0 : 3.74, 1, size});
        net.layers.push_back({inner, filters, 1, 1, size});
      }
    }
    size /= 2;
  }
  net.pointwise = 4;
  net.classifier = filters * 4 * 1000;
  return net;
}

// Ronneberger et al. 2015: five levels down and up again, the upward ones see twice the channels.
ConvolutionalNetwork u_shaped(const Widening& shape, double image) {
  ConvolutionalNetwork net;
  for (int level = 0; level < 5; ++level) {
    const double width = shape.second * std::pow(2, level), size = image / std::pow(2, level);
    net.layers.push_back({level == 0 ? 3 : width / 2, width, 3, 1, size});
    for (int at = 1; at < static_cast<int>(shape.first) * (level == 4 ? 1 : 2); ++at) net.layers.push_back({width, width, 3, 1, size});
    if (level < 4) net.layers.push_back({2 * width, width, 3, 1, size});
  }
  return net;
}

}  // namespace

ConvolutionalNetwork make_convolutional(const std::string& architecture, std::int64_t image) {
  const auto size = static_cast<double>(image);
  if (architecture.starts_with("amoebanet-d:")) return amoeba(numbers_of(architecture), size);
  if (architecture.starts_with("unet:")) return u_shaped(numbers_of(architecture), size);
  if (architecture == "resnet50") return residual({{3, 4, 6, 3}}, size);
  if (architecture == "resnet101") return residual({{3, 4, 23, 3}}, size);
  if (architecture == "resnext101-32x4d") return residual({{3, 4, 23, 3}, 32}, size);
  if (architecture == "se-resnext101-32x4d") return residual({{3, 4, 23, 3}, 32, 64, true}, size);
  if (architecture.starts_with("efficientnet") && architecture.ends_with("b0")) return efficient({}, size);
  if (architecture.starts_with("efficientnet") && architecture.ends_with("b4")) return efficient({1.4, 1.8}, size);
  throw InputError(architecture,
                   {{"/workload/architecture", "is no convolutional network that is known here",
                     "use resnet50, resnet101, resnext101-32x4d, se-resnext101-32x4d, efficientnet-b0/b4, amoebanet-d:L,F or unet:C,B"}});
}

}  // namespace sim
