#include "sim/model/map_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "sim/model/segment_builder.h"

namespace sim {

void MapWriter::add(OperatorKind kind, const char* name, const MapSize& out, const FilterShape& filter) {
  Operator op{.kind = kind, .name = name, .inputs = map_.channels, .outputs = out.channels};
  op.map = {.read = map_.places(),
            .places = out.places(),
            .height = filter.height,
            .width = filter.width,
            .stride = filter.stride,
            .groups = filter.groups};
  op.map.of_images = layers_.empty() && operators_.empty();
  operators_.push_back(std::move(op));
  map_ = out;
}

void MapWriter::over(OperatorKind kind, const char* name) { add(kind, name, map_); }

void MapWriter::add_parameter(Parameter parameter) {
  parameter.name = fmt::format("layers.{}.{}.{}", layers_.size(), operators_.size(), parameter.name);
  parameter.row_blocks = {parameter.rows};
  parameters_.push_back(std::move(parameter));
}

// Drawn as He et al. 2015 do.
void MapWriter::add_matrix(std::int64_t inputs, FilterShape filter) {
  const std::int64_t columns = inputs / filter.groups * filter.height * filter.width;
  add_parameter({.name = "weight",
                 .rows = map_.channels,
                 .columns = columns,
                 .row_blocks = {},
                 .deviation = std::sqrt(2.0 / static_cast<double>(columns))});
}

void MapWriter::add_vector(const char* name, InitialValue initial) {
  add_parameter({.name = name, .rows = map_.channels, .row_blocks = {}, .initial = initial, .weight_decay = false});
}

void MapWriter::convolve(std::int64_t outputs, const FilterShape& filter, bool bias) {
  const std::int64_t inputs = map_.channels, size = (map_.size + filter.stride - 1) / filter.stride;
  add(OperatorKind::Convolution, "convolution", {outputs, size}, filter);
  operators_.back().bias = bias;
  add_matrix(inputs, filter);
  if (bias) add_vector("bias", InitialValue::Zeros);
}

void MapWriter::norm() {
  over(OperatorKind::BatchNorm, "batch_norm");
  add_vector("weight", InitialValue::Ones);
  add_vector("bias", InitialValue::Zeros);
}

void MapWriter::norm_kept() {
  norm();
  operators_.back().map.kept = true;
}

void MapWriter::concatenate(std::int64_t channels) {
  restart({channels, map_.size});
  over(OperatorKind::Concatenation, "concatenation");
}

void MapWriter::pool(std::int64_t stride) {
  add(OperatorKind::Pooling, "pooling", {map_.channels, (map_.size + stride - 1) / stride}, {.stride = stride});
}

void MapWriter::average() { add(OperatorKind::Averaging, "averaging", {map_.channels, 1}); }

void MapWriter::upsample() { add(OperatorKind::Upsampling, "upsampling", {map_.channels, 2 * map_.size}); }

void MapWriter::squeeze(std::int64_t reduced) {
  const MapSize whole = map_;
  average();
  convolve(reduced, {}, true);
  activate();
  convolve(whole.channels, {}, true);
  activate();
  restart(whole);
  over(OperatorKind::ChannelScale, "channel_scale");
}

void MapWriter::close(Operation name, std::int64_t handed_on) {
  SegmentBuilder segment(name, {name});
  std::int32_t part = 0;
  for (Operator& op : std::exchange(operators_, {})) {
    const bool meets = op.kind == OperatorKind::BatchNorm;  // between its moments and what is made of them
    const std::int64_t channels = op.outputs;
    if (meets) op.spans = 2;
    segment.add(part, std::move(op));
    if (!meets) continue;
    segment.then({.axis = SplitAxis::Data, .meeting = Meeting::Statistic, .width = channels}, {.name = Operation::BatchNorm});
    ++part;
  }
  Layer layer;
  layer.segments.push_back(std::move(segment).finish());
  layer.parameters = std::exchange(parameters_, {});
  layer.handed_on = handed_on;
  layers_.push_back(std::move(layer));
}

void MapWriter::cut(std::int64_t handed_on) {
  bool convolves = false;
  for (const Operator& op : operators_) convolves |= op.kind == OperatorKind::Convolution;
  close(convolves ? Operation::Convolution : Operation::Pointwise, handed_on);
}

// Of a sample: a class, or a number at every place.
std::vector<Layer> MapWriter::finish_with_loss(std::int64_t logits) && {
  operators_.push_back({.kind = OperatorKind::CrossEntropy, .name = "cross_entropy", .inputs = logits, .outputs = 1});
  close(Operation::Head, 0);
  return std::move(layers_);
}

}  // namespace sim
