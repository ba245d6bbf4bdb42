// What becomes of one element under dropout: its mask is a function of a key and of the element's place, so that nothing is stored. Once, for the CPU's
// loop and the GPU's kernel.
#pragma once

#include <cstdint>

#include "executor/kernels/vector_target.h"
#include "sim/units/random_bits.h"

namespace executor {

struct DropoutDraw {
  std::uint64_t key = 0;
  const std::int64_t* key_there = nullptr;  // where it stands in device memory; null: `key` holds
  std::uint64_t first_element = 0;          // of the tensor in the global batch
  std::uint32_t threshold = 0;              // dropped are bits below it
  double scale = 1;                         // of what is kept
  // Of rows of `row` numbers these are `width` neighbours of each, the first of which is first_element; 0: all follow each other.
  std::uint64_t width = 0, row = 0;
};

// Where the number at `at` of those that are here stands in the global batch.
MESHWRIGHT_INLINE std::uint64_t element_at(const DropoutDraw& draw, std::uint64_t at) {
  return draw.first_element + (draw.width == 0 ? at : at / draw.width * draw.row + at % draw.width);
}

struct DropoutPlace {
  std::uint64_t key = 0, first_element = 0;
};
inline DropoutDraw dropout_draw(double probability, const DropoutPlace& place) {
  return {.key = place.key,
          .key_there = nullptr,
          .first_element = place.first_element,
          .threshold = static_cast<std::uint32_t>(probability * 0x1p32),
          .scale = 1.0 / (1.0 - probability)};
}

// Of two elements: those of number element / 2.
struct SharedBits {
  std::uint64_t both;
  MESHWRIGHT_INLINE std::uint32_t of(std::uint64_t element) const { return static_cast<std::uint32_t>(both >> (32 * (element & 1))); }
};

template <class Wide>
MESHWRIGHT_INLINE Wide kept_or_zero(Wide value, std::uint32_t bits, const DropoutDraw& draw) {
  return bits < draw.threshold ? Wide(0) : value * static_cast<Wide>(draw.scale);
}

}  // namespace executor
