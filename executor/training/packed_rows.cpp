#include "executor/training/packed_rows.h"

#include <ATen/TensorOperators.h>

#include <utility>
#include <vector>

namespace executor {

Documents documents_in(const at::Tensor& ids, const RowShape& shape) {
  std::vector<DocumentRows> documents;
  const std::int64_t* const tokens = ids.data_ptr<std::int64_t>();
  for (std::int64_t row = 0, begin = 0; row < ids.numel(); ++row) {
    const bool ends_row = (row + 1) % shape.sequence == 0, is_padding = tokens[begin] == shape.end_token;
    const bool goes_on = !ends_row && (is_padding ? tokens[row + 1] == shape.end_token : tokens[row] != shape.end_token);
    if (goes_on) continue;
    documents.push_back({.begin = begin, .count = row + 1 - begin});
    begin = row + 1;
  }
  return Documents(std::move(documents));
}

at::Tensor without_loss_in(const at::Tensor& ids, const RowShape& shape) { return ids.eq(shape.end_token).nonzero().squeeze(1); }

}  // namespace executor
