// Layer 0: token embedding (its rows cut over tensor ranks), its factor, learned positions, its norm. It has no input that needs a gradient, so both
// directions are written out here, without autograd.
#pragma once

#include "executor/model/dropout.h"
#include "executor/model/segment.h"

namespace executor {

// table[ids[i]] += gradient[i], as a backward without tensor ranks does it: on a GPU in a fixed order, by way of a gradient of all rows.
void add_embedding_gradient(const at::Tensor& table, const at::Tensor& ids, const at::Tensor& gradient);

struct EmbeddingActivations {
  NormActivations norm, source_norm;  // source: of an encoder, whose rows have a norm of their own
};

class Embedding {
 public:
  Embedding(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings);

  // ids [tokens] int64 -> [tokens, hidden]; rows that other tensor ranks own are zero. What is behind their sum is add_positions'.
  at::Tensor look_up(const at::Tensor& ids) const;
  EmbeddingActivations add_positions(at::Tensor& stream, const Dropout& dropout,
                                     const Documents& documents = {}) const;  // stream: of the settings' stretches. Kept: of the norm
  // Their backwards, the other way round; each adds to the gradient of its table. `gradient` is overwritten.
  void positions_backward(at::Tensor& gradient, const Dropout& dropout, const EmbeddingActivations& kept = {},
                          const Documents& documents = {}) const;
  void look_up_backward(const at::Tensor& gradient, const at::Tensor& ids) const;

 private:
  at::Tensor rows_here(const at::Tensor& ids) const;
  enum class Into : std::uint8_t { Stream, Table };
  void add_by_position(const at::Tensor& stream, const at::Tensor& table, Into into, const Documents& documents) const;

  void add_by_stack(const at::Tensor& stream, Into into) const;

  Leaf tokens_, positions_, source_positions_;
  std::optional<NormLayer> norm_, source_norm_;
  SampleRows source_, target_;       // of an encoder and its decoder
  at::Tensor sines_, source_sines_;  // of their positions [tokens, hidden], where nobody trains them
  double factor_;
  std::int64_t sequence_, first_position_;
  TokenStretches stretches_;
  TensorPosition tensor_;
};

}  // namespace executor
