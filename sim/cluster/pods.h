// Levels of a fabric above its nodes (docs/decisions/312-pods.md): nodes are in pods, and these in larger ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sim {

struct PodLevel {
  std::int32_t nodes = 0;       // of a pod, among which each has all of its rate
  double oversubscription = 1;  // what leaves a pod shares 1 / this of its nodes' rates
};

inline constexpr std::size_t kPodLevels = 3;  // at most
template <class T>
using OfPods = std::array<T, kPodLevels>;  // innermost first; zero: there is no such level

}  // namespace sim
