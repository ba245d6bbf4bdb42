// Convolutions as implicit matrix products; declared in kernel_clock.h. Constants: profiles/behavior.
#include <algorithm>

#include "sim/clock/kernel_clock.h"

namespace sim {
namespace {

constexpr double kWinogradChannels = 32, kWinogradWeightChannels = 64;  // of the narrower side

// One of three: forward, to the input, to the weights.
double of(Gradient gradient, double forward, double input, double weight) {
  return gradient == Gradient::None ? forward : gradient == Gradient::Input ? input : weight;
}

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
  const bool half = setting_.format > NumberFormat::Tf32;
  if (half) return device_.kernels.convolution_share;
  if (setting_.format == NumberFormat::Tf32) return behavior().convolution_tf32_share * device_.kernels.convolution_share;
  const double narrow = std::min(shape.inputs, shape.outputs) / shape.groups;
  const bool winograd =
      shape.area() == 9 && shape.stride == 1 && narrow >= (gradient == Gradient::Weight ? kWinogradWeightChannels : kWinogradChannels);
  if (winograd) return behavior().winograd_gain;
  return of(gradient, behavior().convolution_forward_share, behavior().convolution_input_share, behavior().convolution_weight_share);
}

double KernelClock::grouped_time(const Convolution& shape, double outputs) const {
  const double share = shape.groups == shape.inputs ? behavior().depthwise_share
                       : is_whole(setting_.format)  ? behavior().grouped_share
                                                    : behavior().grouped_tensor_share;
  return 2 * outputs * shape.inputs / shape.groups * shape.area() / (device_.matrix_peak(NumberFormat::Fp32).value() * share);
}

// Matrix units read maps whose channels come last: cuDNN turns others around in front of its kernel, and back behind it (NVIDIA, Convolutional Layers User's
// Guide, "Tensor Layouts In Memory"). Each of the two maps is read and written once. In wider formats other kernels run, and a depthwise one uses no matrix units.
Work KernelClock::turned_maps(double numbers) const {
  const bool turns = stack_.channels_first && setting_.format > NumberFormat::Tf32;
  return turns ? bytes(2 * numbers * element(), 2) : Work{};
}

Work KernelClock::convolution(const Convolution& shape, double batch, Gradient gradient) const {
  const double inputs = batch * shape.inputs * shape.size * shape.size * shape.stride * shape.stride,
               outputs = batch * shape.outputs * shape.size * shape.size;
  const bool depthwise = shape.groups > 1 && shape.groups == shape.inputs;
  const Behavior& b = behavior();
  const double deep = of(gradient, b.depthwise_forward_passes, b.depthwise_input_passes, b.depthwise_weight_passes);
  const double dense = of(gradient, b.convolution_forward_passes, b.convolution_input_passes, b.convolution_weight_passes);
  const double single = depthwise ? deep : 1, half = depthwise ? deep : dense;
  const double passes = element() > 2 ? single : half * (shape.groups > 1 ? b.grouped_half_passes : 1);
  const Work moved = bytes((inputs + outputs) * element() * passes);
  const double compute = shape.groups > 1
                             ? grouped_time(shape, outputs)
                             : tile_time(implicit_product(shape, batch, gradient), setting_.format) / convolution_gain(shape, gradient);
  const Work kernel{std::max(moved.device, compute + device_.profile.kernel_overhead.count()), 1};
  return depthwise ? kernel : kernel + turned_maps(inputs + outputs);
}

}  // namespace sim
