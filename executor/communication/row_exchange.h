// What each rank of a group gives to each other and takes from it at once: experts' tokens, heads for tokens, a ring's next block.
//
//   sent      | to rank 0 | to rank 1 | ... |        received  | from rank 0 | from rank 1 | ... |
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace executor {

// Rows [n, width], one stretch a rank, in rank order. Ranks need not have equally many.
struct RowExchange {
  enum class Ours : std::uint8_t { Sent, Received };
  at::Tensor sent, received;
  std::vector<std::int64_t> to, from;         // rows, by rank; what one says it sends the other says it receives
  Ours ours = Ours::Sent;                     // the side that this rank's own tokens are on: its bytes are those of the ledger
  std::optional<std::int64_t> own_rows = {};  // where neither side has this rank's own: how many of them are on their way
  std::int64_t own_bytes() const {
    const at::Tensor& own = ours == Ours::Sent ? sent : received;
    return own_rows ? *own_rows * own.size(1) * own.element_size() : static_cast<std::int64_t>(own.nbytes());
  }
};

// Chunk i of `sent` goes to rank i, whose own comes as chunk i of `received`: `ranks` equal chunks each. Throws std::invalid_argument where they are not.
RowExchange even_exchange(const at::Tensor& received, const at::Tensor& sent, std::int32_t ranks);

struct RingPlace {
  std::int32_t rank = 0, size = 1;
};
// `sent` goes to the next rank, and what the one before sends comes; the last one's next is the first. Throws as above.
RowExchange ring_exchange(const at::Tensor& received, const at::Tensor& sent, RingPlace here);

}  // namespace executor
