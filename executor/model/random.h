// Counter-based random numbers (sim/units/random_bits.h): keys made from the run's seed and labels, and numbers of other kinds. Used for
// initial weights, dropout masks and the sample order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "sim/units/random_bits.h"

namespace executor {

using sim::mix_bits;
using sim::random_bits;
using sim::RandomKey;

// The key of a purpose: labels in a fixed order (seed, what for, step, ...). Different lists give unrelated keys.
constexpr RandomKey random_key(std::initializer_list<std::uint64_t> labels) {
  RandomKey key{0x6d65736877726967ULL};
  for (const std::uint64_t label : labels) key.value = mix_bits(random_bits(key, label) ^ 0xd1b54a32d192ed03ULL);
  return key;
}

// A name as a label (FNV-1a).
constexpr std::uint64_t label_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char character : name) hash = (hash ^ static_cast<unsigned char>(character)) * 0x100000001b3ULL;
  return hash;
}

// In (0, 1), both ends left out: its logarithm exists.
constexpr double to_unit_interval(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52; }

// Normal numbers with mean 0 and deviation 1 (Box and Muller): indices 2k and 2k + 1 come from one pair of uniforms.
struct NormalPair {
  double even = 0;
  double odd = 0;
};
NormalPair random_normals(RandomKey key, std::uint64_t even_index);
inline double random_normal(RandomKey key, std::uint64_t index) {
  const NormalPair pair = random_normals(key, index & ~std::uint64_t{1});
  return (index & 1) == 0 ? pair.even : pair.odd;
}

}  // namespace executor
