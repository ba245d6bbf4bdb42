// What a task takes and gives back, gathered while its effect is written. Of memory_effects.cpp and memory_exchanges.cpp.
#pragma once

#include <utility>
#include <vector>

#include "sim/cost/memory_effects.h"

namespace sim {

constexpr bool is_of_copies(MeshAxis axis) {  // groups that hold the same weights, or shards of them
  return axis == MeshAxis::Data || axis == MeshAxis::ExpertData || axis == MeshAxis::Reshard;
}

class MemoryEffects::Writer {
 public:
  void take(MemoryCategory category, Bytes amount) { add(effect_.at_start, category, amount); }
  void hold(MemoryCategory category, Bytes amount) { add(effect_.temporary, category, amount); }
  void take_at_end(MemoryCategory category, Bytes amount) { add(effect_.at_end, category, amount); }
  void free_at_end(MemoryCategory category, Bytes amount) { add(effect_.at_end, category, -amount); }
  void free_on_sender(MemoryCategory category, Bytes amount) { add(effect_.on_sender, category, -amount); }
  MemoryEffect finish() && { return std::move(effect_); }

 private:
  static void add(std::vector<MemoryChange>& changes, MemoryCategory category, Bytes amount) {
    if (amount.value() != 0) changes.push_back({category, amount});
  }
  MemoryEffect effect_;
};

}  // namespace sim
