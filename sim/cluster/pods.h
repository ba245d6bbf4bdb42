// Levels of a fabric above its nodes (docs/decisions/312-pods.md): nodes are in pods, and these in larger ones.
#pragma once

#include <algorithm>
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

// Members of a group in the pods of one of them -> the most of `of_level(level)` among the levels whose pods the group leaves; 0: it leaves none.
template <class Number, class OfLevel>
constexpr double most_of_pods(const OfPods<Number>& in_pods, Number ranks, const OfLevel& of_level) {
  double most = 0;
  for (std::size_t level = 0; level < kPodLevels; ++level)
    if (in_pods[level] > 0 && in_pods[level] < ranks) most = std::max(most, static_cast<double>(of_level(level)));
  return most;
}

}  // namespace sim
