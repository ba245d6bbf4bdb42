// Convolutions as implicit matrix products; declared in kernel_clock.h. Constants: 188 points of DeepBench on V100 (Baidu
// Research) and the ResNet-50 rows of profiles/published/rows.json; those of groups: the ResNeXt rows of profiles/published/checks.json.
#include <algorithm>

#include "sim/estimate/kernel_clock.h"

namespace sim {
namespace {

constexpr double kWinograd = 2.3;  // fewer multiplications: 3x3, stride 1, fp32, wide enough
constexpr double kWinogradChannels = 32, kWinogradWeightChannels = 64;
constexpr double kSingle[] = {1.05, 1.0, 0.9};  // of a product's rate: forward, to the input, to the weights
constexpr double kTf32 = 0.5;                   // of the half-precision share: more shapes fall back to other kernels
constexpr double kBytes[] = {1.1, 1.2, 1.2};    // passes over inputs and outputs; lower for fp32, whose kernels are bound by arithmetic
constexpr double kDepthwiseBytes[] = {2.0, 3.5, 6.0};            // a channel a group: no kernel for it reuses much
constexpr double kGroupedHalf = 1.6;                             // times more in half precision, whose groups are padded and laid out again
constexpr double kGrouped = 0.13, kGroupedOnTensorCores = 0.34;  // of the fp32 peak: groups too narrow for tiles
constexpr double kDepthwise = 0.05;

int index_of(Gradient gradient) { return static_cast<int>(gradient); }

MatrixShape implicit_product(const Convolution& shape, double batch, Gradient gradient) {
  const double places = batch * shape.size * shape.size, inputs = shape.inputs / shape.groups, outputs = shape.outputs / shape.groups;
  switch (gradient) {
    case Gradient::Input: return {places, inputs, outputs * shape.area(), shape.groups};
    case Gradient::Weight: return {outputs, inputs * shape.area(), places, shape.groups};
    default: return {places, outputs, inputs * shape.area(), shape.groups};
  }
}

}  // namespace

// Of the rate of a product of that shape.
double KernelClock::convolution_gain(const Convolution& shape, Gradient gradient) const {
  const bool half = execution_.format != NumberFormat::Fp32 && execution_.format != NumberFormat::Tf32;
  if (half) return device_.kernels.convolution_share;
  if (execution_.format == NumberFormat::Tf32) return kTf32 * device_.kernels.convolution_share;
  const double narrow = std::min(shape.inputs, shape.outputs) / shape.groups;
  const bool winograd =
      shape.area() == 9 && shape.stride == 1 && narrow >= (gradient == Gradient::Weight ? kWinogradWeightChannels : kWinogradChannels);
  return winograd ? kWinograd : kSingle[index_of(gradient)];
}

double KernelClock::grouped_time(const Convolution& shape, double outputs) const {
  const double share = shape.groups == shape.inputs              ? kDepthwise
                       : execution_.format == NumberFormat::Fp32 ? kGrouped
                                                                 : kGroupedOnTensorCores;
  return 2 * outputs * shape.inputs / shape.groups * shape.area() / (device_.matrix_peak(NumberFormat::Fp32).value() * share);
}

Work KernelClock::convolution(const Convolution& shape, double batch, Gradient gradient) const {
  const double inputs = batch * shape.inputs * shape.size * shape.size * shape.stride * shape.stride,
               outputs = batch * shape.outputs * shape.size * shape.size;
  const bool depthwise = shape.groups > 1 && shape.groups == shape.inputs;
  const double single = depthwise ? kDepthwiseBytes[index_of(gradient)] : 1, half = depthwise ? single : kBytes[index_of(gradient)];
  const double passes = element() > 2 ? single : half * (shape.groups > 1 ? kGroupedHalf : 1);
  const Work moved = bytes((inputs + outputs) * element() * passes);
  const double compute = shape.groups > 1
                             ? grouped_time(shape, outputs)
                             : tile_time(implicit_product(shape, batch, gradient), execution_.format) / convolution_gain(shape, gradient);
  return {std::max(moved.device, compute + device_.profile.kernel_overhead.count()), 1};
}

}  // namespace sim
