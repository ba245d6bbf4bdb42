// Layer 0: token embedding (its rows cut over tensor ranks) and learned positions. It has no input that needs a gradient, so both
// directions are written out here, without autograd.
#pragma once

#include "executor/model/dropout.h"
#include "executor/model/segment.h"

namespace executor {

// table[ids[i]] += gradient[i], as a backward without tensor ranks does it: on a GPU in a fixed order, by way of a gradient of all rows.
void add_embedding_gradient(const at::Tensor& table, const at::Tensor& ids, const at::Tensor& gradient);

class Embedding {
 public:
  Embedding(const LayerParts& layer, const SegmentSettings& settings);

  // ids [tokens] int64 -> [tokens, hidden]; rows that other tensor ranks own are zero. Learned positions are added by add_positions.
  at::Tensor look_up(const at::Tensor& ids) const;
  void add_positions(at::Tensor& stream, const Dropout& dropout) const;  // stream: of the settings' stretches
  // Their backwards, the other way round; each adds to the gradient of its table. `gradient` is overwritten by the dropout.
  void positions_backward(at::Tensor& gradient, const Dropout& dropout) const;
  void look_up_backward(const at::Tensor& gradient, const at::Tensor& ids) const;

 private:
  at::Tensor rows_here(const at::Tensor& ids) const;
  void add_by_position(const at::Tensor& stream, const at::Tensor& table, bool into_table) const;

  Leaf tokens_, positions_;
  std::int64_t sequence_;
  TokenStretches stretches_;
  TensorPosition tensor_;
};

}  // namespace executor
