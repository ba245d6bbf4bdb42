// What describes the machine as a whole: the numbers that a profile has beside its measured points.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <c10/core/GradMode.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>

#include "executor/kernels/device_memory.h"
#include "executor/launch/measure_timer.h"
#include "executor/launch/run_versions.h"
#include "sim/units/at.h"

namespace executor {
namespace {

// Ranks of one machine stay on it, however many: they share its cores.
constexpr std::int32_t kRanksPerMachine = 256;

std::string first_line_with(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(line.find_first_not_of(" \t", colon + 1));
  }
  return "unknown";
}

std::string source_text(std::int32_t ranks, c10::Device device) {
  if (!device.is_cpu())
    return fmt::format("meshwright measure, {} rank{} at once, on {}, LibTorch {}", ranks, ranks == 1 ? "" : "s", device_name(device),
                       TORCH_VERSION);
  return fmt::format("meshwright measure, {} rank{} at once, on {} ({} cores), LibTorch on CPU with one thread a rank, Open MPI", ranks,
                     ranks == 1 ? "" : "s", first_line_with("/proc/cpuinfo", "model name"), sysconf(_SC_NPROCESSORS_ONLN));
}

// Of the machine, or what this container may use of it.
sim::Bytes memory_size() {
  const std::int64_t physical = static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGE_SIZE);
  std::ifstream limit("/sys/fs/cgroup/memory.max");
  std::int64_t bytes = 0;
  return sim::Bytes(limit >> bytes && bytes > 0 ? std::min(bytes, physical) : physical);
}

sim::FlopsPerSecond product_rate(KernelTimer& timer, at::ScalarType type) {
  const std::int64_t side = timer.options().device.is_cpu() ? 768 : 8192;
  const at::Tensor square = at::randn({side, side}, timer.of(type));  // equal numbers flatter, as in measure_products.cpp
  return sim::Flops(2.0 * static_cast<double>(side * side * side)) / timer.time([&] { at::mm(square, square); });
}

// By the first product on a stream: what the allocator holds then and did not before.
sim::Bytes handle_workspace(const MeasureOptions& options) {
  const c10::impl::VirtualGuardImpl impl(options.device.type());
  const at::Tensor square = at::ones({16, 16}, options.of(at::kFloat));
  at::Tensor product = at::empty_like(square);
  const sim::Bytes before = device_memory(options.device).allocated;
  const c10::StreamGuard on(impl.getStreamFromGlobalPool(options.device));
  at::mm_out(product, square, square);
  return device_memory(options.device).allocated - before;
}

const sim::MeasuredKernel* largest_of(const std::vector<sim::MeasuredKernel>& measured, sim::Kernel kernel) {
  const sim::MeasuredKernel* largest = nullptr;
  for (const auto& point : measured) {
    if (point.kernel == kernel && (!largest || point.time > largest->time)) largest = &point;
  }
  return largest;
}

// Causal: half of the pairs of positions, two products of head_dim each.
double attention_efficiency(const sim::HardwareProfile& profile) {
  const auto* point = largest_of(profile.measured, sim::Kernel::AttentionForward);
  if (!point) return 1.0;
  const auto& shape = point->shape;
  const double flops =
      2.0 * static_cast<double>(shape[0] * shape[1]) * static_cast<double>(shape[2] * (shape[2] + 1)) * static_cast<double>(shape[3]);
  const auto rate = sim::Flops(flops) / point->time;
  return std::clamp(rate / sim::at(profile.peak, point->precision), 1e-3, 1.0);
}

// Of one rank alone no message can be timed: then what a copy through memory takes, which no message is faster than.
sim::LinkProfile shared_memory(const sim::HardwareProfile& profile) {
  sim::LinkProfile link{.type = "shared memory",
                        .latency = profile.kernel_overhead,
                        .bandwidth = sim::BytesPerSecond(profile.memory_bandwidth.value() / 2),
                        .peak_bandwidth = {}};
  const auto* longest = largest_of(profile.measured, sim::Kernel::SendReceive);
  for (const auto& point : profile.measured) {
    if (point.kernel == sim::Kernel::SendReceive && point.shape[0] == 256) link.latency = point.time;
  }
  if (longest && longest->time > link.latency) link.bandwidth = sim::Bytes(longest->shape[0]) / (longest->time - link.latency);
  return link;
}

}  // namespace

sim::BytesPerSecond copy_rate(KernelTimer& timer) {
  const std::int64_t elements = (std::int64_t{16} << 20) * measured_shapes(timer.options().device).factor;  // beyond the caches
  const at::Tensor from = at::randn({elements}, timer.of(at::kFloat)), to = at::randn({elements}, timer.of(at::kFloat));
  return sim::Bytes(2 * 4 * elements) / timer.time([&] { to.copy_(from); });
}

sim::HardwareProfile measure_machine(Transport transport, const MeasureOptions& options) {
  const c10::AutoGradMode do_not_record(false);
  const std::int32_t ranks = transport.place().size;
  MeshCommunicators mesh(measuring_mesh(ranks), std::move(transport));
  KernelTimer timer(mesh, options);
  const CallTimes calls = time_calls(timer);

  sim::HardwareProfile profile;
  const bool on_cpu = options.device.is_cpu();
  profile.name = "this-machine";
  profile.kind = on_cpu ? sim::DeviceKind::Cpu : sim::DeviceKind::Gpu;
  profile.source = source_text(ranks, options.device);
  profile.date = fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
  profile.memory = on_cpu ? memory_size() : device_memory(options.device).device_total;
  profile.memory_bandwidth = copy_rate(timer);
  sim::at(profile.peak, sim::Precision::Fp32) = product_rate(timer, at::kFloat);
  sim::at(profile.peak, sim::Precision::Fp64) = product_rate(timer, at::kDouble);
  sim::at(profile.peak, sim::Precision::Bf16) = product_rate(timer, at::kBFloat16);
  if (!on_cpu) sim::at(profile.peak, sim::Precision::Fp16) = product_rate(timer, at::kHalf);
  profile.kernel_overhead = calls.plain;
  if (!on_cpu) profile.handle_workspace = handle_workspace(options);
  profile.devices_per_node = on_cpu ? kRanksPerMachine : ranks;
  if (on_cpu) profile.cores_per_node = static_cast<std::int32_t>(sysconf(_SC_NPROCESSORS_ONLN));
  profile.overlaps_communication = !on_cpu;
  profile.measured = measure_kernels(timer, calls);
  profile.attention_efficiency = attention_efficiency(profile);
  profile.intra_node = shared_memory(profile);
  return profile;
}

}  // namespace executor
