// The functions of NCCL that this house calls, as a table in its own types: a build without CUDA has none, and tests put others in their place.
// Communicators block: a call returns when the GPU has been told, and start() when all places have come. (Those that do not block start a thread a call.)
#pragma once

#include <c10/core/ScalarType.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "executor/communication/communicator.h"

namespace executor {

enum class NcclStatus : std::int32_t { Success = 0, InProgress = 7 };  // the others are NCCL's own numbers: errors
using NcclHandle = struct NcclCommunicatorOfLibrary*;
struct NcclId {
  std::array<char, 128> bytes{};
};
struct NcclPlace {
  std::int32_t rank = 0, size = 1;
};
// Which of the parts of a communicator a rank joins, and where it stands there.
struct NcclPart {
  std::int32_t color = 0, key = 0;
};
constexpr std::int32_t kNoPart = -1;  // a color: no member
// Device memory. Elements: of all-reduce, broadcast, send and receive the buffer's; of reduce-scatter and all-gather the shard's; of an exchange
// see its stretches.
struct NcclBuffer {
  const void* from = nullptr;
  void* to = nullptr;
  std::size_t elements = 0;
  c10::ScalarType type = c10::ScalarType::Float;
};
// Elements that go to each rank of a group and come from each, one stretch after the other.
struct NcclStretches {
  std::vector<std::size_t> to, from;
};
struct NcclOn {
  NcclHandle communicator = nullptr;
  void* stream = nullptr;  // cudaStream_t
};

struct NcclLibrary {
  NcclStatus (*make_id)(NcclId& id);
  NcclStatus (*start)(NcclHandle& handle, const NcclId& id, NcclPlace place);  // collective over the places of the id
  NcclStatus (*split)(NcclHandle& handle, NcclHandle whole, NcclPart part);    // collective over the whole; of no member null
  NcclStatus (*state)(NcclHandle handle);                                      // also of errors that came by themselves
  NcclStatus (*abort)(NcclHandle handle);                                      // from any thread: ends its operations and frees it
  NcclStatus (*finalize)(NcclHandle handle);                                   // waits for its operations
  NcclStatus (*destroy)(NcclHandle handle);                                    // a finalised one
  NcclStatus (*all_reduce)(const NcclBuffer& buffer, ReduceOperation operation, const NcclOn& on);
  NcclStatus (*reduce_scatter)(const NcclBuffer& buffer, const NcclOn& on);             // sums
  NcclStatus (*reduce)(const NcclBuffer& buffer, std::int32_t root, const NcclOn& on);  // sums; `to` is written on the root alone
  NcclStatus (*all_gather)(const NcclBuffer& buffer, const NcclOn& on);
  NcclStatus (*exchange)(const NcclBuffer& buffer, const NcclStretches& stretches, const NcclOn& on);
  NcclStatus (*broadcast)(const NcclBuffer& buffer, std::int32_t root, const NcclOn& on);
  NcclStatus (*send)(const NcclBuffer& buffer, std::int32_t to, const NcclOn& on);
  NcclStatus (*receive)(const NcclBuffer& buffer, std::int32_t from, const NcclOn& on);
  std::string (*describe)(NcclStatus status, NcclHandle handle);  // its sentence and NCCL's last words; the handle may be null
};

const NcclLibrary* nccl_library();  // nullptr: this build has no NCCL
std::string nccl_version();         // of the library that is loaded: "2.28.9"; empty: none

}  // namespace executor
