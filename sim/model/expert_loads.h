// How tokens meet the experts of a layer, which no setting of a program says: one value with one text.
//
//   ""                       as the record's runs with a loss that balances experts (Behavior::expert_spread)
//   "even"                   each expert its even share
//   "untrained"              as a router deals them out in the first steps of a training, when most tokens choose alike (Behavior::untrained_share)
//   "spread 0.6"             loads scatter around the even share, each by itself: standard deviation over mean
//   "list 310 120*2 275"     tokens of each expert, in their order, in any unit: what a run has logged
//
// Rank r of n holds experts r E / n .. (r + 1) E / n - 1 in every layer; all ranks wait for the one whose experts have the most tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/input_error.h"

namespace sim {

enum class LoadKind : std::uint8_t { AsRecorded, Even, Untrained, Spread, List };
inline constexpr std::string_view kLoadKindNames[] = {"", "even", "untrained", "spread", "list"};

struct ExpertLoads {
  LoadKind kind = LoadKind::AsRecorded;
  double spread = 0;                   // Spread
  std::vector<std::int64_t> tokens{};  // List
  bool operator==(const ExpertLoads&) const = default;
};

std::string to_text(const ExpertLoads& loads);
// What is wrong is told in `violations`, by word.
ExpertLoads parse_expert_loads(std::string_view text, std::vector<Violation>& violations);

}  // namespace sim
