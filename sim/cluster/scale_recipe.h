// Products of numbers in 8 or 4 bits: where the scales beside them come from, which says the format, too.
//
//   delayed     fp8   one a tensor, from maxima of steps before           Micikevicius et al., FP8 Formats for Deep Learning, 2022; Transformer Engine
//   tensorwise  fp8   one a tensor, of itself: a pass before the cast      torchao Float8Linear; Megatron-LM --fp8-recipe tensorwise
//   rowwise     fp8   one a row                                            torchao recipe rowwise
//   mx          fp8   one for 32 elements, in the matrix unit              OCP Microscaling Formats, 2023
//   blockwise   fp8   one for 128 elements, 128 x 128 of a weight          DeepSeek-V3, 2024
//   nvfp4       fp4   one for 16 elements, and one a tensor                NVIDIA, Pretraining Large Language Models with NVFP4, 2025
#pragma once

#include <cstdint>
#include <string_view>

namespace sim {

enum class ScaleRecipe : std::uint8_t { Delayed, Tensorwise, Rowwise, Mx, Blockwise, Nvfp4 };
inline constexpr std::string_view kScaleRecipeNames[] = {"delayed", "tensorwise", "rowwise", "mx", "blockwise", "nvfp4"};

constexpr bool is_four_bit(ScaleRecipe recipe) { return recipe == ScaleRecipe::Nvfp4; }
// Of an operand's element with its scales, where these are not one for a row or more: a byte of 32 or 16.
constexpr double kept_bytes(ScaleRecipe recipe) {
  return recipe == ScaleRecipe::Nvfp4       ? 0.5 + 1.0 / 16
         : recipe == ScaleRecipe::Mx        ? 1 + 1.0 / 32
         : recipe == ScaleRecipe::Blockwise ? 1 + 4.0 / 128
                                            : 1;
}
// Of so few elements that the matrix unit must take them.
constexpr bool scales_in_unit(ScaleRecipe recipe) { return recipe == ScaleRecipe::Mx || recipe == ScaleRecipe::Nvfp4; }

}  // namespace sim
