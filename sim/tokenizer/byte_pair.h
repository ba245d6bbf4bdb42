// Byte-pair encoding: the pair of neighbours with the lowest rank is merged, the leftmost first, until none has a rank (Sennrich et al. 2016).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sim/tokenizer/tokenizer.h"

namespace sim {

struct BytePairs {
  std::unordered_map<std::string, std::uint32_t> ids;
  struct Merge {
    std::uint32_t rank = 0, id = 0;
  };
  std::unordered_map<std::uint64_t, Merge> merges;  // by the ids of a pair, the left one in the high half
  std::optional<std::uint32_t> unknown{};
  bool fuses_unknown = false, falls_back_to_bytes = false, ignores_merges = false;  // the last: of words that are tokens themselves
};

Tokenizer::Model byte_pair_model(BytePairs pairs);

// "<0x0A>" of each byte; false where one of them is no token.
bool add_bytes(std::string_view text, const std::unordered_map<std::string, std::uint32_t>& ids, TokenIds& found);

}  // namespace sim
