// Which task moves which memory: activations from forward to backward, gathered units, full gradients, exchange buffers. How much an
// activation takes is activation_memory's. Used by memory_model, which remembers what it asked.
#pragma once

#include <array>
#include <vector>

#include "sim/cost/activation_memory.h"
#include "sim/cost/gradient_lifetime.h"
#include "sim/cost/placement.h"
#include "sim/task_graph/task_graph.h"
#include "sim/timeline/timeline.h"

namespace sim {

struct MemoryChange {
  MemoryCategory category{};
  Bytes amount{};
};
struct MemoryEffect {
  std::vector<MemoryChange> at_start;   // taken; negative: freed
  std::vector<MemoryChange> temporary;  // alive while the task runs
  std::vector<MemoryChange> at_end;     // freed (negative) or taken
  std::vector<MemoryChange> on_sender;  // when a Receive ends, on the device that sent: its buffer
};

class MemoryEffects {
 public:
  MemoryEffects(const ModelGraph& model, const ParallelPlan& plan);  // both must outlive it

  MemoryEffect of(const Task& task, const TaskGraph& graph) const;
  const SegmentMemory& memory_of(Segment segment) const { return segments_[static_cast<std::size_t>(segment)]; }
  const GradientLifetime& gradients() const { return gradients_; }
  // What one microbatch keeps in a block from forward to backward, its outputs included; in a chunk of them.
  Bytes block_keeps(LayerIndex block) const;
  Bytes chunk_keeps(StageIndex stage, ChunkIndex chunk) const;

 private:
  class Writer;
  void move_input(Writer& effect, const Task& task) const;
  void forward(Writer& effect, const TaskKey& key) const;
  void backward(Writer& effect, const TaskKey& key) const;
  void part_back(Writer& effect, const TaskKey& key, const SegmentMemory& memory) const;
  void begin_gradients(Writer& effect, const TaskKey& key, const TaskGraph& graph) const;
  void receive(Writer& effect, const Task& task) const;
  void communicate(Writer& effect, const Task& task, const TaskGraph& graph) const;
  void reshape_sequence(Writer& effect, const Task& task, const TaskGraph& graph) const;
  void reshard(Writer& effect, const TaskKey& key, const Bucket& bucket) const;
  void reduce(Writer& effect, const Task& task, const TaskGraph& graph) const;
  Bytes exchange_buffer(const Task& task, const TaskGraph& graph) const;
  bool recomputes_blocks() const { return plan_.recompute == Recompute::Full; }
  bool cuts_segments() const { return plan_.mesh.tensor > 1; }
  bool cuts_sequence() const { return plan_.sequence_parallel; }
  Bytes before_core(Segment segment) const;
  Bytes sum_of(Segment segment) const;
  Bytes hidden() const {
    return plan_.bytes(Numbers::Activations) * (plan_.shard_shape().tokens() * model_.config.hidden);
  }  // of all tokens of a microbatch

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  Placement placement_;
  GradientLifetime gradients_;
  bool splits_;
  std::array<SegmentMemory, kNumSegments> segments_;
};

}  // namespace sim
