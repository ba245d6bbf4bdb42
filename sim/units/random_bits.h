// Random numbers that are a function of a key and an index, so that it does not depend on who draws them, when, or with which library.
// SplitMix64 (Steele et al., OOPSLA 2014) with the counter in place of its state.
#pragma once

#include <cstdint>

namespace sim {

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

}  // namespace sim
