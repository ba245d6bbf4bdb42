#include "sim/collective/collective.h"

#include <algorithm>

#include "sim/collective/direct.h"
#include "sim/collective/ring.h"

namespace sim {

std::span<const CollectiveAlgorithm> all_collective_algorithms() {
  static const CollectiveAlgorithm kAlgorithms[] = {kRingAlgorithm, kDirectAlgorithm};
  return kAlgorithms;
}

const CollectiveAlgorithm* find_collective_algorithm(std::string_view name) {
  const auto rows = all_collective_algorithms();
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const CollectiveAlgorithm& algorithm) { return algorithm.name == name; });
  return row == rows.end() ? nullptr : &*row;
}

Bytes bytes_on_wire(const CollectiveAlgorithm& algorithm, const CollectiveShape& shape) {
  Bytes sent{};
  for (const PhaseRun& run : algorithm.phases(shape)) sent += run.repeat * run.phase.bytes_sent;
  return sent;
}

}  // namespace sim
