#include "executor/model/sample_rows.h"

#include <ATen/ops/constant_pad_nd.h>

namespace executor {

at::Tensor SampleRows::of(const at::Tensor& stream) const { return stream.view({-1, sequence, stream.size(-1)}).narrow(1, first, count); }

// A view of one sample would hold all of the stream.
at::Tensor SampleRows::taken(const at::Tensor& stream) const {
  if (are_all()) return stream;
  return of(stream).clone(at::MemoryFormat::Contiguous).view({-1, stream.size(-1)});
}

at::Tensor SampleRows::put(const at::Tensor& stream, const at::Tensor& rows) const {
  if (are_all()) return rows;
  const at::Tensor own = of(stream);
  own.copy_(rows.view_as(own));
  return stream;
}

at::Tensor SampleRows::among_zeros(const at::Tensor& rows) const {
  if (are_all()) return rows;
  const at::Tensor samples = rows.view({-1, count, rows.size(-1)});
  return at::constant_pad_nd(samples, {0, 0, first, sequence - first - count}).view({-1, rows.size(-1)});
}

TokenStretches SampleRows::stretches(std::int64_t samples) const {
  TokenStretches places;
  for (std::int64_t sample = 0; sample < samples; ++sample)
    places.push_back({.begin = sample * count, .first = sample * sequence + first, .count = count});
  return places;
}

}  // namespace executor
