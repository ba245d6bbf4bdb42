// Convolutional networks as their configurations state them: what layers of maps (channels x size x size) are built from.
#pragma once

#include <cstdint>
#include <vector>

namespace sim {

// Residual: He et al. 2016, with groups Xie et al. 2017, with squeeze-and-excitation Hu et al. 2018. Regular: Radosavovic et al. 2020 (RegNet X, Y).
// Cells: AmoebaNet-D (Real et al. 2019). UShaped: Ronneberger et al. 2015.
enum class ConvolutionKind : std::uint8_t { Residual, Regular, Cells, UShaped };

struct ConvolutionForm {
  ConvolutionKind kind = ConvolutionKind::Residual;
  std::int64_t channels = 3, image = 224;            // of a sample: channels x image x image
  std::int64_t stem = 64;                            // channels behind the first convolution; Cells: filters; UShaped: base channels
  std::vector<std::int64_t> widths{}, depths{};      // Residual, Regular: by stage, channels that come out and blocks
  std::int64_t depth = 0;                            // Cells: normal cells; UShaped: levels
  std::int64_t repeats = 1;                          // UShaped: convolutions of a level
  std::int64_t groups = 1, width_per_group = 64;     // Residual: of the middle convolution; Regular: channels of a group
  bool bottleneck = true;                            // else two convolutions of 3 x 3
  bool squeeze = false;                              // scales channels by what their means say
  bool strides_first = false, early_stride = false;  // in the first stage; in a bottleneck's first convolution
  bool operator==(const ConvolutionForm&) const = default;
};

}  // namespace sim
