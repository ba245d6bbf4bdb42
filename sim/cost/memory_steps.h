// What a task does to memory: what it takes and frees at its edges and holds while it runs, or the same as steps in their order, from which its
// fullest moment follows.
#pragma once

#include <vector>

#include "sim/timeline/timeline.h"

namespace sim {

struct MemoryChange {
  MemoryCategory category{};
  Bytes amount{};
  MemoryPool pool = MemoryPool::Kernels;
};
struct MemoryEffect {
  std::vector<MemoryChange> at_start;   // taken; negative: freed
  std::vector<MemoryChange> temporary;  // alive while the task runs
  std::vector<MemoryChange> at_end;     // freed (negative) or taken
  std::vector<MemoryChange> on_sender;  // when a Receive ends, on the device that sent: its buffer
};

// One after the other; negative: freed.
class MemorySteps {
 public:
  MemorySteps& take(MemoryCategory category, Bytes amount, MemoryPool pool = MemoryPool::Kernels);
  MemorySteps& free(MemoryCategory category, Bytes amount, MemoryPool pool = MemoryPool::Kernels) { return take(category, -amount, pool); }
  // There and gone.
  MemorySteps& pass(MemoryCategory category, Bytes amount) { return take(category, amount).free(category, amount); }
  MemorySteps& add(const MemorySteps& others);
  bool empty() const { return steps_.empty(); }
  const std::vector<MemoryChange>& all() const { return steps_; }

 private:
  std::vector<MemoryChange> steps_;
};

MemorySteps steps_of(const MemoryEffect& effect);  // without the sender's
// Alive while it runs: what is there at the fullest moment. What is left comes when it ends.
MemoryEffect effect_of(const MemorySteps& steps);

}  // namespace sim
