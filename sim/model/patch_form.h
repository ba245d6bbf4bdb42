// Images as tokens (ViT, Dosovitskiy et al. 2021): a product makes a token of each square of an image, and a learned one stands in front of them.
#pragma once

#include <cstdint>

namespace sim {

struct PatchForm {
  std::int64_t image = 224, patch = 16, channels = 3;                                            // sides in pixels
  std::int64_t tokens() const { return patch > 0 ? (image / patch) * (image / patch) + 1 : 0; }  // of a sample
  std::int64_t width() const { return channels * patch * patch; }                                // numbers of a patch
  bool operator==(const PatchForm&) const = default;
};

}  // namespace sim
