#include "sim/clock/device.h"

#include <algorithm>

#include "sim/units/at.h"

namespace sim {
namespace {

FlopsPerSecond peak_of(const HardwareProfile& profile, Precision precision) { return sim::at(profile.peak, precision); }

}  // namespace

FlopsPerSecond Device::matrix_peak(NumberFormat format) const {
  const FlopsPerSecond single = peak_of(profile, Precision::Fp32);
  const FlopsPerSecond bf16 = peak_of(profile, Precision::Bf16), fp16 = peak_of(profile, Precision::Fp16);
  switch (format) {
    case NumberFormat::Fp64: return peak_of(profile, Precision::Fp64);
    case NumberFormat::Fp32: return single;
    case NumberFormat::Tf32: return std::max(peak_of(profile, Precision::Tf32), single);
    case NumberFormat::Fp8: return kernels.fp8_peak;  // zero: the part has none, and why_not_scaled() says so before it is priced
    case NumberFormat::Fp4: return kernels.fp4_peak;
    case NumberFormat::Bf16: return std::max(bf16 > FlopsPerSecond{} ? bf16 : fp16, single);
    default: return std::max(fp16 > FlopsPerSecond{} ? fp16 : bf16, single);
  }
}

FlopsPerSecond Device::half_peak() const { return std::max(matrix_peak(NumberFormat::Bf16), matrix_peak(NumberFormat::Fp16)); }

double Device::matrix_share(NumberFormat format, bool newer_libraries) const {
  if (format == NumberFormat::Fp4 && kernels.fp4_share > 0) return kernels.fp4_share;
  if (is_scaled(format)) return kernels.fp8_share;
  if (is_whole(format)) return kernels.single_share;
  return newer_libraries && kernels.newer_matrix_share > 0 ? kernels.newer_matrix_share : kernels.matrix_share;
}

Device load_device(const std::string& path_or_name) { return Device(load_hardware_profile(path_or_name)); }

KernelSetting usual_setting(const SoftwareStack& stack) {
  return {.attention = attention_kernel(stack),
          .fused_norm = stack.fused_norm,
          .fused_loss = stack.fused_loss,
          .compiled = stack.compiled,
          .accumulate_bytes = stack.accumulate_bytes};
}

}  // namespace sim
