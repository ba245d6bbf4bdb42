// Layer 0: token embedding (its rows cut over tensor ranks; of another width than the stream with a product behind it), its factor, learned positions,
// types of tokens (all are of the first: a sample is one text), its norm. It has no input that needs a gradient, so both directions are written out
// here, without autograd.
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
  at::Tensor rows_of(const at::Tensor& ids) const;  // [tokens, width of the table]
  void add_to_table(const at::Tensor& gradient, const at::Tensor& ids) const;
  enum class Into : std::uint8_t { Stream, Table };
  struct Stack {
    SampleRows rows;  // of an encoder, or of its decoder; else all
    Leaf positions, types;
    at::Tensor sines;  // of its positions [tokens, hidden], where nobody trains them
    std::optional<NormLayer> norm;
    double factor = 1;
    bool late_positions = false;  // behind the norm
  };
  static Stack stack_of(const sim::ModelConfig& config, const LayerParts& layer, const SampleRows& rows, const std::string& prefix);
  void add_by_position(const at::Tensor& stream, const at::Tensor& table, Into into, const Documents& documents) const;
  static void add_alike(const at::Tensor& samples, const at::Tensor& rows, Into into);
  static void types_of(const Stack& stack, const at::Tensor& stream, Into into);
  void positions_of(const Stack& stack, const at::Tensor& stream, Into into, const Documents& documents) const;
  NormActivations enter(at::Tensor& stream, const Stack& stack, const Documents& documents) const;
  void leave(at::Tensor& gradient, const Stack& stack, const NormActivations& kept, const Documents& documents) const;

  Leaf tokens_, widening_;
  Stack target_;
  std::optional<Stack> source_;
  std::int64_t sequence_, first_position_;
  TokenStretches stretches_;
  TensorPosition tensor_;
};

}  // namespace executor
