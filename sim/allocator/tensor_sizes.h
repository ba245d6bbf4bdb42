// As which tensors an amount of memory comes, as far as an allocator sees the difference.
//
//   between steps          as many as the stage has parameters, of states two of each; of what a layer's step makes, as many as the layer has
//   gradients, gathered    none larger than the largest parameter of their layer
//   activations            none wider than what the segment's products put out, of all tokens of a microbatch; logits in fp32
//   on a stream aside, between ranks    one buffer
#pragma once

#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/timeline/memory_snapshot.h"

namespace sim {

class TensorSizes {
 public:
  TensorSizes(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage);  // both must outlive it

  std::vector<Bytes> of(const MemoryBlock& block) const;  // they add up to it

 private:
  std::vector<std::int64_t> elements_of(LayerIndex layer) const;
  std::vector<Bytes> by_parameter(Bytes amount, std::int64_t of_each, const std::vector<std::int64_t>& parameters) const;
  Bytes largest(const MemoryBlock& block) const;
  Bytes widest(const TaskKey& key) const;

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  std::vector<std::int64_t> elements_;  // of the stage's parameters, on one tensor rank
};

}  // namespace sim
