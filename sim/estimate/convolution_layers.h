// Convolutional networks as the units of their flattened nn.Sequential, from their published structure: convolutions, and the elements that
// norms, activations, sums and pools move beside them. Used by convolutional_step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/clock/kernel_clock.h"

namespace sim {

// A piece that a pipeline is cut between. Elements are of one sample.
struct ConvolutionalUnit {
  std::vector<Convolution> convolutions;
  double forward = 0, backward = 0;  // elements that pass through memory beside the convolutions
  double kept = 0;                   // until the backward
  double passed = 0;                 // to the next unit
  double kernels = 0;                // beside the convolutions, forward
  double weights() const;
};

enum class Pointwise : std::uint8_t { Separate, Fused };  // norm, activation and sum as kernels of their own, or one

using ConvolutionalNetwork = std::vector<ConvolutionalUnit>;

struct ImageSize {
  std::int64_t pixels = 224;
};  // height = width

// Throws InputError for an unknown architecture.
ConvolutionalNetwork make_convolutional(const std::string& architecture, ImageSize image, Pointwise pointwise);

}  // namespace sim
