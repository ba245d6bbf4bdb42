// Images for convolutional networks, which no file of tokens holds: made from a sample's number and its label, the same under every layout. Each
// label has a pattern, under noise of the sample's own, so that there is something to learn.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "sim/plan/parallel_plan.h"

namespace executor {

struct ImageOf {
  std::uint64_t seed = 0;
  std::int64_t sample = 0, label = 0;
};
// Fills an image [channels, size, size], contiguous, in fp64, fp32, bf16 or fp16.
void make_up_image(const at::Tensor& image, const ImageOf& what);
// [microbatches, samples, channels, size, size] of one rank, in the type of activations; not filled.
at::Tensor empty_images(const sim::ParallelPlan& plan);

}  // namespace executor
