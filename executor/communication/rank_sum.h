// The arithmetic of a reduction: pieces of all ranks into one, in rank order. Moves nothing between ranks;
// its bits do not depend on where a buffer is cut.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "executor/communication/communicator.h"

namespace executor {

struct ReductionPiece {
  std::byte* result = nullptr;                // may be one of the sources
  std::span<const std::byte* const> sources;  // of rank 0, 1, ...
  std::int64_t elements = 0;
};

// fp64, fp32, int64 in their own type; bf16 and fp16 in fp32, rounded once. A NaN wins a maximum. Throws std::invalid_argument for other types.
void reduce_in_rank_order(const ReductionPiece& piece, c10::ScalarType type, ReduceOperation operation);

}  // namespace executor
