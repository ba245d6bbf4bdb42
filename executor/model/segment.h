// A block's segment, Attention or Mlp: norm -> core, which is in -> middle -> out as LibTorch operators. The norm, and what follows the core (sum over
// tensor ranks, bias, norm, dropout, residual sum), are written out without autograd (norm.h, residual.h), because communication may come between.
//
//   Attention: in = qkv (, norms of heads), middle = heads, rotary, attention, out = projection        Mlp: in = up (| gate), middle = activation, out = down
//   latent attention: without in, middle = latent_attention.h
//
// Built from ModelGraph's parameters of one layer; holds views of the weights, no activations.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "executor/model/attention.h"
#include "executor/model/cut_heads.h"
#include "executor/model/documents.h"
#include "executor/model/dropout.h"
#include "executor/model/low_rank.h"
#include "executor/model/norm.h"
#include "executor/model/sample_rows.h"
#include "executor/model/tensor_part.h"
#include "executor/model/token_stretches.h"
#include "sim/model/model_graph.h"

namespace executor {

struct SegmentLeaves {      // shift and biases: without tensors where the model has none
  Leaf in_weight, in_bias;  // without tensors where the middle makes its own products
  Leaf out_weight, out_bias;
  Leaf late_bias;  // the output's, where it is added after the sum over tensor ranks
  LowRank in_adapter = {}, out_adapter = {};
};

// Where a network has them. A segment without one reads the stream itself.
struct SegmentNorms {
  std::optional<NormLayer> before, behind;
};
// What a core reads of a microbatch beside its tokens. The feed-forward network has neither scores nor documents.
struct CoreInputs {
  Dropout scores = {};          // of attention's probabilities
  PairMasks in = {}, out = {};  // of what low-rank pairs beside the two products read
  Documents positions = {};     // that begin at position 0
  Documents attended = {};      // that see themselves alone
};
struct SegmentFunctions {
  std::function<at::Tensor(const at::Tensor& joint, const CoreInputs& inputs)> middle;
  std::function<at::Tensor(const at::Tensor& joint)> behind_in = nullptr;  // without one: nothing stands between in and middle
  std::optional<CutHeads> cut_heads = {};  // between in and what is behind it, where tensor ranks meet there
  std::function<at::Tensor(const at::Tensor& normalized)> joint = nullptr;                       // without one: `in` and what is behind it
  std::function<at::Tensor(const at::Tensor& joint, const CoreInputs& inputs)> mixed = nullptr;  // of such rows; without one: middle
  std::function<at::Tensor(const at::Tensor& mixed, const at::Tensor& gates)> gated =
      nullptr;             // where gates are no columns of what is mixed
  SampleRows rows = {};    // that the segment changes
  bool reads_all = false;  // else its core reads these rows alone
};

class BlockSegment {
 public:
  BlockSegment(SegmentNorms norms, SegmentLeaves leaves, SegmentFunctions functions);

  const std::optional<NormLayer>& norm() const { return norms_.before; }
  const std::optional<NormLayer>& norm_behind() const { return norms_.behind; }
  at::Tensor core(const at::Tensor& normalized, const CoreInputs& inputs = {})
      const;  // [tokens, hidden] of rows(), read of all if reads_all(); with tensor ranks a part of their sum
  // The core in three, where context ranks exchange something between them: queries, keys and values side by side; attention of such rows, of the heads
  // that SegmentSettings names; and the product behind.
  at::Tensor joint(const at::Tensor& normalized, const PairMasks& masks = {}) const;
  at::Tensor mixed(const at::Tensor& joint, const CoreInputs& inputs) const;
  // Where tensor ranks meet at heads, joint() ends with the columns that this rank makes. What follows, of rows of its heads: up to where scores begin; and
  // the core's rest.
  const std::optional<CutHeads>& cut_heads() const { return functions_.cut_heads; }
  bool changes_heads() const { return functions_.behind_in != nullptr; }
  at::Tensor behind_columns(const at::Tensor& joint) const { return functions_.behind_in ? functions_.behind_in(joint) : joint; }
  at::Tensor core_of_heads(const at::Tensor& joint, const CoreInputs& inputs) const;
  at::Tensor gated(const at::Tensor& mixed, const at::Tensor& gates) const { return functions_.gated(mixed, gates); }
  at::Tensor out_product(const at::Tensor& mixed, const PairMasks& masks = {}) const;
  const Leaf& late_bias() const { return leaves_.late_bias; }
  const SampleRows& rows() const { return functions_.rows; }  // that the core makes, of those of the stream
  bool reads_all() const { return functions_.reads_all; }
  enum class End : std::uint8_t { In, Out };
  std::int64_t inputs(End end) const {  // of low-rank pairs beside that product, on all tensor ranks
    return (end == End::In ? leaves_.in_adapter : leaves_.out_adapter).inputs;
  }

 private:
  at::Tensor in_product(const at::Tensor& normalized, const PairMasks& masks) const;

  SegmentNorms norms_;
  SegmentLeaves leaves_;
  SegmentFunctions functions_;
};

// `leaves` in the order of `parameters`; names tell which is which.
struct LayerParts {
  std::span<const sim::Parameter> parameters;
  std::span<const Leaf> leaves;
};
struct SegmentSettings {
  std::int64_t sequence = 1;
  std::int64_t tokens = 0;  // of a sample, here; 0: all of them
  TensorPosition tensor;
  std::int64_t head_ranks = 1, head_rank = 0;  // context ranks that deal out a tensor rank's heads, and who of them this is
  TokenStretches stretches = {};               // which tokens of a microbatch the stream holds
  bool keeps_scores = true;                    // false: attention with dropout computes its probabilities again in the backward
  at::Tensor rotary;                           // rotary_table(), shared by blocks; without a tensor where none turns
  std::int64_t window = 0;                     // keys in sight of a query; 0: all
  double adapter_scale = 1;                    // of what low-rank adapters put out
  Leaf distances = {};                         // biases of scores by distance, shared by blocks of a stack (attention.h)
  at::Tensor columns = {};
  bool attends_again = false;  // core attention is recomputed by itself
  bool passes_keys = false;    // attention meets keys block by block, by ranks or slices: what turns and norms them stands in front of that
  SampleRows rows = {};        // that a block of an encoder or a decoder changes
  SampleRows source = {};      // whose keys and values its attention reads, where that is not its own rows
};
// How the scores of this layer's heads are made.
ScoreForm score_form(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings);
BlockSegment make_attention(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings);
BlockSegment make_mlp(const sim::ModelConfig& config, const LayerParts& layer, const SegmentSettings& settings);

// The norm of this name behind "layer".
NormLayer norm_layer(const sim::ModelConfig& config, const LayerParts& layer, const std::string& name);
std::optional<NormLayer> find_norm(const sim::ModelConfig& config, const LayerParts& layer, const std::string& name);
// The leaf whose parameter's name ends with `suffix`; a leaf without tensors when there is none.
Leaf find_leaf(const LayerParts& layer, std::string_view suffix);

}  // namespace executor
