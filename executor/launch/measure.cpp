#include "executor/launch/measure.h"

#include <ATen/ops/empty.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>

#include "executor/launch/measure_timer.h"
#include "sim/units/at.h"

namespace executor {
namespace {

// Of each sample the median over ranks, on every rank.
void merge_ranks(Communicator& world, std::vector<Sample>& samples) {
  const auto count = static_cast<std::int64_t>(samples.size());
  const at::Tensor own = at::empty({count}, at::kDouble), all = at::empty({world.size(), count}, at::kDouble);
  for (std::int64_t i = 0; i < count; ++i) own.data_ptr<double>()[i] = sim::at(samples, i).time.count();
  world.all_gather(all, own, {})->wait();
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<double> ranks;
    for (std::int32_t rank = 0; rank < world.size(); ++rank) ranks.push_back(all.data_ptr<double>()[rank * count + i]);
    std::sort(ranks.begin(), ranks.end());
    const std::size_t middle = ranks.size() / 2;
    sim::at(samples, i).time = sim::Seconds((ranks[middle] + ranks[(ranks.size() - 1) / 2]) / 2);
  }
}

// To four digits: no clock tells more.
sim::Seconds rounded(sim::Seconds time) {
  if (time.count() <= 0) return time;
  const double digit = std::pow(10.0, std::floor(std::log10(time.count())) - 3);
  return sim::Seconds(std::round(time.count() / digit) * digit);
}

void measure_all(KernelTimer& timer, const CallTimes& calls, std::vector<Sample>& samples) {
  measure_products(timer, calls, samples);
  measure_elementwise(timer, calls, samples);
  measure_flat(timer, samples);
  measure_collectives(timer, samples);
}

}  // namespace

const MeasuredShapes& measured_shapes(c10::Device device) {
  static const MeasuredShapes cpu{.tokens = {64, 256, 1024, 4096},
                                  .widths = {64, 128, 256, 512, 1024, 2048},
                                  .coarse_tokens = {64, 512},
                                  .coarse_widths = {64, 256, 1024},
                                  .sequences = {64, 128, 256, 512, 1024},
                                  .head_dims = {32, 64, 128},
                                  .coarse_sequences = {64, 256},
                                  .coarse_head_dims = {32, 128},
                                  .batches_heads = {{1, 2}, {2, 4}, {8, 4}}};
  static const MeasuredShapes gpu{.tokens = {256, 1024, 4096, 16384},
                                  .widths = {256, 512, 768, 1024, 1600, 2048, 4096, 8192},
                                  .coarse_tokens = {1024, 8192},
                                  .coarse_widths = {768, 2048, 4096},
                                  .sequences = {256, 512, 1024, 2048, 4096},
                                  .head_dims = {64, 128},
                                  .coarse_sequences = {512, 2048},
                                  .coarse_head_dims = {64, 128},
                                  .batches_heads = {{1, 16}, {4, 16}, {8, 32}},
                                  .factor = 8};
  return device.is_cpu() ? cpu : gpu;
}

sim::DeviceMesh measuring_mesh(std::int32_t ranks) {
  const bool in_pairs = ranks > 2 && ranks % 2 == 0;
  return {.data = in_pairs ? ranks / 2 : ranks, .pipeline = 1, .tensor = in_pairs ? 2 : 1};
}

std::vector<sim::MeasuredKernel> measure_kernels(KernelTimer& timer, const CallTimes& calls) {
  const c10::AutoGradMode do_not_record(false);
  std::vector<Sample> samples{{sim::Kernel::OperatorCall, {}, calls.recorded}, {sim::Kernel::AutogradCall, {}, calls.backward}};
  if (timer.options().told) {
    KernelTimer counting(timer.mesh(), timer.options(), KernelTimer::Pass::Counts);
    std::vector<Sample> none;
    measure_all(counting, calls, none);
    timer.expect(timer.timed() + counting.timed());
  }
  measure_all(timer, calls, samples);
  MeshCommunicators& mesh = timer.mesh();
  merge_ranks(mesh.of(sim::MeshAxis::World), samples);
  mesh.take_ledger();
  std::vector<sim::MeasuredKernel> measured;
  for (const Sample& sample : samples) {
    measured.push_back({.kernel = sample.kernel,
                        .precision = sample.precision,
                        .concurrent_ranks = mesh.mesh().ranks(),
                        .shape = sample.shape,
                        .time = rounded(sample.time)});
  }
  return measured;
}

std::vector<sim::MeasuredKernel> measure_kernels(MeshCommunicators& mesh, const MeasureOptions& options) {
  KernelTimer timer(mesh, options);
  return measure_kernels(timer, time_calls(timer));
}

}  // namespace executor
