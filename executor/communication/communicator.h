// What ranks say to each other. One communicator a mesh axis; operations on tensors (device a property of the tensor), each started and then
// waited for, so that an implementation on a stream (NCCL) fits beside one that polls (MPI). One of the three interfaces of the house.
//
// Reductions are deterministic: direct exchange (each rank gets its chunk from all), then a sum in rank order 0 .. n-1, in the
// tensor's own type (16-bit types in fp32). A sum therefore does not depend on buckets or shard boundaries.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "executor/communication/row_exchange.h"
#include "sim/task_graph/task.h"
#include "sim/units/quantity.h"
#include "sim/units/sim_time.h"

namespace executor {

// An operation under way. Its buffers must live until wait() returned. Destroying it waits.
class Work {
 public:
  virtual ~Work() = default;
  virtual void wait() = 0;                    // throws CollectiveError after the time limit
  virtual bool has_ended() { return false; }  // without waiting; false where only a wait can tell
};
using WorkHandle = std::unique_ptr<Work>;

struct CommunicationOptions {
  sim::Seconds time_limit{120};               // of one wait(); then CollectiveError
  sim::Bytes message{std::int64_t{1} << 30};  // longer buffers travel in pieces: MPI counts in int
};

enum class ReduceOperation : std::uint8_t { Sum, Maximum };

// A buffer of which each rank owns a part, in rank order; parts need not be equal, and some may be empty.
struct OwnedParts {
  at::Tensor whole;
  std::vector<std::int64_t> elements;  // by rank; their sum is the whole
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual std::int32_t rank() const = 0;  // inside the group
  virtual std::int32_t size() const = 0;

  // All tensors contiguous. `key` names the operation in errors, in the ledger and in the desynchronisation check.
  virtual WorkHandle all_reduce(at::Tensor buffer, ReduceOperation operation, const sim::TaskKey& key) = 0;
  virtual WorkHandle reduce_scatter(at::Tensor shard, at::Tensor full, const sim::TaskKey& key) = 0;  // full: size() equal chunks
  virtual WorkHandle all_gather(at::Tensor full, at::Tensor shard, const sim::TaskKey& key) = 0;      // shard may be its own chunk of full
  // The same with unequal parts. Summed: each owner gets the sum of its part (own: as long as that), in rank order as everywhere. Gathered: each
  // owner's part of the whole goes to the same place of all others.
  virtual WorkHandle reduce_to_owners(at::Tensor own, const OwnedParts& parts, const sim::TaskKey& key) = 0;
  virtual WorkHandle gather_from_owners(const OwnedParts& parts, const sim::TaskKey& key) = 0;
  virtual WorkHandle exchange(const RowExchange& rows, const sim::TaskKey& key) = 0;
  virtual WorkHandle broadcast(at::Tensor buffer, std::int32_t root, const sim::TaskKey& key) = 0;
  virtual WorkHandle send(at::Tensor buffer, std::int32_t to, const sim::TaskKey& key) = 0;
  virtual WorkHandle receive(at::Tensor buffer, std::int32_t from, const sim::TaskKey& key) = 0;
  virtual void barrier() = 0;

  // Exchanges of their own shape: see row_exchange.h.
  WorkHandle all_to_all(const at::Tensor& received, const at::Tensor& sent, const sim::TaskKey& key) {
    return exchange(even_exchange(received, sent, size()), key);
  }
  WorkHandle ring_hop(const at::Tensor& received, const at::Tensor& sent, const sim::TaskKey& key) {
    return exchange(ring_exchange(received, sent, {rank(), size()}), key);
  }
};

// A collective that cannot end: names rank, group, operation, sequence number, elapsed time.
class CollectiveError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace executor
