#include "sim/estimate/convolutional_step.h"

#include <algorithm>

#include "sim/estimate/convolution_layers.h"
#include "sim/estimate/kernel_clock.h"
#include "sim/estimate/link_clock.h"

namespace sim {
namespace {

constexpr double kTensorCoreChannels = 32;   // of a group: fewer leave tensor cores idle
constexpr double kSingleConvolution = 1.0;   // in fp32: fewer multiplications (Winograd) make up for what is lost
constexpr double kUnfusedPointwise = 1.6;    // norm, activation and sum as kernels of their own
constexpr double kTf32Convolution = 0.7;     // of the share in 16 bit: more shapes fall back to other units
constexpr double kRepacked = 1.25;           // NCHW on tensor cores goes through another layout

struct Totals { double time = 0, weights = 0, outputs = 0; };   // time: of one microbatch, forward and backward

bool uses_tensor_cores(NumberFormat format) { return format != NumberFormat::Fp32; }

Totals totals(const RunDescription& run, const Setting& setting) {
  const KernelClock clock(setting.device, setting.stack, run.execution);
  const ConvolutionalNetwork net = make_convolutional(run.network.architecture, run.network.image);
  const double batch = static_cast<double>(run.layout.micro_batch), element = clock.element();
  const double share = uses_tensor_cores(run.execution.format) ? setting.device.kernels.convolution_share : kSingleConvolution;
  const double single = run.execution.format == NumberFormat::Tf32 ? kTf32Convolution : 1;
  const double rate =
      single * setting.device.matrix_peak(run.execution.format).value() * setting.device.matrix_share(run.execution.format) * share;
  const double pointwise = net.pointwise * (setting.stack.fused_residual ? 1 : kUnfusedPointwise);
  Totals sum;
  for (const Convolution& layer : net.layers) {
    const double outputs = batch * layer.size * layer.size * layer.outputs,
                 inputs = batch * layer.size * layer.size * layer.stride * layer.stride * layer.inputs;
    const double narrow = std::min(layer.inputs, layer.outputs) / layer.groups;
    const double filled = std::min(1.0, narrow / kTensorCoreChannels);
    const double flops = 2 * outputs * layer.inputs / layer.groups * layer.kernel_area();
    const double compute = 3 * flops / (rate * std::max(0.06, filled)), moved = 3 * (outputs + inputs) * element / clock.stream_rate();
    sum.time += std::max(compute, moved) + clock.bytes(outputs * element * 2 * pointwise, 6).device;
    sum.weights += layer.inputs / layer.groups * layer.outputs * layer.kernel_area();
    sum.outputs += outputs;
  }
  if (uses_tensor_cores(run.execution.format) && !run.execution.channels_last) sum.time *= kRepacked;
  sum.weights += net.classifier;
  return sum;
}

}  // namespace

StepParts convolutional_parts(const RunDescription& run, const Setting& setting) {
  Totals sum = totals(run, setting);
  const LinkClock links(setting.device, setting.stack, run.machine);
  const KernelClock clock(setting.device, setting.stack, run.execution);
  const double stages = static_cast<double>(run.layout.pipeline), microbatches = static_cast<double>(run.layout.microbatches);
  const double again =
      run.execution.recompute == RecomputeKind::Full ? 4.0 / 3 - (run.execution.recompute_keeps_last ? 1 / (3 * microbatches) : 0) : 1;
  StepParts parts;
  if (run.layout.data > 1 && run.execution.overlap_reduce) sum.time *= 1 + setting.stack.overlap_slowdown;
  parts.pipeline = sum.time * again / stages * (microbatches + stages - 1);
  const double reduce =
      links.collective(CollectiveKind::AllReduce, sum.weights * clock.element(), {static_cast<double>(run.layout.data), 1});
  parts.gradients = run.execution.overlap_reduce ? std::max(0.1 * reduce, reduce - 0.6 * sum.time) : reduce;
  parts.optimizer = clock.bytes(sum.weights / stages * 24).device;
  parts.overhead = setting.stack.step_overhead.count();
  return parts;
}

double convolutional_memory_gib(const RunDescription& run, const Setting& setting) {
  const Totals sum = totals(run, setting);
  const double element = KernelClock(setting.device, setting.stack, run.execution).element(),
               stages = static_cast<double>(run.layout.pipeline);
  const double kept = run.execution.recompute == RecomputeKind::Full ? 0.25 : 1;
  const double flights = run.layout.pipeline > 1 ? static_cast<double>(run.layout.microbatches) : 1;
  return (sum.weights * 16 + sum.outputs * element * 2 * kept * flights) / stages / 1073741824.0 + setting.stack.context_gib;
}

}  // namespace sim
