// Rows of each sample that a layer of an encoder or a decoder changes: its source's, or its target's (sim/model/encoder_form.h). The rest goes past it.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "executor/model/token_stretches.h"

namespace executor {

struct SampleRows {
  std::int64_t sequence = 1, first = 0, count = 0;  // of `sequence` rows a sample; count 0: all
  bool are_all() const { return count == 0; }
  at::Tensor of(const at::Tensor& stream) const;     // [samples * sequence, width] -> a view [samples, count, width]
  at::Tensor taken(const at::Tensor& stream) const;  // -> [samples * count, width], copied; all: the stream itself
  // The stream with these rows written over its own, in place; all: they are the stream.
  at::Tensor put(const at::Tensor& stream, const at::Tensor& rows) const;
  at::Tensor among_zeros(const at::Tensor& rows) const;  // back to a stream
  TokenStretches stretches(std::int64_t samples) const;  // where they stand in a microbatch of so many
};

}  // namespace executor
