// Attention of a slice of a sample: its queries meet its own keys and values, and those that the slices in front of it have left in the sample's cache.
// Backward goes from the last slice to the first: each adds to the gradients of the keys and values that it has seen, and a slice's own are complete
// when its turn comes. Li et al., "TeraPipe: Token-Level Pipeline Parallelism for Training Large-Scale Language Models", ICML 2021.
//
//   forward    slice 0, 1, 2     cache  k0 v0 | k1 v1 | k2 v2        slice 1 reads   k0 v0 | k1 v1
//   backward   slice 2, 1, 0     gradients, summed:   slice 2 -> 0, 1, 2     slice 1 -> 0, 1     slice 0 -> 0
#pragma once

#include <vector>

#include "executor/training/query_share.h"
#include "sim/task_graph/task.h"

namespace executor {

struct Exchange;

// Of one sample, or a microbatch of them, and one layer. By slice: keys and values as QueryShare keeps them, and their gradients in the backward.
struct SliceCache {
  std::vector<at::Tensor> blocks, gradients;
};

class SliceAttention {
 public:
  SliceAttention(const ContextShape& shape, SliceCache& cache) : shape_(&shape), cache_(&cache), share_(shape) {}  // both outlive it
  void begin(const at::Tensor& joint);
  Exchange exchange(const sim::TaskKey& key);  // never: nobody else has tokens of the sample
  void attend(const sim::TaskKey& key);
  at::Tensor output() { return share_.output(); }
  void begin_backward(const at::Tensor& output_gradient);
  at::Tensor joint_gradient();

 private:
  const ContextShape* shape_;
  SliceCache* cache_;
  QueryShare share_;
};

}  // namespace executor
