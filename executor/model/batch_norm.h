// Batch normalisation of maps [samples, channels, height, width] in training, by statistics of all ranks that share the batch (SyncBatchNorm).
// Ioffe and Szegedy 2015. Outside autograd, both directions written out. Nothing here talks: the caller moves what ~~> says, or, of one rank, nothing.
//
//   map --batch_moments--> [2 channels + 1] ~~all-gather~~> [ranks, 2 channels + 1] --merged_moments--> BatchMoments --batch_norm_forward--> output
//   gradient at the output --batch_norm_sums--> [2 channels] ~~all-reduce~~> --batch_norm_backward--> gradient at the map
//
// Ranks may have unequal numbers of samples, or none. Moments and sums are in fp32, of fp64 maps in fp64.
#pragma once

#include "executor/model/leaf.h"

namespace executor {

struct BatchNormLayer {
  double epsilon = 1e-5;
  Leaf scale, shift;  // [channels]
};

// Means, sums of squared deviations from them, and how many numbers a channel has here: merged without cancellation, unlike sums of squares.
at::Tensor batch_moments(const at::Tensor& map);

struct BatchMoments {
  at::Tensor mean, variance;  // [channels]; of the numbers themselves, not of what they are drawn from
  at::Tensor count;           // a scalar
};
// In the order of ranks: the same bits on each. Chan, Golub and LeVeque 1983.
BatchMoments merged_moments(const at::Tensor& of_ranks);

// What evaluation normalises by. A forward moves it once; a forward that is performed again, for recomputation, must not.
struct RunningStatistics {
  at::Tensor mean, variance;  // [channels], in place
  double momentum = 0.1;
  void follow(const BatchMoments& batch) const;  // the unbiased variance; of a single number 0
};

struct BatchNormActivations {
  at::Tensor input;          // the map
  at::Tensor mean, inverse;  // [channels]; inverse: of the deviation
  at::Tensor count;
};
struct BatchNormResult {
  at::Tensor output;
  BatchNormActivations kept;
};
BatchNormResult batch_norm_forward(const at::Tensor& map, const BatchMoments& moments, const BatchNormLayer& layer);

// Adds this rank's part to the gradients of scale and shift; those are summed over ranks with all others.
at::Tensor batch_norm_sums(const BatchNormActivations& kept, const at::Tensor& output_gradient, const BatchNormLayer& layer);
struct BatchNormGradients {
  at::Tensor output, sums;  // sums: of all ranks
};
at::Tensor batch_norm_backward(const BatchNormActivations& kept, const BatchNormGradients& gradients, const BatchNormLayer& layer);

}  // namespace executor
