#include "sim/estimate/convolution_writer.h"

#include <utility>

namespace sim {

double ConvolutionalUnit::weights() const {
  double sum = 0;
  for (const Convolution& convolution : convolutions) sum += convolution.weights();
  return sum;
}

void ConvolutionWriter::convolve(double outputs, Filter filter) {
  const double size = map_.size / filter.stride;
  unit_.convolutions.push_back({map_.channels, outputs, filter.height, filter.width, filter.stride, size, filter.groups});
  map_ = {outputs, size};
  unit_.kept += map_.elements();
}

void ConvolutionWriter::move(const Moves& moves) {
  unit_.forward += moves.forward * map_.elements();
  unit_.backward += moves.backward * map_.elements();
  unit_.kernels += 1;
}

void ConvolutionWriter::norm() { move({3, 5}); }  // read for the moments, read and written; backward two tensors twice, and the result

void ConvolutionWriter::activate() {
  if (!fused_) move({2, 3});
  unit_.kept += map_.elements();
}

void ConvolutionWriter::keep() { unit_.kept += map_.elements(); }

void ConvolutionWriter::swish() {
  move({2, 3});
  unit_.kept += 2 * map_.elements();
}

void ConvolutionWriter::add() { move(fused_ ? Moves{1, 1} : Moves{3, 3}); }

void ConvolutionWriter::pool(double stride) {
  move({1, stride > 1 ? 1.0 : 3.0});
  map_.size /= stride;
  move({2, 3});  // the result, with the places it came from
  unit_.kept += 2 * map_.elements();
}

void ConvolutionWriter::squeeze() {
  move({5, 13});  // mean, scale; backward both, and their sum
  unit_.kernels += 6;
  unit_.kept += map_.elements();
}

void ConvolutionWriter::cut() {
  unit_.passed = map_.elements();
  network_.push_back(std::exchange(unit_, {}));
}

ConvolutionalNetwork ConvolutionWriter::take() {
  if (!unit_.convolutions.empty() || unit_.kernels > 0) cut();
  return std::move(network_);
}

}  // namespace sim
