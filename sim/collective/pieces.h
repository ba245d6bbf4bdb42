// How a payload is cut among the ranks of a collective.
#pragma once

#include "sim/collective/collective.h"

namespace sim {

// ceil(payload / ranks): an uneven payload is padded, so every rank sends the same.
constexpr Bytes piece_of(const CollectiveShape& shape) { return Bytes((shape.payload.value() + shape.ranks - 1) / shape.ranks); }

}  // namespace sim
