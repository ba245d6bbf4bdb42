// ModelConfig as layers of operators with shapes, and as parameters: what the simulator prices and the executor builds.
// Layer 0 is the embedding, 1 .. L are transformer blocks, L+1 is the head (final norm, projection, loss). What predicts further tokens
// (token_prediction.h) begins the head's layer, or is a layer of its own in front of it: ModelConfig::predicts_apart().
//
//   layer 0       segment Embedding
//   layer 1..L    segment Attention  norm -> qkv (-> norm of q, k) -> (rotary) -> attention -> projection -> [sum over T] -> + residual
//                 or LinearAttention  norm -> in -> convolution -> scan -> norm and gate -> out, in blocks of linear_layers
//                 segment Mlp        norm -> up (, gate) -> activation -> down          -> [sum over T] -> + residual
//                 or Experts  norm -> router -> to experts -> up (, gate) -> activation -> down -> from experts (, shared expert) -> + residual
//                 Norms stand where the family has them (NormPlace). Parallel blocks run one segment after the other, too.
//   layer L+1     segment Head       norm -> projection to the vocabulary -> cross-entropy
//
// A convolutional network has a layer for each child of its flattened nn.Sequential (map_layers.h), first and last among them; a token is a sample.
//
// A block may be one of its halves alone (Nemotron-H): ModelConfig::halves. Of an encoder and a decoder, whose embeddings are both in layer 0: encoder_form.h.
//
// What runs as one piece, and where ranks meet: segment.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/model/model_config.h"
#include "sim/model/segment.h"
#include "sim/units/index.h"
#include "sim/units/quantity.h"

namespace sim {

enum class InitialValue { Normal, Zeros, Ones };

struct Parameter {
  std::string name;       // "layers.3.attention.qkv.weight": unique in the model, the same under every layout
  std::int64_t rows = 0;  // [rows, columns]; a vector has columns = 1
  std::int64_t columns = 1;
  TensorSplit split = TensorSplit::None;
  std::vector<std::int64_t> row_blocks;  // sums to rows; Rows cuts each block by itself (q|k|v, gate|up), so shards hold whole heads
  InitialValue initial = InitialValue::Normal;
  double deviation = 0.0;    // of Normal
  bool weight_decay = true;  // false: vectors (norms, biases)
  bool frozen = false;       // has no gradient
  bool unscaled = false;     // its products stay in 16 bit where others are scaled, as the policy of precision says
  bool norm = false;         // a norm's weight or bias
  bool expert = false;       // rows of all experts: cut among the ranks of an expert group, too
  bool partial_gradient =
      false;  // None: stands between cut operators, or routes tokens to them, so that each tensor rank has a part of its gradient

  std::int64_t elements() const { return rows * columns; }
  std::int64_t elements(std::int64_t tensor_degree) const { return split == TensorSplit::None ? elements() : elements() / tensor_degree; }
};

// Layers of one kind are equal but for the names of their parameters. Kinds are numbered as they first come in the model.
using LayerKind = Index<struct LayerKindTag>;
template <class Value>
class ByLayerKind {
 public:
  ByLayerKind() = default;
  explicit ByLayerKind(std::size_t kinds) : values_(kinds) {}
  Value& operator[](LayerKind kind) { return values_[kind.position()]; }
  const Value& operator[](LayerKind kind) const { return values_[kind.position()]; }

 private:
  std::vector<Value> values_;
};

// How far a backward comes: through a layer, or to it and no further, where nothing in front of it is trained; or not to it.
enum class BackwardReach : std::uint8_t { Passes, Ends, None };

struct Layer {
  std::vector<SegmentGraph> segments;
  std::vector<Parameter> parameters;  // in the order of their use; a layer's tied weight is not repeated here
  BackwardReach backward = BackwardReach::Passes;
  std::int64_t handed_on = 0;  // maps: numbers of a sample that the next layer reads; 0: a row of `hidden` a token
};

struct ModelGraph {
  ModelConfig config;
  std::int64_t padded_vocabulary = 0;
  std::vector<Layer> layers;       // inner_layers() + 2; equal blocks are repeated
  std::vector<LayerKind> kinds;    // by layer
  std::vector<LayerIndex> firsts;  // by kind: the first layer of it
  std::int64_t num_blocks() const { return static_cast<std::int64_t>(layers.size()) - 2 - (config.predicts_apart() ? 1 : 0); }
  LayerKind kind(LayerIndex layer) const { return kinds[layer.position()]; }
  bool has(LayerIndex layer, Operation segment) const;
  bool goes_back(LayerIndex layer) const { return layers[layer.position()].backward != BackwardReach::None; }
  LayerIndex head() const { return LayerIndex(static_cast<std::int32_t>(layers.size()) - 1); }
  const Layer& layer(LayerIndex index) const { return layers[index.position()]; }
};

// vocabulary_multiple: the vocabulary is padded up to it (Megatron: 128 times T). The padded rows never receive probability.
struct VocabularyMultiple {
  std::int64_t value = 1;
};
ModelGraph make_model_graph(const ModelConfig& config, VocabularyMultiple multiple);
// Layers that differ in more than the graph tells: with other marks they are of other kinds. by_layer: of all layers.
void part_kinds(ModelGraph& model, const std::vector<int>& by_layer);
bool has_experts(const ModelConfig& config, std::int64_t block);  // block: from 0

std::int64_t num_parameters(const ModelGraph& model);  // without padding rows; a tied weight counts once

// Columns of an operator within heads that one of `ranks` tensor ranks reads.
std::int64_t inputs_of_rank(const Operator& op, std::int64_t ranks);

// The part of the work that one tensor rank does on one microbatch.
struct ShardShape {
  std::int64_t microbatch = 1;     // samples
  std::int64_t sequence = 1;       // tokens a sample
  std::int64_t tensor = 1;         // T
  bool sequence_parallel = false;  // norms, residuals and dropouts on sequence / T tokens
  std::int64_t context = 1;        // C ranks share the tokens of a sample
  std::int64_t expert = 1;         // E ranks share the experts of a layer
  std::int64_t slices = 1;         // n: a sample passes in so many pieces, and a rank sees one at a time
  std::int64_t tokens() const { return microbatch * sequence / (context * slices); }
};

// Context ranks that deal out heads in place of tokens: of operators of_scan.
ShardShape by_heads(ShardShape shape);

// The same of the source's tokens alone, or the target's.
ShardShape of_tokens(Tokens which, const ModelConfig& config, ShardShape shape);

// Pairs of a query and a key that it sees, in a sample of so many tokens: s (s + 1) / 2 of causal attention, less with a window, s^2 in an encoder,
// those of target and source where one attends to the other.
double attention_pairs(double sequence, const Operator& op, const ModelConfig& config);

// Multiply-adds count 2. Causal attention counts the lower triangle only (s/2 keys a query, exactly s(s+1)/2 pairs):
// this is the work that a flash kernel does. Backward: twice for Linear; 2.5 times for Attention (scores recomputed) and scans.
Flops forward_flops(const Operator& op, const ModelConfig& config, const ShardShape& shape);
Flops backward_flops(const Operator& op, const ModelConfig& config, const ShardShape& shape);

// What is no matrix product counts no FLOPs: its time is that of its bytes.

// Bytes that the operator reads and writes at least once, for elements of `element_size`; token ids take 8 bytes. n: this rank's tokens,
// widths: this rank's part. Statistics of norms, sums of exponentials and rotary tables are left out: they are below 1 % of the rest.
//
//   operator          forward: read -> written                       backward: read -> written
//   tokens (Rows)     n ids, n rows of the table -> n x h            n ids, dy, n gradient rows -> the same n gradient rows
//   positions (None)  x, a row a position -> x + rows                dy, a gradient row a position -> the same gradient rows
//   Norm              x, weight (, bias) -> y                        dy, x, weight -> dx, gradient of weight (, bias)
//   Linear            x, weight (, bias) -> y                        dy, weight -> dx;  dy, x -> gradient of weight;  (dy -> of bias)
//   Rotary, Dropout   x -> y                                         dy -> dx
//   Attention (flash) q, k, v -> o                                   q, k, v, o, do -> dq, dk, dv
//   Activation        x (gated: gate and up) -> y                    dy, x -> dx
//   Residual          x, y -> x + y                                  both gradients that meet in front of the norm -> their sum
//   Routing           n rows of scores, eight passes in fp32         the same
//   CausalConvolution x -> y                                         dy, x -> dx
//   Indexer           what it reads, scores in fp32 out and back, places of chosen tokens               scores of chosen tokens, both gradients
//   Scan              what its kernels move, one after the other (linear_form.h)        the same, kScanBackwardBytes times
//   Permutation       a row for each expert of a token: out, back, and weighted on the way           the same
//   maps              x, weight -> y                                 dy, x, weight -> dx, gradient of weight
//   CrossEntropy      logits, n ids -> n losses                      logits, n ids -> their gradient
Bytes forward_bytes(const Operator& op, const ModelConfig& config, const ShardShape& shape, Bytes element_size);
Bytes backward_bytes(const Operator& op, const ModelConfig& config, const ShardShape& shape, Bytes element_size);

// Model FLOPs of one step as MFU counts them, whatever is recomputed: 6 x parameters of matrix products x tokens +
// 12 x layers x heads x head_dim x sequence x tokens (Narayanan et al. 2021 / PaLM appendix B, not halved for causality).
// Of maps: three times the forward's convolutions; of linear attention three times the forward's scan. Of sparse attention: chosen tokens
// in place of the sequence, and the indexer's scores of all, with two gradients of the chosen ones.
struct StepSize {
  std::int64_t global_batch = 1;
  std::int64_t sequence = 1;
  double real_share = 1;      // of tokens: no padding
  std::int64_t attended = 0;  // tokens of a document, where a sample holds several; 0: the sequence
};
Flops model_flops(const ModelGraph& model, StepSize size);

}  // namespace sim
