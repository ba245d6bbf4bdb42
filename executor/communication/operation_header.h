// What each rank says about an operation before its payload moves, so that ranks which disagree are named at once instead of hanging.
// Sent by MpiOperation beside every payload. Holds no buffers.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "executor/communication/communicator.h"
#include "sim/task_graph/task.h"

namespace executor {

enum class OperationKind : std::uint8_t { AllReduce, ReduceScatter, AllGather, Exchange, Broadcast, Transfer, Barrier };

// What both ends of a transfer compute from their own key, as the sender's names its last layer and the receiver's its first:
// microbatch, slice, phase and the boundary between two layers.
struct TransferIdentity {
  std::int32_t boundary = 0;
  std::int32_t microbatch = 0, slice = -1;
  sim::Phase phase{};
  bool operator==(const TransferIdentity&) const = default;
};
struct OperationHeader {
  sim::TaskKey key{};
  std::int64_t sequence = 0;   // position among the operations of the communicator; 0 for a transfer, which its key alone identifies
  std::int64_t bytes = 0;      // payload: the whole buffer
  std::int64_t own_bytes = 0;  // payload that need not be the same on every rank: of an exchange
  OperationKind kind{};
  ReduceOperation reduction = ReduceOperation::Sum;
  c10::ScalarType type = c10::ScalarType::Byte;
  std::int32_t root = 0;
  TransferIdentity transfer{};  // of a transfer
};
static_assert(std::is_trivially_copyable_v<OperationHeader>);

// Of an operation on a contiguous tensor. Throws std::invalid_argument for any other.
OperationHeader header_of(OperationKind kind, const at::Tensor& whole, const sim::TaskKey& key);
OperationHeader header_of(const RowExchange& rows, const sim::TaskKey& key);  // checks stretches, too
struct ShardOf {
  const at::Tensor& shard;
  const at::Tensor& full;
};
void require_parts(const OwnedParts& parts, std::int32_t ranks, const sim::TaskKey& key);  // one a rank, and the whole together
void require_shard(const ShardOf& tensors, std::int32_t ranks, const sim::TaskKey& key);   // full is `ranks` shards, both contiguous

inline bool is_task(const sim::TaskKey& key) {
  return key != sim::TaskKey{};
}  // what ranks say beside the tasks of the graph is in no ledger
inline sim::Bytes payload_of(const OperationHeader& header) { return sim::Bytes(header.bytes + header.own_bytes); }

std::string to_text(const OperationHeader& header);  // "all_reduce s0.c0.m-.l2.gradients.all_reduce.data.0 #17 (4096 bytes of Float)"

// Do two ranks perform the same operation?
bool same_operation(const OperationHeader& one, const OperationHeader& other);
// A number of all that must be the same on every rank, and of those before it.
std::uint64_t digest(const OperationHeader& header, std::uint64_t before);

enum class TransferEnd : std::uint8_t { Sender, Receiver };
TransferIdentity transfer_identity(const sim::TaskKey& key, TransferEnd end);

}  // namespace executor
