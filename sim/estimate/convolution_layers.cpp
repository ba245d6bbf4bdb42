#include "sim/estimate/convolution_layers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "sim/estimate/convolution_writer.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

constexpr double kClasses = 1000;

struct NamedSizes {
  double first = 0, second = 0;
};  // the two numbers behind the colon of a name

NamedSizes sizes_of(const std::string& architecture) {
  const std::size_t colon = architecture.find(':'), comma = architecture.find(',');
  if (colon == std::string::npos || comma == std::string::npos) return {};
  return {std::atof(architecture.c_str() + colon + 1), std::atof(architecture.c_str() + comma + 1)};
}

void classify(ConvolutionWriter& net) {
  net.move({1, 1});  // mean over the map
  net.cut();
  net.cut();  // flatten
  net.restart({net.map().channels, 1});
  net.convolve(kClasses);
}

struct Bottlenecks {
  int depth[4];
  double groups = 1;
  bool squeeze = false;
};

// He et al. 2016 with the stride in the 3x3 convolution; Xie et al. 2017 with groups; Hu et al. 2018 with squeeze-and-excitation.
// A unit an operator, as in torchgpipe: 11 of a block, 4 before, 3 behind.
void bottleneck(ConvolutionWriter& net, const Bottlenecks& shape, double inner, double stride) {
  const FeatureMap before = net.map();
  net.cut();  // keeps the input
  const Filter filters[] = {{}, {3, 3, stride, shape.groups}, {}};
  const double outputs[] = {inner, inner, shape.groups > 1 ? 2 * inner : 4 * inner};
  for (int at = 0; at < 3; ++at) {
    net.convolve(outputs[at], filters[at]);
    net.cut();
    net.norm();
    if (at == 2) break;
    net.cut();
    net.activate();
    net.cut();
  }
  if (shape.squeeze) net.squeeze();
  net.cut();
  const FeatureMap after = net.map();
  if (before.channels != after.channels) {
    net.restart(before);
    net.convolve(after.channels, {1, 1, stride});
    net.norm();
  }
  net.add();
  net.cut();
  net.activate();
  net.cut();
}

ConvolutionalNetwork residual(const Bottlenecks& shape, ConvolutionWriter net) {
  net.convolve(64, {7, 7, 2});
  net.cut();
  net.norm();
  net.cut();
  net.activate();
  net.cut();
  net.pool(2);
  net.cut();
  for (int level = 0; level < 4; ++level)
    for (int block = 0; block < shape.depth[level]; ++block)
      bottleneck(net, shape, (shape.groups > 1 ? 128 : 64) * std::pow(2, level), block == 0 && level > 0 ? 2 : 1);
  classify(net);
  return net.take();
}

struct Mobile {
  double expansion, outputs, repeats, stride, kernel;
};
struct Scale {
  double width = 1, depth = 1;
};

void inverted_bottleneck(ConvolutionWriter& net, const Mobile& block, const Filter& filter) {
  const FeatureMap before = net.map();
  const double inner = before.channels * block.expansion;
  if (block.expansion > 1) {
    net.convolve(inner);
    net.norm();
    net.swish();
  }
  net.convolve(inner, {filter.height, filter.width, filter.stride, inner});
  net.norm();
  net.swish();
  net.squeeze();
  net.convolve(block.outputs);
  net.norm();
  if (net.map().elements() == before.elements()) {
    net.move({2, 2});  // some samples skip the block
    net.add();
  }
  net.cut();
}

// Tan and Le 2019, scaled in width and depth.
ConvolutionalNetwork efficient(const Scale& scale, ConvolutionWriter net) {
  constexpr Mobile kBlocks[] = {{1, 16, 1, 1, 3},  {6, 24, 2, 2, 3},  {6, 40, 2, 2, 5}, {6, 80, 3, 2, 3},
                                {6, 112, 3, 1, 5}, {6, 192, 4, 2, 5}, {6, 320, 1, 1, 3}};
  const auto round = [&](double width) { return std::max(8.0, std::floor(width * scale.width / 8 + 0.5) * 8); };
  net.convolve(round(32), {3, 3, 2});
  net.norm();
  net.swish();
  for (Mobile block : kBlocks) {
    block.outputs = round(block.outputs);
    for (int at = 0; at < static_cast<int>(std::ceil(block.repeats * scale.depth)); ++at)
      inverted_bottleneck(net, block, {block.kernel, block.kernel, at == 0 ? block.stride : 1});
  }
  net.convolve(round(1280));
  net.norm();
  net.swish();
  classify(net);
  return net.take();
}

void activated_convolution(ConvolutionWriter& net, double outputs, Filter filter = {}) {
  net.activate();
  net.convolve(outputs, filter);
  net.norm();
}

void crossed_convolution(ConvolutionWriter& net, double channels) {  // 1x7 and 7x1 inside a bottleneck of a quarter
  activated_convolution(net, channels / 4);
  activated_convolution(net, channels / 4, {1, 7});
  activated_convolution(net, channels / 4, {7, 1});
  activated_convolution(net, channels);
}

struct CellInputs {
  FeatureMap last, before_last;
};

// Real et al. 2019, table of torchgpipe's genotype: five sums of two operators each, then a concatenation.
CellInputs amoeba_cell(ConvolutionWriter& net, const CellInputs& inputs, double channels, bool reduces) {
  net.restart(inputs.before_last);
  if (inputs.before_last.size > inputs.last.size)
    activated_convolution(net, channels, {1, 1, 2});
  else if (inputs.before_last.channels != channels)
    activated_convolution(net, channels);
  net.restart(inputs.last);
  activated_convolution(net, channels);
  const FeatureMap full = net.map(), half = {channels, full.size / 2};
  for (int at = 0; at < (reduces ? 3 : 0); ++at) {
    net.restart(full);
    net.pool(2);
  }
  if (reduces) {
    net.restart(full);
    activated_convolution(net, channels / 4);
    activated_convolution(net, channels / 4, {3, 3, 2});
    activated_convolution(net, channels);
  }
  const FeatureMap inner = reduces ? half : full;
  net.restart(inner);
  for (int at = 0; at < (reduces ? 1 : 2); ++at) crossed_convolution(net, channels);
  for (int at = 0; at < (reduces ? 1 : 3); ++at) activated_convolution(net, channels);
  for (int at = 0; at < (reduces ? 2 : 3); ++at) net.pool(1);
  for (int at = 0; at < 5; ++at) net.add();
  net.restart({channels * (reduces ? 3 : 4), inner.size});
  net.move({2, 2});
  net.cut();
  return {net.map(), inputs.last};
}

// As torchgpipe builds it: stem of three, normal cells in three groups with a reduction between.
ConvolutionalNetwork amoeba(const NamedSizes& shape, ConvolutionWriter net) {
  double channels = shape.second / 4;
  activated_convolution(net, channels, {3, 3, 2});
  net.cut();
  CellInputs inputs{net.map(), net.map()};
  const auto reduce = [&] { inputs = amoeba_cell(net, inputs, channels *= 2, true); };
  reduce();
  reduce();
  for (int group = 0; group < 3; ++group) {
    if (group > 0) reduce();
    for (int cell = 0; cell < static_cast<int>(shape.first / 3); ++cell) inputs = amoeba_cell(net, inputs, channels, false);
  }
  net.restart({net.map().channels, 1});
  net.convolve(kClasses);
  return net.take();
}

struct ConvolutionStack {
  double middle = 0, last = 0;
  int convolutions = 0;
};

void stacked(ConvolutionWriter& net, const ConvolutionStack& stack) {
  for (int at = 1; at <= stack.convolutions; ++at) {
    net.convolve(at == stack.convolutions ? stack.last : stack.middle, {3, 3});
    net.cut();
    net.move({2, 2});  // dropout of whole channels
    net.cut();
    net.norm();
    net.keep();  // the activation writes beside it
    net.cut();
    net.activate();
    net.cut();
  }
}

// Ronneberger et al. 2015 as torchgpipe builds it: five levels down, a bottleneck, five up; a unit an operator.
ConvolutionalNetwork u_shaped(const NamedSizes& shape, ConvolutionWriter net) {
  constexpr int kLevels = 5;
  const int count = static_cast<int>(shape.first);
  const auto width = [&](int level) { return shape.second * std::pow(2, level); };
  for (int level = 0; level < kLevels; ++level) {
    stacked(net, {width(level), width(level), count});
    net.cut();  // put aside for the way up
    net.pool(2);
    net.cut();
  }
  stacked(net, {width(kLevels), width(kLevels - 1), count});
  for (int level = kLevels - 1; level >= 0; --level) {
    net.restart({net.map().channels, net.map().size * 2});
    net.move({1.25, 1.25});  // to twice the size
    net.cut();
    net.restart({width(level + 1), net.map().size});
    net.move({2, 2});  // beside what came down
    net.cut();
    const double out = std::floor(width(level) / 2);
    stacked(net, {out, out, count});
  }
  net.convolve(1);
  return net.take();
}

}  // namespace

ConvolutionalNetwork make_convolutional(const std::string& architecture, ImageSize image, Pointwise pointwise) {
  const ConvolutionWriter net({3, static_cast<double>(image.pixels)}, pointwise);
  if (architecture.starts_with("amoebanet-d:")) return amoeba(sizes_of(architecture), net);
  if (architecture.starts_with("unet:")) return u_shaped(sizes_of(architecture), net);
  if (architecture == "resnet50") return residual({{3, 4, 6, 3}}, net);
  if (architecture == "resnet101") return residual({{3, 4, 23, 3}}, net);
  if (architecture == "resnext101-32x4d") return residual({{3, 4, 23, 3}, 32}, net);
  if (architecture == "se-resnext101-32x4d") return residual({{3, 4, 23, 3}, 32, true}, net);
  if (architecture.starts_with("efficientnet") && architecture.ends_with("b0")) return efficient({}, net);
  if (architecture.starts_with("efficientnet") && architecture.ends_with("b4")) return efficient({1.4, 1.8}, net);
  throw InputError(architecture,
                   {{"/workload/architecture", "is no convolutional network that is known here",
                     "use resnet50, resnet101, resnext101-32x4d, se-resnext101-32x4d, efficientnet-b0/b4, amoebanet-d:L,F or unet:C,B"}});
}

}  // namespace sim
