// Where a parameter's gradient is summed up, before the first sum: nothing stands there that counts, and what comes first is written instead of added
// (beta 0), so that no pass clears it. The mark lies on the tensor itself, and on every copy of its handle; a view of it has none. A tensor that was
// never begun is added to.
#pragma once

#include <ATen/core/Tensor.h>

namespace executor {

void begin_gradient(const at::Tensor& gradient);  // from here on nothing counts that stands there

// Whether nothing has come yet; from here on something has, which the caller writes.
bool takes_first(const at::Tensor& gradient);

// For who adds to a part of it, or row by row: zeroed if nothing has come yet.
const at::Tensor& started(const at::Tensor& gradient);

// gradient += factor * addend, of any type.
void add_gradient(const at::Tensor& gradient, const at::Tensor& addend, double factor = 1);

}  // namespace executor
