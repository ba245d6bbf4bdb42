// Who owns which tensor of a stage, where data ranks own whole tensors: each is dealt to the rank that has the fewest elements so far, in the model's
// order and without sorting; a frozen one counts 1 (FairScale: fairscale/optim/oss.py, partition_parameters).
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "sim/sharding/sharding.h"

namespace sim {

class Owners {
 public:
  struct Extremes {
    std::int32_t fullest = 0, busiest = 0;  // owners, as Bucket has them
  };
  // Experts that not all ranks of the same weights hold are dealt among those that do.
  Owners(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage);

  bool are_dealt() const { return !owner_.empty(); }
  void order(Bucket& bucket) const;  // slots by owner; says whose elements are whose

 private:
  std::int32_t of(const BucketSlot& slot) const { return owner_.at({slot.layer, slot.parameter}); }

  std::map<std::pair<LayerIndex, std::int32_t>, std::int32_t> owner_;
  Extremes of_all_, of_experts_;
  std::int64_t alignment_;  // of slots
};

}  // namespace sim
