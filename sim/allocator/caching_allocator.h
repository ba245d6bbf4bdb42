// PyTorch's caching allocator of a GPU, as far as it decides what is reserved: which block a tensor gets, when a block is split or joined, when the device is
// asked for memory and when that goes back. It knows sizes and streams, no tensors.
//
//   a request        is rounded up to 512 bytes
//   Segments         up to 1 MiB out of segments of 2 MiB, below 10 MiB of 20 MiB, larger out of one of its own, in steps of 2 MiB
//   Expandable       out of one that grows, by 2 MiB for requests up to 1 MiB, else by 20 MiB (PYTORCH_ALLOC_CONF=expandable_segments:True)
//   a free block     of the stream, the smallest that is large enough, of equal ones that at the lowest address; what is left over is a block of
//                    its own from 512 bytes on, in segments for more than 1 MiB only above 1 MiB
//   given back       joins the free blocks beside it
//   no block, and the device is full    all segments that nothing is in go back, and the device is asked again
//
// Source: c10/cuda/CUDACachingAllocator.cpp of PyTorch 2.11; tests/oracles holds it against that allocator, request by request.
// Not here: graphs' pools, limits of splitting, what a full device unmaps of an expandable segment.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/cluster/software_stack.h"
#include "sim/units/quantity.h"

namespace sim {

class CachingAllocator {
 public:
  using Place = std::size_t;  // of a block, until it is given back
  explicit CachingAllocator(DeviceAllocator kind, Bytes limit = Bytes(std::numeric_limits<std::int64_t>::max()))
      : is_expandable_(kind == DeviceAllocator::Expandable), limit_(limit) {}

  std::optional<Place> take(Bytes size, std::int32_t stream);  // none: out of memory
  void give_back(Place place);

  Bytes reserved() const { return reserved_; }
  Bytes most_reserved() const { return most_reserved_; }

 private:
  struct Block {
    Bytes size{};
    std::int64_t address = 0;
    std::int32_t stream = 0;
    bool is_small = false, is_free = true;
    std::optional<Place> before = {}, behind = {};  // in its segment
  };
  using Free = std::tuple<std::int32_t, Bytes, std::int64_t, Place>;  // stream, size, address
  using Pool = std::vector<Free>;                                     // in order: few are free at once

  Pool& pool_of(const Block& block) { return pools_[block.is_small ? 0 : 1]; }
  void put(Place place);
  void pull(Place place);
  static Free key_of(const Block& block, Place place) { return {block.stream, block.size, block.address, place}; }
  std::optional<Place> find(Bytes size, std::int32_t stream, bool is_small);
  std::optional<Place> segment(Bytes size, std::int32_t stream, bool is_small);
  Place grown(Bytes size, std::int32_t stream, bool is_small);
  bool reserve(Bytes size);
  void flush();
  void split(Place place, Bytes size);
  void join(Place first, Place second);
  void move_end(Place from, Place to);
  Place add(const Block& block);

  bool is_expandable_;
  Bytes limit_, reserved_{}, most_reserved_{};
  std::int64_t next_address_ = 0;
  std::vector<Block> blocks_;
  std::vector<Place> unused_;
  std::array<Pool, 2> pools_;                            // free blocks of small segments, and of others
  std::map<std::pair<std::int32_t, bool>, Place> ends_;  // the last block of each segment that grows, by stream and whether it is small
};

}  // namespace sim
