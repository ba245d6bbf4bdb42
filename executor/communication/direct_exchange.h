// The two halves of a deterministic reduction, as messages: every rank gets its chunk from all and sums it in rank order; then every rank
// gives its chunk to all. Waits for nothing itself.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "executor/communication/mpi_operation.h"

namespace executor {

std::span<std::byte> bytes_of(const at::Tensor& tensor);  // contiguous

// A buffer cut into one chunk a rank: as each owns, or equal, but for the last ones, which are shorter or empty.
class Chunks {
 public:
  Chunks(at::Tensor buffer, Peer ranks);
  explicit Chunks(const OwnedParts& parts);
  std::span<std::byte> of(Peer peer) const;
  const at::Tensor& buffer() const { return buffer_; }

 private:
  at::Tensor buffer_;
  std::vector<std::int64_t> ends_;  // elements, by rank
};

// Takes one chunk of scratch memory a peer, from the same allocator as the buffer.
class DirectExchange {
 public:
  DirectExchange(const MpiGroup& group, Chunks chunks, Tag tag);
  void post(MpiMessages& messages) const;
  void reduce_into(std::span<std::byte> result, ReduceOperation operation) const;  // once all messages arrived; result may be own_chunk()
  std::span<std::byte> own_chunk() const { return chunk_of(own_); }

 private:
  std::span<std::byte> chunk_of(Peer rank) const;  // this rank's chunk as `rank` holds it

  Peer own_, ranks_;
  Tag tag_;
  c10::ScalarType type_;
  Chunks chunks_;
  at::Tensor pieces_;  // of the others, in rank order
};

void post_rows(MpiMessages& messages, const MpiGroup& group, const RowExchange& rows, Tag tag);  // and copies this rank's own
void post_gather(MpiMessages& messages, const MpiGroup& group, const Chunks& chunks, Tag tag);

}  // namespace executor
