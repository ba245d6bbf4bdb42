// Counter-based random numbers: a number is a function of a key and an index, so that it does not depend on who draws it, when, or in which
// order. Keys are made from the run's seed and labels. Used for initial weights, dropout masks and the sample order.
// The generator is SplitMix64 (Steele et al., OOPSLA 2014) with the counter in place of its state.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace executor {

struct RandomKey {
  std::uint64_t value = 0;
};

constexpr std::uint64_t mix_bits(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebULL;
  return bits ^ (bits >> 31);
}

// 64 independent bits for each (key, index).
constexpr std::uint64_t random_bits(RandomKey key, std::uint64_t index) {
  return mix_bits(key.value + (index + 1) * 0x9e3779b97f4a7c15ULL);
}

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
