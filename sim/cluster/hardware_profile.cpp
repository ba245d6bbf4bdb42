#include "sim/cluster/hardware_profile.h"

#include <fmt/format.h>

#include "sim/units/at.h"

namespace sim {

std::string why_not_scaled(const HardwareProfile& profile, ScaleRecipe recipe) {
  if (profile.kind == DeviceKind::Cpu && !is_four_bit(recipe)) return {};  // rounded to 8 bit, and multiplied as wider numbers are
  if (!profile.measured.empty()) return fmt::format("{} has measured kernels, none of which is in 8 bit", profile.name);
  const KernelTraits traits = profile.kernels.value_or(KernelTraits{});
  const bool in_four = is_four_bit(recipe), has_rate = (in_four ? traits.fp4_peak : traits.fp8_peak).value() > 0;
  if (!has_rate) return fmt::format("{} has no {} rate", profile.name, in_four ? "fp4" : "fp8");
  if (scales_in_unit(recipe) && traits.fp4_peak.value() <= 0)
    return fmt::format("{} has no matrix unit that takes {} scales", profile.name, sim::at(kScaleRecipeNames, recipe));
  return {};
}

Bytes bytes_per_element(Precision precision) {
  switch (precision) {
    case Precision::Fp64: return Bytes(8);
    case Precision::Fp32:
    case Precision::Tf32: return Bytes(4);  // TF32 is how products are computed; the numbers are stored as fp32
    case Precision::Bf16:
    case Precision::Fp16: return Bytes(2);
  }
  return Bytes(0);
}

std::size_t shape_size(Kernel kernel) {
  switch (kernel) {
    case Kernel::LinearForward:
    case Kernel::LinearInputGradient:
    case Kernel::LinearWeightGradient: return 3;
    case Kernel::AttentionForward:
    case Kernel::AttentionBackward: return 4;
    case Kernel::StateSpaceForward:
    case Kernel::StateSpaceBackward:
    case Kernel::DeltaRuleForward:
    case Kernel::DeltaRuleBackward:
    case Kernel::ChannelDeltaForward:
    case Kernel::ChannelDeltaBackward:
    case Kernel::SelectiveScanForward:
    case Kernel::SelectiveScanBackward:
    case Kernel::SparseForward:
    case Kernel::SparseBackward: return 6;
    case Kernel::IndexerForward:
    case Kernel::IndexerBackward: return 5;
    case Kernel::AdamW:
    case Kernel::Sgd:
    case Kernel::SquaredNorm:
    case Kernel::Copy: return 1;
    case Kernel::OperatorCall:
    case Kernel::AutogradCall: return 0;
    default: return 2;  // tokens and a width; payload and ranks
  }
}

}  // namespace sim
