// Delayed scales: the largest magnitudes of every product's operands in the last steps, of all ranks and microbatches. A function of what all ranks
// know, as the loss scale is, so each holds all of it, whatever its stage; saved in checkpoints, in the order of layers and parameters.
//
//   step 7 | products raise seen() | all ranks: all-reduce of maxima | end_step(): seen -> history -> largest of it | step 8 | scales of that ...
//
// A magnitude that is no finite number says nothing. Without a history a scale is 1, as in Transformer Engine.
#pragma once

#include <vector>

#include "executor/model/scaled_product.h"

namespace executor {

class ScaleHistory {
 public:
  // Holds nothing where the plan's scales are not delayed. On the device of what is scaled: nobody waits for it.
  ScaleHistory(const sim::ModelGraph& model, const sim::ParallelPlan& plan, c10::Device device = c10::kCPU);

  bool is_kept() const { return seen_.defined(); }
  // products counted over all layers, from 0.
  DelayedMaxima of_product(std::int64_t product) const;
  at::Tensor& seen() { return seen_; }  // fp32 [products, 3], contiguous
  void end_step();

  std::vector<float> saved() const;            // [steps, products, 3], the newest last; steps that were not: zeros
  void load(const std::vector<float>& saved);  // of another length: the newest of them
 private:
  void renew();

  at::Tensor seen_, before_;
  at::Tensor steps_;  // fp32 [history, products, 3]
};

}  // namespace executor
