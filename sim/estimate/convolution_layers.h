// Convolutional networks as rows of convolutions, from their published structure. Used by convolutional_step.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sim {

struct Convolution {
  double inputs = 0, outputs = 0, kernel = 1, stride = 1, size = 1;  // size: height = width of the output
  double groups = 1;
  double kernel_area() const { return kernel * kernel; }
};

struct ConvolutionalNetwork {
  std::vector<Convolution> layers;
  double pointwise = 2.5;      // reads and writes of each output beside the convolution (norm, activation, sum), in units of its size
  double classifier = 0;       // weights of the last linear layer
};

// Throws InputError for an unknown architecture. image: height = width.
ConvolutionalNetwork make_convolutional(const std::string& architecture, std::int64_t image);

}  // namespace sim
