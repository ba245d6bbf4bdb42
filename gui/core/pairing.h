// Two steps, simulated or measured, joined: which task of one is which of the other, by rank and task key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/timeline/timeline.h"

namespace gui {

struct Pair {  // positions in the two timelines
  std::uint32_t left = 0, right = 0;
  bool operator==(const Pair&) const = default;
};

struct Pairing {
  std::vector<Pair> pairs;  // ascending in right; a left task of a folded step may stand in several
  std::vector<std::uint32_t> only_left, only_right;
  std::optional<std::uint32_t> leftOf(std::uint32_t right) const;
  std::optional<std::uint32_t> rightOf(std::uint32_t left) const;  // the first
};

// Ranks meet by their number; where the left step is folded, a class of ranks stands for each rank of its stage. Equal keys of a rank meet
// in their order. O(spans log spans).
Pairing pairUp(const sim::Timeline& left, const sim::Timeline& right);

}  // namespace gui
