#include "sim/estimate/convolutional_step.h"

#include <algorithm>
#include <numeric>

#include "sim/clock/kernel_clock.h"
#include "sim/clock/link_clock.h"
#include "sim/clock/spread.h"
#include "sim/estimate/convolution_layers.h"
#include "sim/estimate/pipeline_replay.h"

namespace sim {
namespace {

constexpr double kGibibyte = 1073741824.0;

ConvolutionalNetwork network_of(const RunDescription& run, const SoftwareStack& stack) {
  const bool fused = stack.fused_residual || stack.compiled;
  return make_convolutional(run.network.architecture, {run.network.image}, fused ? Pointwise::Fused : Pointwise::Separate);
}

// Units of each stage: as stated, else by equal arithmetic.
std::vector<std::int64_t> stage_sizes(const ConvolutionalNetwork& net, const Layout& layout) {
  const auto units = static_cast<std::int64_t>(net.size());
  if (layout.balance.size() == static_cast<std::size_t>(layout.pipeline) &&
      std::accumulate(layout.balance.begin(), layout.balance.end(), std::int64_t{0}) == units)
    return layout.balance;
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(layout.pipeline), 0);
  const auto work = [](const ConvolutionalUnit& unit) {
    double sum = 0;
    for (const Convolution& convolution : unit.convolutions) sum += convolution.weights() * convolution.size * convolution.size;
    return sum;
  };
  double total = 0, done = 0;
  for (const ConvolutionalUnit& unit : net) total += work(unit);
  for (const ConvolutionalUnit& unit : net) {
    const auto stage = static_cast<std::size_t>(std::min(done / total, 0.999999) * static_cast<double>(sizes.size()));
    ++sizes[stage];
    done += work(unit);
  }
  return sizes;
}

struct StageSum {
  Work forward, backward;
  double weights = 0, largest = 0, kept = 0, passed = 0;  // largest: weights of one convolution
};

StageSum stage_sum(const KernelClock& clock, std::span<const ConvolutionalUnit> units, double batch) {
  StageSum sum;
  for (const ConvolutionalUnit& unit : units) {
    for (const Convolution& convolution : unit.convolutions) {
      sum.forward += clock.convolution(convolution, batch, Gradient::None);
      sum.largest = std::max(sum.largest, convolution.weights());
      sum.backward += clock.convolution(convolution, batch, Gradient::Input) + clock.convolution(convolution, batch, Gradient::Weight);
    }
    sum.forward += clock.bytes(batch * unit.forward * clock.element(), unit.kernels);
    sum.backward += clock.bytes(batch * unit.backward * clock.element(), 1.5 * unit.kernels);
    sum.weights += unit.weights();
    sum.kept += unit.kept;
    sum.passed = unit.passed;
  }
  return sum;
}

std::vector<StageSum> stage_sums(const RunDescription& run, const Setting& setting) {
  const KernelClock clock(setting.device, setting.stack, run.execution);
  const ConvolutionalNetwork net = network_of(run, setting.stack);
  std::vector<StageSum> sums;
  std::size_t first = 0;
  for (const std::int64_t size : stage_sizes(net, run.layout)) {
    const auto count = static_cast<std::size_t>(size);
    sums.push_back(stage_sum(clock, std::span(net).subspan(first, count), real(run.layout.micro_batch)));
    first += count;
  }
  return sums;
}

double recomputed_share(const RunDescription& run) {  // of the microbatches
  if (run.execution.recompute != RecomputeKind::Full) return 0;
  return run.execution.recompute_keeps_last ? 1 - 1 / real(run.layout.microbatches) : 1;
}

// Passes of a stage, with what the host cannot issue in time.
StageTimes pass_times(const RunDescription& run, const KernelClock& clock, const StageSum& sum) {
  const bool repacks =
      run.execution.format != NumberFormat::Fp32 && run.execution.format != NumberFormat::Tf32 && !run.execution.channels_last;
  const double slowest = slowest_device(real(run.machine.gpus), clock.behavior());
  const auto time = [&](const Work& work) {
    return std::max(slowest * work.device * (repacks ? clock.behavior().repacked : 1), clock.host_time(work));
  };
  const double forward = time(sum.forward);
  return {Seconds(forward), Seconds(time(sum.backward) + recomputed_share(run) * forward), Seconds(0)};
}

double pipeline_time(const RunDescription& run, const Setting& setting, const std::vector<StageSum>& sums) {
  const KernelClock clock(setting.device, setting.stack, run.execution);
  const LinkClock links(setting.device, setting.stack, run.machine);
  PipelineRun pipeline{.shape = {.stages = static_cast<std::int32_t>(sums.size()),
                                 .microbatches = static_cast<std::int32_t>(run.layout.microbatches),
                                 .chunks = 1},
                       .schedule = run.layout.schedule,
                       .chunks = {},
                       .transfer = {}};
  double passed = 0;
  for (const StageSum& sum : sums) {
    pipeline.chunks.push_back(pass_times(run, clock, sum));
    if (pipeline.chunks.size() < sums.size()) passed = std::max(passed, sum.passed);
  }
  const StageTimes& first = pipeline.chunks.front();
  if (sums.size() == 1) return (first.forward + first.backward).count() * real(run.layout.microbatches);
  pipeline.transfer = Seconds(links.transfer(passed * real(run.layout.micro_batch) * clock.element(), {2, 1}));
  return replay(pipeline).count();
}

// Images decoded on the host, while the device computes; a node whose other GPUs are idle clocks higher.
double input_time(const RunDescription& run, const Setting& setting) {
  if (setting.stack.images_per_worker <= 0) return 0;
  const double rate = setting.stack.images_per_worker * setting.device.kernels.loader_workers *
                      (run.machine.gpus_per_node > 1 ? 1 : setting.device.behavior.lone_host_gain);
  return real(run.layout.global_batch) / real(run.layout.data) / rate;
}

}  // namespace

StepParts convolutional_parts(const RunDescription& run, const Setting& setting) {
  const std::vector<StageSum> sums = stage_sums(run, setting);
  const LinkClock links(setting.device, setting.stack, run.machine);
  const KernelClock clock(setting.device, setting.stack, run.execution);
  double weights = 0;
  for (const StageSum& sum : sums) weights = std::max(weights, sum.weights);
  StepParts parts;
  parts.pipeline = pipeline_time(run, setting, sums);
  const bool overlaps = run.layout.data > 1 && run.execution.overlap_reduce;
  if (overlaps) parts.pipeline *= 1 + setting.stack.overlap_slowdown;
  const double reduce = links.collective(CollectiveKind::AllReduce, weights * clock.element(), {real(run.layout.data), 1});
  parts.gradients = overlaps ? std::max(0.1 * reduce, reduce - 0.6 * parts.pipeline) : reduce;
  parts.optimizer = clock.bytes(weights * 24).device;
  parts.overhead = setting.stack.step_overhead.count();
  parts.overhead += std::max(0.0, input_time(run, setting) - parts.total());
  return parts;
}

namespace {

// What the optimizer keeps of a weight: squares, momentum, mean of the weights.
double kept_numbers(OptimizerKind optimizer, bool plain) {
  switch (optimizer) {
    case OptimizerKind::AdamW:
    case OptimizerKind::Lamb: return 2;
    case OptimizerKind::RmsProp: return plain ? 1 : 3;
    default: return plain ? 0 : 1;
  }
}

// Of a weight: itself and its gradient in fp32, what the optimizer keeps, and a copy in 16 bits to compute with.
double state_bytes(const Execution& execution, const SoftwareStack& stack) {
  const bool half = execution.format != NumberFormat::Fp32 && execution.format != NumberFormat::Tf32;
  return 4 + 4 + 4 * kept_numbers(execution.optimizer, stack.plain_optimizer) + (half ? 2 : 0);
}

}  // namespace

// States; a weight's gradient beside the sum over microbatches; inputs of all microbatches where the rest is recomputed, else all that is kept.
double convolutional_memory_gib(const RunDescription& run, const Setting& setting) {
  const KernelClock clock(setting.device, setting.stack, run.execution);
  const double batch = real(run.layout.micro_batch), element = clock.element(), microbatches = real(run.layout.microbatches);
  double most = 0, entering = real(run.network.channels * run.network.image * run.network.image);
  for (const StageSum& sum : stage_sums(run, setting)) {
    const double waiting =
        recomputed_share(run) > 0 ? entering * microbatches + sum.kept : sum.kept * (run.layout.pipeline > 1 ? microbatches : 1);
    const double states = sum.weights * state_bytes(run.execution, setting.stack) + (microbatches > 1 ? 4 * sum.largest : 0);
    most = std::max(most, states + waiting * batch * element);
    entering = sum.passed;
  }
  return most / kGibibyte + setting.stack.context_gib;
}

}  // namespace sim
