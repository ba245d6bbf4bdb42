// Images as tokens (ViT, Dosovitskiy et al. 2021): a product makes a token of each square of an image, and learned ones stand in front of them: of the
// class, of what a teacher says (DeiT, Touvron et al. 2021), or none (I-JEPA); and registers, which have no positions (Darcet et al. 2024).
#pragma once

#include <cstdint>

namespace sim {

struct PatchForm {
  std::int64_t image = 224, patch = 16, channels = 3;  // sides in pixels
  std::int64_t leading = 1, registers = 0;             // learned tokens: with positions, without
  bool reads_mean = false;                             // the head reads the mean of the patches beside the first token (DINOv2, 2023)
  std::int64_t placed() const { return patch > 0 ? (image / patch) * (image / patch) + leading : 0; }  // tokens with positions
  std::int64_t tokens() const { return patch > 0 ? placed() + registers : 0; }                         // of a sample
  std::int64_t width() const { return channels * patch * patch; }                                      // numbers of a patch
  bool operator==(const PatchForm&) const = default;
};

}  // namespace sim
