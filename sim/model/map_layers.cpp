#include "sim/model/map_layers.h"

#include <algorithm>
#include <cmath>

#include "sim/model/map_writer.h"

namespace sim {
namespace {

std::vector<Layer> classified(MapWriter net, std::int64_t classes) {
  net.convolve(classes, {}, true);
  return std::move(net).finish_with_loss(classes);
}

std::vector<Layer> averaged(MapWriter net, std::int64_t classes) {
  net.average();
  net.cut();
  net.cut();  // flatten
  return classified(std::move(net), classes);
}

struct BlockShape {
  std::int64_t outputs = 0, inner = 0, stride = 1, groups = 1;
  std::int64_t reduced = 0;  // of squeeze-and-excitation
};

// A child an operator, as torchgpipe flattens it: 11 of a bottleneck.
//
//   keep the input | convolution | norm | activation | ... | convolution | norm (Hu: squeeze) | sum with the input, projected | activation
//   RegNet squeezes behind the middle convolution
void block(MapWriter& net, const ConvolutionForm& form, const BlockShape& shape) {
  const MapSize before = net.map();
  const bool is_regular = form.kind == ConvolutionKind::Regular;
  net.cut();
  std::vector<FilterShape> filters{{}, {3, 3, shape.stride, shape.groups}, {}};
  if (form.strides_first) std::swap(filters[0].stride, filters[1].stride);
  if (!form.bottleneck) filters = {{3, 3, shape.stride}, {3, 3}};
  for (std::size_t at = 0; at < filters.size(); ++at) {
    const bool is_last = at + 1 == filters.size();
    net.convolve(is_last ? shape.outputs : shape.inner, filters[at]);
    net.cut();
    net.norm();
    if (is_last) break;
    net.cut();
    net.activate();
    if (shape.reduced > 0 && is_regular && at == 1) net.squeeze(shape.reduced);
    net.cut();
  }
  if (shape.reduced > 0 && !is_regular) net.squeeze(shape.reduced);
  net.cut();
  if (before.channels != shape.outputs || shape.stride != 1) {
    net.restart(before);
    net.convolve(shape.outputs, {1, 1, shape.stride});
    net.norm();
  }
  net.add();
  net.cut();
  net.activate();
  net.cut();
}

constexpr std::int64_t kReduction = 4;          // of a bottleneck's inner channels
constexpr std::int64_t kUsualGroupWidth = 64;   // with which a single group is that
constexpr std::int64_t kSqueezeReduction = 16;  // Hu et al. 2018, section 6.4

BlockShape shape_of(const ConvolutionForm& form, std::int64_t outputs, std::int64_t inputs) {
  BlockShape shape{.outputs = outputs, .inner = outputs};
  if (form.kind == ConvolutionKind::Regular) {
    shape.groups = std::max<std::int64_t>(1, outputs / form.width_per_group);
    if (form.squeeze) shape.reduced = static_cast<std::int64_t>(std::nearbyint(static_cast<double>(inputs) / 4));
    return shape;
  }
  if (form.bottleneck) shape.inner = outputs / kReduction * form.width_per_group / kUsualGroupWidth * form.groups;
  shape.groups = form.groups;
  if (form.squeeze) shape.reduced = outputs / kSqueezeReduction;
  return shape;
}

std::vector<Layer> staged(const ConvolutionForm& form, std::int64_t classes, MapWriter net) {
  const bool is_regular = form.kind == ConvolutionKind::Regular;
  net.convolve(form.stem, is_regular ? FilterShape{3, 3, 2} : FilterShape{7, 7, 2});
  net.cut();
  net.norm();
  net.cut();
  net.activate();
  net.cut();
  if (!is_regular) {
    net.pool(2);
    net.cut();
  }
  for (std::size_t stage = 0; stage < form.widths.size(); ++stage)
    for (std::int64_t at = 0; at < form.depths[stage]; ++at) {
      BlockShape shape = shape_of(form, form.widths[stage], net.map().channels);
      if (at == 0 && (stage > 0 || form.early_stride)) shape.stride = 2;
      block(net, form, shape);
    }
  return averaged(std::move(net), classes);
}

void activated_convolution(MapWriter& net, std::int64_t outputs, const FilterShape& filter = {}) {
  net.activate();
  net.convolve(outputs, filter);
  net.norm();
}

void crossed_convolution(MapWriter& net, std::int64_t channels) {  // 1x7 and 7x1 inside a bottleneck of a quarter
  activated_convolution(net, channels / 4);
  activated_convolution(net, channels / 4, {1, 7});
  activated_convolution(net, channels / 4, {7, 1});
  activated_convolution(net, channels);
}

struct CellInputs {
  MapSize last, before_last;
};

// The halves of a reduction that are convolutions; the pools read the whole map.
void reduce_map(MapWriter& net, std::int64_t channels) {
  const MapSize full = net.map();
  for (int at = 0; at < 3; ++at) {
    net.restart(full);
    net.pool(2);
  }
  net.restart(full);
  activated_convolution(net, channels / 4);
  activated_convolution(net, channels / 4, {3, 3, 2});
  activated_convolution(net, channels);
}

// Real et al. 2019, genotype of torchgpipe: five sums of two operators each, then a concatenation. It hands on its input, too.
CellInputs amoeba_cell(MapWriter& net, const CellInputs& inputs, std::int64_t channels, bool reduces) {
  net.restart(inputs.before_last);
  if (inputs.before_last.size > inputs.last.size)
    activated_convolution(net, channels, {1, 1, 2});
  else if (inputs.before_last.channels != channels)
    activated_convolution(net, channels);
  net.restart(inputs.last);
  activated_convolution(net, channels);
  if (reduces) reduce_map(net, channels);
  for (int at = 0; at < (reduces ? 1 : 2); ++at) crossed_convolution(net, channels);
  for (int at = 0; at < (reduces ? 1 : 3); ++at) activated_convolution(net, channels);
  for (int at = 0; at < (reduces ? 2 : 3); ++at) net.pool(1);
  for (int at = 0; at < 5; ++at) net.add();
  net.concatenate(channels * (reduces ? 3 : 4));
  net.cut(net.map().elements() + inputs.last.elements());
  return {net.map(), inputs.last};
}

// As torchgpipe builds it: stem of three, normal cells in three groups with a reduction between.
std::vector<Layer> of_cells(const ConvolutionForm& form, std::int64_t classes, MapWriter net) {
  constexpr std::int64_t kCellGroups = 3;
  std::int64_t channels = form.stem / 4;
  activated_convolution(net, channels, {3, 3, 2});
  net.cut();
  CellInputs inputs{net.map(), net.map()};
  const auto reduce = [&] { inputs = amoeba_cell(net, inputs, channels *= 2, true); };
  reduce();
  reduce();
  for (std::int64_t group = 0; group < kCellGroups; ++group) {
    if (group > 0) reduce();
    for (std::int64_t cell = 0; cell < form.depth / kCellGroups; ++cell) inputs = amoeba_cell(net, inputs, channels, false);
  }
  net.average();
  return classified(std::move(net), classes);
}

struct StackShape {
  std::int64_t middle = 0, last = 0, convolutions = 0;
};

void stacked(MapWriter& net, const StackShape& stack) {
  for (std::int64_t at = 1; at <= stack.convolutions; ++at) {
    net.convolve(at == stack.convolutions ? stack.last : stack.middle, {3, 3});
    net.cut();
    net.drop();  // of whole channels
    net.cut();
    net.norm_kept();
    net.cut();
    net.activate();
    net.cut();
  }
}

// As torchgpipe builds it: levels down, a bottleneck, levels up; a child an operator. What goes across is sent past the stages between, and not here.
std::vector<Layer> u_shaped(const ConvolutionForm& form, MapWriter net) {
  const auto width = [&](std::int64_t level) { return form.stem << level; };
  for (std::int64_t level = 0; level < form.depth; ++level) {
    stacked(net, {width(level), width(level), form.repeats});
    net.cut();  // put aside for the way up
    net.pool(2);
    net.cut();
  }
  stacked(net, {width(form.depth), width(form.depth - 1), form.repeats});
  for (std::int64_t level = form.depth - 1; level >= 0; --level) {
    net.upsample();
    net.cut();
    net.concatenate(width(level + 1));
    net.cut();
    stacked(net, {width(level) / 2, width(level) / 2, form.repeats});
  }
  net.convolve(1, {}, true);
  const std::int64_t places = net.map().places();
  return std::move(net).finish_with_loss(places);
}

}  // namespace

std::vector<Layer> map_layers(const ConvolutionForm& form, std::int64_t classes) {
  const MapWriter net({form.channels, form.image});
  switch (form.kind) {
    case ConvolutionKind::Cells: return of_cells(form, classes, net);
    case ConvolutionKind::UShaped: return u_shaped(form, net);
    default: return staged(form, classes, net);
  }
}

}  // namespace sim
