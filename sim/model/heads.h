// Heads of an attention, of the whole model: how many have queries, how many keys and values, and how wide one is. Several queries' heads may share one of keys.
// A field of Operator, so that what is priced, kept and sent follows each block's own heads.
#pragma once

#include <algorithm>
#include <cstdint>

namespace sim {

struct Heads {
  std::int64_t queries = 0, keys = 0;
  std::int64_t key_width = 0, value_width = 0;  // of one head
  std::int64_t gate = 0;                        // columns of all heads that weigh what attention puts out
  bool made_before = false;                     // keys and values are another block's
  bool one_product = false;                     // values are made as keys are
  bool are_shared() const { return keys < queries; }
  // That products of this block make, of queries, keys, values and gates.
  std::int64_t columns() const {
    const std::int64_t of_keys = keys * (key_width + (one_product ? 0 : value_width));
    return queries * key_width + (made_before ? 0 : of_keys) + gate;
  }
  std::int64_t key_parts(std::int64_t tensor_ranks) const { return std::max<std::int64_t>(1, std::min(tensor_ranks, keys)); }
  bool operator==(const Heads&) const = default;
};

}  // namespace sim
