// From when to when full gradients exist where ranks keep only their shard of them (ZeRO-2, ZeRO-3): from the first backward that adds to a
// bucket until its reduction. Where programs drop them (keeps_buckets): until the step.
#pragma once

#include <utility>
#include <vector>

#include "sim/sharding/sharding.h"
#include "sim/task_graph/task.h"

namespace sim {

// Whether each microbatch's gradients are reduced by themselves, and their sum is made of what that leaves: of several microbatches, where there is
// somebody to reduce with. Elsewhere both values of `accumulation` are one plan.
bool reduces_each(const ParallelPlan& plan);

// Whole gradients, which end with the step of their weights: PyTorch's zero_grad() drops them, and backwards make them anew (set_to_none,
// torch/optim/optimizer.py); and those of a step inside the backward.
bool drops_gradients(const ParallelPlan& plan);

// PyTorch's DistributedDataParallel, as it is unless gradient_as_bucket_view is set (torch/nn/parallel/distributed.py): a gradient is copied into its bucket, which
// stays, and back.
bool has_buckets_beside(const ParallelPlan& plan);

class GradientLifetime {  // of one thread: what it has looked up it keeps
 public:
  GradientLifetime(const ModelGraph& model, const ParallelPlan& plan);  // both must outlive it

  bool is_limited() const { return is_limited_; }  // else full gradients are resident
  bool ends_with_step() const { return ends_with_step_; }
  // Whether the task is the first of its layer's backward, so that some bucket's gradients may begin with it.
  bool may_begin(const TaskKey& key) const;
  bool is_first_piece(const TaskKey& key) const;  // microbatch, or slice of one, to go backward through its chunk
  bool begins(const TaskKey& key, const Bucket& bucket) const;
  LayerIndex first_backward(const BucketSlot& slot) const;  // who reads the embedding's table adds to its gradient

 private:
  using PieceOfStep = std::pair<MicrobatchIndex, SliceIndex>;
  LayerIndex first_backward(const Bucket& bucket) const;
  const std::vector<PieceOfStep>& first_pieces(StageIndex stage) const;  // by chunk

  const ModelGraph& model_;
  const ParallelPlan& plan_;
  bool ends_with_step_, is_limited_;
  ByLayerKind<Operation> first_;                               // of a layer's backward
  mutable std::vector<std::vector<PieceOfStep>> first_piece_;  // by stage and chunk; empty: nobody has asked
};

}  // namespace sim
