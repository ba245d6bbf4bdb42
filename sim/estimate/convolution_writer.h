// Writes a convolutional network operator by operator; knows the shape that flows through it. Used by convolution_layers only.
#pragma once

#include "sim/estimate/convolution_layers.h"

namespace sim {

struct FeatureMap {
  double channels = 0, size = 0;
  double elements() const { return channels * size * size; }
};
struct Moves {
  double forward = 0, backward = 0;
};  // elements through memory, in units of the map
struct Filter {
  double height = 1, width = 1, stride = 1, groups = 1;
};

class ConvolutionWriter {
 public:
  ConvolutionWriter(FeatureMap image, Pointwise pointwise) : map_(image), fused_(pointwise == Pointwise::Fused) {}

  void convolve(double outputs, Filter filter = {});
  void norm();
  void activate();  // keeps its output
  void keep();      // what flows here, too: its reader is not in place
  void swish();     // keeps its input, too
  void add();
  void pool(double stride);
  void squeeze();  // squeeze-and-excitation: means over the map, two small products, a scale
  void move(const Moves& moves);
  void restart(FeatureMap map) { map_ = map; }
  void cut();  // what comes next is a unit of its own
  const FeatureMap& map() const { return map_; }
  ConvolutionalNetwork take();

 private:
  FeatureMap map_;
  bool fused_;
  ConvolutionalUnit unit_;
  ConvolutionalNetwork network_;
};

}  // namespace sim
