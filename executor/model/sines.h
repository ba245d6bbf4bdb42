// Positions of a table that nobody trains (Vaswani et al. 2017, section 3.5): of each position sines, then cosines, of angles that fall geometrically.
#pragma once

#include <ATen/core/Tensor.h>

#include "sim/model/encoder_form.h"

namespace executor {

struct SineRows {
  sim::Sines form = sim::Sines::None;
  std::int64_t first = 0, count = 0;  // positions
};

// [count, width], made in fp64; width is even.
at::Tensor sine_table(const SineRows& rows, std::int64_t width, at::TensorOptions options);

}  // namespace executor
