// The contract of the house: what a task is, and the key under which simulation and measurement meet.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/model/model_graph.h"
#include "sim/model/operation.h"
#include "sim/plan/device_mesh.h"
#include "sim/units/index.h"
#include "sim/units/quantity.h"

namespace sim {

// Weight: gradients of the weights, where the schedule splits them from Backward. Gradients: their reduction. Step: norm, update, gather.
enum class Phase : std::uint8_t { Forward, Backward, Recompute, Gradients, Step, Weight };
inline constexpr std::string_view kPhaseNames[] = {"forward", "backward", "recompute", "gradients", "step", "weight"};

// Equal for the same piece of work in the simulation, in the graph slice of a rank, and in a recorded trace.
// Fields that do not apply are none(). `sequence` tells apart what would be equal otherwise (buckets, repeated sums).
struct TaskKey {
  StageIndex stage{};
  ChunkIndex chunk{};
  MicrobatchIndex microbatch{};
  SliceIndex slice{};  // of each of its samples; none: whole ones
  LayerIndex layer{};
  Phase phase{};
  Operation operation{};
  MeshAxis group = MeshAxis::None;
  std::int32_t sequence = 0;
  auto operator<=>(const TaskKey&) const = default;
};

// "s0.c0.m3.l2.forward.attention.none.0", '-' for none; of slice 1 "s0.c0.m3.l2.forward@1.attention.none.0".
std::string to_text(const TaskKey& key);
bool parse_task_key(std::string_view text, TaskKey& key);  // false: not a key
std::string kind_text(const TaskKey& key);                 // "forward.attention", "gradients.all_reduce.data"

// Streams of a device; each runs its tasks one at a time in issue order. Exchange: between the ranks that share a sample, or experts.
// ToHost, ToDevice: copies over the host's link, one direction each. Host: what the host computes for the rank.
enum class Stream : std::uint8_t { Compute, Tensor, Gather, Reduce, Send, Receive, Exchange, ToHost, Host, ToDevice };
inline constexpr std::string_view kStreamNames[] = {"compute", "tensor",   "gather",  "reduce", "send",
                                                    "receive", "exchange", "to_host", "host",   "to_device"};
inline constexpr std::size_t kNumStreams = 10;
constexpr bool is_of_host(Stream stream) { return stream >= Stream::ToHost; }
// Which streams of a device are one queue. ReduceInOrder: gradients are exchanged where they are issued, computation waits. InOrder: all are.
enum class StreamOrder : std::uint8_t { Overlapping, ReduceInOrder, InOrder };
constexpr Stream queue_of(StreamOrder order, Stream stream) {
  const bool joins = order == StreamOrder::InOrder || (order == StreamOrder::ReduceInOrder && stream == Stream::Reduce);
  return joins ? Stream::Compute : stream;
}

// The one small all-reduce of a step: two exact sums (squared gradient norm, loss) of 68 limbs of 8 bytes.
inline constexpr Bytes kStepSummary{std::int64_t{2} * 68 * 8};
// Post-validation: what stages tell each other of a step's gradients. First stage to last, before the step; then back, beside the next one.
inline constexpr std::int32_t kBeforeStep = 0, kAfterStep = 1;  // TaskKey::sequence
constexpr bool validates_step(const TaskKey& key) {
  return key.phase == Phase::Step && key.group == MeshAxis::Pipeline && key.sequence == kAfterStep;
}

struct Task {
  TaskKey key{};
  DeviceId device{};  // of the graph: a class of ranks (folded) or a rank
  Stream stream = Stream::Compute;
  BucketIndex bucket{};  // of its stage: what is reduced, gathered, stepped
  Bytes payload{};       // communication: the whole buffer (see CollectiveShape); host copies: what is copied; Reshard: what is kept
  std::int32_t rendezvous = -1;  // tasks with the same number start together, when all of them can (a collective over several devices)
  DeviceId peer{};               // Send, Receive: the other device
  std::int32_t priority = -1;    // of the stream's tasks that are ready the lowest starts first; -1: in issue order
};
// Its place in the stream says nothing then.
constexpr bool has_priority(const Task& task, StreamOrder order) { return task.priority >= 0 && order == StreamOrder::Overlapping; }

}  // namespace sim
