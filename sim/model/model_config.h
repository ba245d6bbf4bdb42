// The network to be trained, as a Hugging Face config.json states it. No model format of our own.
// Read by model_graph (operators) and by the executor (layers). Does not say how it is trained: that is the plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/model/adapters.h"
#include "sim/model/attention_form.h"
#include "sim/model/block_sizes.h"
#include "sim/model/convolution_form.h"
#include "sim/model/encoder_form.h"
#include "sim/model/expert_form.h"
#include "sim/model/frozen_parts.h"
#include "sim/model/heads.h"
#include "sim/model/linear_form.h"
#include "sim/model/patch_form.h"
#include "sim/model/rope_scaling.h"
#include "sim/units/input_error.h"
#include "sim/units/json_fwd.h"

namespace sim {

enum class Norm { LayerNorm, RmsNorm };
enum class Position { Learned, Rotary, Alibi, None };
enum class QkNorm : std::uint8_t {
  None,
  Heads,
  Joint,
  Plain,
  Turned
};  // of queries and keys: each head by itself, all together, each without weights, each behind its turn
enum class NormPlace : std::uint8_t {
  Before,
  Behind,
  Around,
  AfterSum
};  // of attention's and the feed-forward's: input, output, both, or their sum with the residual
enum class Activation {
  GeluTanh,
  Gelu,
  Silu,
  Relu,
  SquaredRelu,
  Xielu
};                                                                 // Xielu: two numbers of each layer are trained (Huang and Schlag 2024)
enum class BlockHalf : std::uint8_t { Both, Mixer, FeedForward };  // what a block has: attention (or what stands for it), a feed-forward

struct ModelConfig {
  std::string model_type;  // "gpt2", "llama", as in the file
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;
  std::int64_t vocabulary = 0;
  std::int64_t max_positions = 0;
  Norm norm = Norm::LayerNorm;
  Position position = Position::Learned;
  Activation activation = Activation::GeluTanh;
  bool gated_mlp = false;
  bool attention_bias = false;   // of the qkv projection
  bool projection_bias = false;  // of the attention output projection
  bool key_bias = true;          // where the qkv projection has one: of keys, too (else Whisper)
  bool mlp_bias = false;
  bool up_bias = true;  // where the feed-forward has biases: of its first product, too (else GTE)
  bool tied_embeddings = false;
  double norm_epsilon = 1e-5;
  double rope_theta = 10000.0;
  double initializer_range = 0.02;
  double embedding_dropout = 0.0;
  double residual_dropout = 0.0;
  double attention_dropout = 0.0;  // of the probabilities
  double ffn_dropout = 0.0;        // behind the feed-forward's activation

  AttentionForm attention{};            // latent: head_dim is the mean of a key's and a value's width
  std::optional<Adapters> adapters{};   // else everything is trained; no word of a config.json: /workload/adapters of a plan
  FrozenParts frozen{};                 // likewise: /workload/frozen
  std::int64_t mtp_layers = 0;          // blocks that predict further tokens, in front of the head: /workload/mtp_layers of a plan
  bool mtp_apart = false;               // they are a layer of their own, which need not stand on the head's stage: /workload/mtp_apart
  std::optional<ExpertForm> experts{};  // of the feed-forwards, but for the first dense layers
  RopeScaling rope_scaling{};           // beside rope_theta
  std::optional<LinearForm> linear{};   // in place of attention, in blocks of linear_layers
  std::vector<bool> linear_layers{};    // by block; empty: no block

  std::vector<BlockHalf> halves{};  // by block; empty: all have both
  std::vector<BlockSizes> sizes{};  // by block; empty: all have those above

  std::optional<EncoderForm> encoder{};  // in front of a decoder; `layers` are the blocks of both
  std::int64_t source_tokens = 0;  // of a sample: what the encoder reads; 0: half of them, or all frames: /workload/source_tokens of a plan

  // What most networks do without. Attention:
  std::int64_t window = 0;            // positions that a query sees, its own included; 0: all before it
  std::vector<bool> windowed{};       // by block: others see all; empty: the window holds in every block
  bool chunked = false;               // windows do not slide: samples are cut into pieces so long, and a query sees its own
  std::vector<bool> unturned{};       // by block: no positions there; empty: as `position` says, everywhere
  bool bidirectional = false;         // an encoder's: a query sees what follows, too
  bool sinks = false;                 // a score of each head that takes from the softmax and gives nothing
  bool sinks_in_windows = false;      // in blocks with a window alone
  bool attention_gate = false;        // what attention puts out is weighted by a sigmoid, as wide as it, of a token
  bool head_gate = false;             // that weight is one number of each head
  bool softplus_gate = false;         // and of a softplus, not of a sigmoid
  std::int64_t value_dim = 0;         // of a head; 0: head_dim
  bool value_norm = false;            // of values too, beside those of queries and keys, without weights
  bool keys_as_values = false;        // in blocks without a window: one product makes both
  std::int64_t shared_kv_layers = 0;  // the last so many read keys and values of the last block of their kind in front of them
  double value_factor = 1;            // of values
  QkNorm qk_norm = QkNorm::None;
  double rotary_share = 1;        // of a head's width that turns with its position
  double local_rotary_share = 0;  // of blocks with a window; 0: rotary_share
  double local_rope_theta = 0;    // of blocks with a window; 0: rope_theta
  double score_scale = 0;         // scores are divided by its root; 0: the width of a key
  double score_cap = 0;           // scores pass through cap * tanh(score / cap); 0: they do not
  // Blocks:
  NormPlace norm_place = NormPlace::Before;
  bool first_norm = true;         // in front of the first block's attention; else what it reads was normed as an embedding (ModernBERT)
  bool offset_norm = false;       // weights of norms count from 1
  bool norm_weight = true;        // else norms only shift and scale, and train nothing
  bool norm_bias = true;          // of a LayerNorm
  bool inner_norms = false;       // in front of attention's and the feed-forward's last products, too (BitNet)
  bool parallel_blocks = false;   // the feed-forward reads what attention reads
  double residual_factor = 1;     // of what a block's halves add to the stream
  bool shared_norm = false;       // parallel: one norm for both
  bool layer_scale = false;       // what a half of a block adds is multiplied by a vector that is trained (Touvron et al. 2021)
  double gate_limit = 0;          // gate and up are clamped to it, and 1 is added to up (gpt-oss)
  std::int64_t layer_inputs = 0;  // width of what each block reads of a token beside the stream, from a table of its own; 0: nothing
  // Embedding and head:
  std::int64_t layer_vocabulary = 0;  // rows of that table
  std::int64_t position_offset = 0;   // learned: rows in front of that of the first position
  std::int64_t token_types = 0;
  std::int64_t embedding_width = 0;  // 0: hidden; else matrices lead from it and back to it
  bool narrow_tables = false;        // positions, types, their norm and the head's transform are as wide as the token table (ELECTRA)
  bool embedding_norm = false;
  double embedding_factor = 1;
  bool head_transform = false;  // a product, an activation and a norm in front of the projection
  bool transform_bias = true;   // of that product
  bool head_bias = false;
  bool normed_head = false;  // rows of its matrix are scaled to length 1 where it is used (Baichuan 2)
  bool final_norm = true;
  double logit_cap = 0, logit_factor = 1;

  std::optional<PatchForm> patches{};            // of images in place of tokens: `vocabulary` classes, told from the first position alone
  std::optional<ConvolutionForm> convolution{};  // layers of maps instead of blocks: `vocabulary` classes, a sample is one token

  bool predicts_apart() const { return mtp_apart && mtp_layers > 0; }
  std::int64_t inner_layers() const {
    return layers + (predicts_apart() ? 1 : 0);
  }  // between embedding and head: what a pipeline's cut deals out
  bool operator==(const ModelConfig&) const = default;
};

// Of all heads together: what attention reads a token, and what it puts out.
struct AttentionWidths {
  std::int64_t query = 0, key = 0, value = 0, output = 0;
  std::int64_t joint() const { return query + key + value; }
};
AttentionWidths attention_widths(const ModelConfig& config);
bool has_norm_bias(const ModelConfig& config);
Heads heads_of(const ModelConfig& config);        // of a network whose blocks are alike
bool changes_addends(const ModelConfig& config);  // what halves of blocks add to the stream is dropped in part, or scaled
bool shares_keys(const ModelConfig& config, std::int64_t tensor_ranks);  // a block has fewer of keys: several ranks read one head
// Of one tensor rank: keys and values of one head at least (Megatron-Core, transformer/attention.py).
AttentionWidths attention_widths(const Heads& heads, std::int64_t tensor_ranks);
bool is_linear(const ModelConfig& config, std::int64_t block);                           // block: from 0
BlockHalf half_of(const ModelConfig& config, std::int64_t block);                        // block: from 0
Tokens rows_of(const ModelConfig& config, std::int64_t block);                           // that a block changes; block: from 0
bool attends_to_source(const ModelConfig& config, std::int64_t block);                   // block: from 0
std::int64_t tokens_in(Tokens which, const ModelConfig& config, std::int64_t sequence);  // of a sample of so many
std::int64_t rotary_width(const ModelConfig& config);                                    // of a head: what turns with its position
std::int64_t window_of(const ModelConfig& config, std::int64_t block);                   // 0: all; block: from 0

// What no network can be, under Hugging Face's names of the fields; a size of 0 is taken as unknown and not judged.
// Without violations every number of parameters fits 63 bits.
std::vector<Violation> violations(const ModelConfig& config);

// A config.json, the folder that holds one, or the name of one in profiles/models: "qwen3-30b-a3b".
std::string model_config_file(const std::string& path_or_name);
// Its text. Python writes numbers that JSON does not know (Infinity, NaN): they are as good as missing.
Json load_config_json(const std::string& path);

// Reads config.json as it is. Throws InputError with all violations (unknown model_type, sizes that are not positive,
// heads that do not divide hidden, ...). Keys that are not read: config_notes().
ModelConfig load_model_config(const std::string& path_or_name);

// What a config.json says of the network of text: all of it, or its "text_config", which stands beside what sees images.
const Json& text_of(const Json& config);

// The same keys that Hugging Face uses, so that the plan file holds a readable config.
Json to_json(const ModelConfig& config);
ModelConfig model_config_from_json(const Json& json, const std::string& file);

}  // namespace sim
