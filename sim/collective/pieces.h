// How a payload is cut among the ranks of a collective.
#pragma once

#include "sim/collective/collective.h"

namespace sim {

constexpr bool is_uneven(const CollectiveShape& shape) { return shape.parts.largest > Bytes(0); }

// ceil(payload / ranks): a payload that does not divide is padded, so every rank sends the same. Unequal parts: the largest, by the rank that is busiest.
constexpr Bytes piece_of(const CollectiveShape& shape) {
  return is_uneven(shape) ? shape.parts.largest : Bytes((shape.payload.value() + shape.ranks - 1) / shape.ranks);
}

// What a link of a ring carries in one of its ranks - 1 phases. Unequal parts go round as one broadcast (one reduction) an owner, side by side, as
// NCCL's grouped ones do: the busiest link carries all of them but the smallest.
constexpr Bytes ring_piece_of(const CollectiveShape& shape) {
  if (!is_uneven(shape)) return piece_of(shape);
  const std::int64_t others = shape.ranks - 1;
  return Bytes(((shape.payload - shape.parts.smallest).value() + others - 1) / others);
}

}  // namespace sim
