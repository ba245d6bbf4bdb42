// Scores that attention drops on a GPU are made in parts: so many bytes at once, of one head at least, and of all heads that share keys. A batch of GPT-2 (16 samples of 1024 tokens, 12 heads, 16 bit) is
// one part. Of the worker, and of what it is predicted to need.
#pragma once

#include <algorithm>

#include "sim/units/quantity.h"

namespace sim {

inline constexpr Bytes kScoresAtOnce{std::int64_t{512} << 20};

struct ScoredHeads {
  std::int64_t all = 1, sharers = 1;  // of all samples; that share keys
};
// head: bytes of one head's scores.
constexpr std::int64_t heads_of_a_part(Bytes head, ScoredHeads heads, Bytes most = kScoresAtOnce) {
  return std::clamp<std::int64_t>(most.value() / head.value() / heads.sharers, 1, heads.all / heads.sharers) * heads.sharers;
}

}  // namespace sim
