#include "executor/model/embedding.h"

#include <ATen/ops/index_select.h>
#include <ATen/ops/sum.h>

namespace executor {

Embedding::Embedding(const LayerParts& layer, const SegmentSettings& settings)
    : tokens_(find_leaf(layer, ".tokens.weight")),
      positions_(find_leaf(layer, ".positions.weight")),
      sequence_(settings.sequence),
      tensor_(settings.tensor) {}

// Positions in this rank's rows; negative or beyond them for rows that others own.
at::Tensor Embedding::rows_here(const at::Tensor& ids) const {
  return tensor_.degree == 1 ? ids : ids.sub(tensor_.rank * tokens_.value.size(0));
}

at::Tensor Embedding::look_up(const at::Tensor& ids) const {
  if (tensor_.degree == 1) return at::index_select(tokens_.value, 0, ids);
  const std::int64_t rows = tokens_.value.size(0);
  const at::Tensor here = rows_here(ids);
  const at::Tensor foreign = here.lt(0).logical_or_(here.ge(rows));
  return at::index_select(tokens_.value, 0, here.clamp(0, rows - 1)).masked_fill_(foreign.unsqueeze(1), 0.0);
}

void Embedding::add_positions(at::Tensor& stream, const Dropout& dropout) const {
  if (positions_.value.defined()) stream.view({-1, sequence_, stream.size(1)}).add_(positions_.value.narrow(0, 0, sequence_));
  apply_dropout(stream, dropout);
}

void Embedding::backward(at::Tensor& gradient, const at::Tensor& ids, const Dropout& dropout) const {
  apply_dropout(gradient, dropout);
  if (positions_.value.defined()) positions_.gradient.narrow(0, 0, sequence_).add_(gradient.view({-1, sequence_, gradient.size(1)}).sum(0));
  const at::Tensor here = rows_here(ids);
  if (tensor_.degree == 1) {
    tokens_.gradient.index_add_(0, here, gradient);
    return;
  }
  const std::int64_t rows = tokens_.value.size(0);
  const at::Tensor mine = here.ge(0).logical_and_(here.lt(rows)).nonzero().squeeze(1);
  tokens_.gradient.index_add_(0, here.index_select(0, mine), gradient.index_select(0, mine));
}

}  // namespace executor
