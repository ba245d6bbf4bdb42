#include "executor/model/sample_rows.h"

#include <ATen/ops/constant_pad_nd.h>

namespace executor {

at::Tensor SampleRows::of(const at::Tensor& stream) const { return stream.view({-1, sequence, stream.size(-1)}).narrow(1, first, count); }

at::Tensor SampleRows::taken(const at::Tensor& stream) const { return are_all() ? stream : of(stream).reshape({-1, stream.size(-1)}); }

at::Tensor SampleRows::among_zeros(const at::Tensor& rows) const {
  if (are_all()) return rows;
  const at::Tensor samples = rows.view({-1, count, rows.size(-1)});
  return at::constant_pad_nd(samples, {0, 0, first, sequence - first - count}).view({-1, rows.size(-1)});
}

}  // namespace executor
