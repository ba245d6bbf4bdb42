// A step of equal layers on one device, by hand: forwards, backwards, and a sum of each layer's gradients that the next forward of that layer waits for.
#pragma once

#include <deque>
#include <vector>

#include "sim/engine/steady.h"
#include "sim/task_graph/task_graph_builder.h"
#include "sim/units/at.h"

namespace sim::testing {

struct LayerTimes {  // picoseconds
  std::int64_t forward = 0, backward = 0, sum = 0;
};

class LayeredSteps {
 public:
  enum class Sums { ByPriority, InOrder };
  static constexpr Bytes kPart{1000};

  LayeredSteps(std::int32_t layers, LayerTimes times, Sums sums, Bytes credit = Bytes(1)) {
    TaskGraphBuilder builder;
    builder.add_device({.representative = Rank(0), .stage = StageIndex(0)});
    builder.set_credit(credit);
    std::vector<TaskId> forwards, backwards;
    for (std::int32_t layer = 0; layer < layers; ++layer) forwards.push_back(add(builder, Stream::Compute, times.forward));
    for (std::int32_t layer = layers - 1; layer >= 0; --layer) {
      const TaskId backward = add(builder, Stream::Compute, times.backward);
      const TaskId sum = add(builder, Stream::Reduce, times.sum, sums == Sums::ByPriority ? layer : -1);
      builder.add_edge(backward, sum);
      builder.add_edge_between_steps(sum, sim::at(forwards, layer));
    }
    graph_ = std::move(builder).freeze();
    for (std::size_t at = 0; at < costs_.size(); ++at) priced_.push_back({&costs_[at], &nothing_});
  }

  PlayedStep play() const {
    MemoryTracker memory(std::vector<MemoryBreakdown>(1), MemoryTracker::Keep::Peak);
    return sim::play(graph_, priced_, LinkSharing({1}), StreamOrder::Overlapping, memory);
  }
  // Steps that end at a barrier: as if the graph had no edges between them.
  SimTime alone() const {
    MemoryTracker memory(std::vector<MemoryBreakdown>(1), MemoryTracker::Keep::Peak);
    return Engine(graph_, priced_, LinkSharing({1}), StreamOrder::Overlapping, memory).run().step_time;
  }
  const TaskGraph& graph() const { return graph_; }

 private:
  TaskId add(TaskGraphBuilder& builder, Stream stream, std::int64_t duration, std::int32_t priority = -1) {
    costs_.push_back({.duration = SimTime(duration)});
    return builder.add_task(
        {.key = {.operation = stream == Stream::Compute ? Operation::Mlp : Operation::AllReduce, .sequence = builder.num_tasks()},
         .device = DeviceId(0),
         .stream = stream,
         .payload = stream == Stream::Compute ? Bytes(0) : kPart,
         .priority = priority});
  }

  TaskGraph graph_;
  std::deque<TaskCost> costs_;
  MemoryEffect nothing_;
  std::vector<PricedTask> priced_;
};

}  // namespace sim::testing
