// How a run makes its kernels: formats, and what is fused.
#pragma once

#include <cstdint>

#include "sim/cluster/scale_recipe.h"
#include "sim/cluster/software_stack.h"

namespace sim {

constexpr double real(std::int64_t count) { return static_cast<double>(count); }  // sizes meet rates as real numbers

enum class NumberFormat : std::uint8_t { Fp64, Fp32, Tf32, Fp16, Bf16, Fp8, Fp4 };
constexpr bool is_scaled(NumberFormat format) { return format >= NumberFormat::Fp8; }
constexpr NumberFormat unscaled(NumberFormat format) {
  return is_scaled(format) ? NumberFormat::Bf16 : format;
}  // of what stays out of 8 bit
constexpr bool is_whole(NumberFormat format) { return format <= NumberFormat::Fp32; }  // no matrix unit multiplies it

struct KernelSetting {
  NumberFormat format = NumberFormat::Bf16;
  ScaleRecipe scales = ScaleRecipe::Delayed;
  AttentionKernel attention = AttentionKernel::Flash2;
  bool fused_norm = true, fused_loss = false, compiled = false;
  bool autocast = false;         // the stream of residuals is fp32, and what leaves it for a product is cast
  double accumulate_bytes = 4;   // of one gradient element
  double moments = 2;            // numbers that the optimizer keeps of a parameter
  bool has_trust_ratio = false;  // LAMB: norms of weights and updates, layer by layer
};

KernelSetting usual_setting(const SoftwareStack& stack);  // how a program makes kernels where nothing else is said

}  // namespace sim
