// The gradient norm on a GPU: what ExactSum::add_squares and add_values add, added to the limbs of an ExactSum in device memory. Sums of blocks
// of 64 in the order of square_sums.h, then integers, whose order does not matter: every bit equal to the CPU's, whatever the device, the
// ranges and the ranks. The check for infinities and NaNs is limb 67 of the result, not a pass of its own.
// Memory traffic: each element is read once.
#pragma once

#include <cstdint>
#include <span>

#include "executor/kernels/cuda_stream.h"
#include "executor/kernels/gradient_factor.h"
#include "executor/kernels/sixteen_bits.h"

namespace executor {

// Elements [begin, end) from an address on, or before it; blocks of 64 are counted from `begin`, the last may be short.
struct ElementRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// limbs: int64 [68] on the device, zero before the first of at most 2^29 blocks of 64 (2^35 elements) between two calls of
// launch_normalise. Asynchronous on `stream`; throws std::runtime_error if CUDA refuses the launch.
void launch_add_squares(const float* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream);
void launch_add_squares(const double* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream);
void launch_add_squares(const Bfloat16Bits* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream);
void launch_add_squares(const Float16Bits* values, std::span<const ElementRange> ranges, std::int64_t* limbs, CudaStream stream);

// The values themselves, each exactly: for losses.
void launch_add_values(const float* values, const ElementRange& range, std::int64_t* limbs, CudaStream stream);
void launch_add_values(const double* values, const ElementRange& range, std::int64_t* limbs, CudaStream stream);

// As ExactSum::normalise: afterwards an all-reduce may sum the limbs of up to 2^30 ranks.
void launch_normalise(std::int64_t* limbs, CudaStream stream);

// *factor = gradient_factor() of the norm whose squares the limbs hold: every bit is the host's.
void launch_gradient_factor(double* factor, const std::int64_t* limbs, const GradientLimit& limit, CudaStream stream);

}  // namespace executor
