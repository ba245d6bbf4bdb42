// Rows of each sample that a layer of an encoder or a decoder changes: its source's, or its target's (sim/model/encoder_form.h). The rest goes past it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace executor {

struct SampleRows {
  std::int64_t sequence = 1, first = 0, count = 0;  // of `sequence` rows a sample; count 0: all
  bool are_all() const { return count == 0; }
  at::Tensor of(const at::Tensor& stream) const;     // [samples * sequence, width] -> a view [samples, count, width]
  at::Tensor taken(const at::Tensor& stream) const;  // -> [samples * count, width]; all: the stream itself
  // Back to all rows, zeros elsewhere; both are differentiable.
  at::Tensor among_zeros(const at::Tensor& rows) const;
};

}  // namespace executor
