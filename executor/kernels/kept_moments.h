// Moments of AdamW in fewer bits than the weights that are stepped: read before a block's step, and written after it. In bf16; or as a code a number
// and a scale a block of kMomentBlock (8-bit Optimizers via Block-wise Quantization, Dettmers et al. 2022): the largest magnitude of the block, and of
// each number over it the nearest of a table.
//
// Blocks count from the first element of the shard on. A block with an infinity or a NaN comes back as NaN. CPU only.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "executor/kernels/code_tables.h"

namespace executor {

inline constexpr std::int64_t kMomentBlock = 256;

struct KeptMoment {
  at::Tensor values;                 // flat: bf16, or codes as uint8
  at::Tensor scales = {};            // of codes: fp32, one a block
  const ByteTable* table = nullptr;  // of codes: what they name
};
struct MomentRange {  // elements of the shard; of codes it begins with a block
  std::int64_t begin = 0, end = 0;
};

template <class Number>
void read_moment(Number* into, const KeptMoment& kept, MomentRange range);
template <class Number>
void write_moment(const Number* from, const KeptMoment& kept, MomentRange range);

}  // namespace executor
