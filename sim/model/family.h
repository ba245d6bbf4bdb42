// Families of networks as Hugging Face's config.json names them: one row a family. A row says which keys its file has and which field each fills,
// what its class takes where the file is silent, and what is always so. Read and written by family_json.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/model/model_config.h"

namespace sim {

// What takes more than one key. Maps: all of a convolutional network. Patches: images as tokens. Linear: linear attention, and which layers have it. PositionRows: max_position_embeddings with position_offset. FalconBlock: heads, norms and positions of Falcon.
// GraniteFactors: of embedding, scores, residual and logits. DepthFactors: MiniCPM's, by the depth and the width of a network that was tuned. Unturned:
// which layers have no positions. RotaryDim: how much of a head turns, as a width. MultiQuery: one head of keys and values, or all. GptNeo: which
// layers have the window. Mosaic: settings of attention and experts in objects of their own (MPT, DBRX).
// T5Stacks, BartStacks: an encoder and a decoder, with biases by distance or with widths. T5FeedForward: an activation with or without a gate. LocalRadius: LongT5's windows.
// Llama4: which layers turn, see pieces, and have experts. ScoreFactor: Grok 1 multiplies scores where others divide them by a root.
// Sound: Whisper's frames. BaichuanPositions: rotary ones, or slopes where the file names none; beside them whether the class is that of Baichuan 2.
// HeadsPerLayer, LayerScaling, BlockConfigs: sizes of blocks that are not alike (Laguna, OpenELM, Nemotron-NAS). Gating: of heads or elements. Gemma4: heads of blocks without a window, shared keys, inputs of blocks.
// AdjustedWidth: LFM2's, of which two thirds are taken, rounded. GateNorm: whether what a scan puts out is normed.
// TableWidth: ELECTRA's embedding_size. EsmPositions: those that turn, or a table. WidthRatio: a feed-forward in widths of the stream (DINOv2).
// SaidPositions: none where the file names no base (OLMo Hybrid).
// BothWays: windows of ModernBERT, which reach to both sides, with bases of their own. BothHalves: Qwen's width, of gate and up together. RopeRatio: ChatGLM's base of positions. CorrectedScores: whether scores choose with a summand (Ling).
enum class Part : std::uint8_t {
  Rotary,
  Windows,
  Latent,
  Experts,
  PositionRows,
  FalconBlock,
  ScoreFactor,
  Maps,
  Patches,
  Linear,
  GraniteFactors,
  Llama4,
  DepthFactors,
  Unturned,
  RotaryDim,
  MultiQuery,
  GptNeo,
  Mosaic,
  T5Stacks,
  BartStacks,
  T5FeedForward,
  ScaledEmbedding,
  BothHalves,
  RopeRatio,
  CorrectedScores,
  TableWidth,
  SaidPositions,
  EsmPositions,
  WidthRatio,
  BothWays,
  AdjustedWidth,
  Sound,
  BaichuanPositions,
  GateNorm,
  HeadsPerLayer,
  LayerScaling,
  BlockConfigs,
  Gating,
  LocalRadius,
  Gemma4
};
using KeyField = std::variant<std::int64_t ModelConfig::*, double ModelConfig::*, bool ModelConfig::*, Activation ModelConfig::*,
                              QkNorm ModelConfig::*, Part>;  // QkNorm: a switch for norms of heads

enum class KeyUse : std::uint8_t {
  Needed,
  Written,
  WhenOther
};  // must be there; always written; written unless it is what the family takes
struct Key {
  std::string_view name;
  KeyField field;
  KeyUse use = KeyUse::Written;
  std::string_view also{};  // another name of the same
  double low = 0, high = 1e30;
};

// Which blocks have the window where the file has no `layer_types`; counted from 1. Late: those beyond max_window_layers. AllAtFirst: all, and told one by one. Listed: none, unless they are told.
enum class WindowPattern : std::uint8_t {
  Never,
  All,
  AllAtFirst,
  Odd,
  AllButEveryNth,
  AllButEveryFourth,
  FirstOfFourFull,
  AllButFirstAndSixths,
  Listed,
  Switched,
  SwitchedLate,
  SwitchedOddEarly
};

// A switch that would turn the network into one that is not described here.
struct Switch {
  std::string_view key, accepted;  // as JSON
  std::string_view meaning;        // of another value
};

struct Family {
  std::string_view name;
  std::span<const Key> keys, more{};
  void (*describe)(ModelConfig&) = [](ModelConfig&) {};  // the fields where they differ from ModelConfig's defaults
  WindowPattern windows = WindowPattern::Never;
  std::span<const Switch> switches{};
  void (*complete)(ModelConfig&) = [](ModelConfig&) {};  // fields that follow from those that were read
};

std::span<const Family> gpt_families();      // LayerNorm, no gate
std::span<const Family> llama_families();    // RMSNorm, a gate
std::span<const Family> expert_families();   // feed-forwards of experts
std::span<const Family> encoder_families();  // positions see what follows them
std::span<const Family> map_families();      // convolutions
std::span<const Family> sized_families();    // blocks that differ in their heads
std::span<const Family> linear_families();   // a state in place of scores, in some layers or all
std::span<const Family> dense_families();    // of Llama's kind, but for a word or two
std::span<const Family> rotary_families();   // LayerNorm, and positions that are no table
std::span<const Family> routed_families();   // experts beside what dense families have
std::span<const Family> paired_families();   // an encoder and a decoder
std::span<const Family> hosted_families();   // their class stands beside their weights
std::vector<std::span<const Family>> all_families();

const Family* find_family(std::string_view name);
const Family* family_of_text(
    std::string_view name);  // likewise; or of the text of a network that sees, where both stand in one object: qwen2_5_vl
std::optional<std::string_view> key_of(std::string_view family, std::int64_t ModelConfig::*field);  // as the family spells it

// What all decoders of Llama's kind share; routed: of experts alone, without a dense width.
std::span<const Key> llama_keys();
std::span<const Key> routed_keys();
void describe_llama(ModelConfig& config);
void describe_gemma2(ModelConfig& config);
void complete_gemma(ModelConfig& config);
void describe_qwen2(ModelConfig& config);
void describe_qwen3(ModelConfig& config);
std::span<const Switch> latent_switches();
void with_biases(ModelConfig& config);    // of all projections
void biases_follow(ModelConfig& config);  // one key for those of attention and of the feed-forward
void windows_turn(ModelConfig& config);   // beside projection_follows: layers without a window have no positions
std::span<const Key> gemma_keys();
std::span<const Key> gemma_caps();
std::span<const Switch> gemma_switches();
void projection_follows(ModelConfig& config);  // one key for the biases of all projections of attention
constexpr Key size_key(std::string_view name, std::int64_t ModelConfig::*field, KeyUse use = KeyUse::Needed, std::string_view also = {}) {
  return {name, field, use, also, 1, 1e9};
}
constexpr Key share_key(std::string_view name, double ModelConfig::*field, KeyUse use = KeyUse::Written) {
  return {name, field, use, {}, 0, 1};
}
constexpr Key positive_key(std::string_view name, double ModelConfig::*field, KeyUse use = KeyUse::Written) {
  return {name, field, use, {}, 1e-30, 1e30};
}
constexpr Key deviation_key(std::string_view name) { return {name, &ModelConfig::initializer_range, KeyUse::Written, {}, 0, 1e3}; }
constexpr Key flag_key(std::string_view name, bool ModelConfig::*field, KeyUse use = KeyUse::Written) { return {name, field, use}; }

}  // namespace sim
