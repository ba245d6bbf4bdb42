#include "sim/model/model_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/model/family.h"
#include "sim/units/at.h"

namespace sim {
namespace {

// The largest layer has under 10^14 elements then, and 10^4 of them stay under 2^63.
struct Limit {
  std::int64_t ModelConfig::*size;
  const char* usual_name;
  std::int64_t largest;
};
constexpr Limit kLimits[] = {
    {&ModelConfig::layers, "num_hidden_layers", 10'000},       {&ModelConfig::hidden, "hidden_size", 1'000'000},
    {&ModelConfig::heads, "num_attention_heads", 100'000},     {&ModelConfig::kv_heads, "num_key_value_heads", 100'000},
    {&ModelConfig::head_dim, "head_dim", 1'000'000},           {&ModelConfig::ffn, "intermediate_size", 10'000'000},
    {&ModelConfig::vocabulary, "vocab_size", 1'000'000'000},   {&ModelConfig::max_positions, "max_position_embeddings", 1'000'000'000},
    {&ModelConfig::token_types, "type_vocab_size", 1'000'000}, {&ModelConfig::embedding_width, "word_embed_proj_dim", 1'000'000}};
constexpr std::int64_t kWidestAttention = 4'000'000;  // heads * head_dim

bool both_known(std::int64_t a, std::int64_t b) { return a > 0 && b > 0; }

}  // namespace

bool changes_addends(const ModelConfig& config) { return config.residual_dropout > 0 || config.residual_factor != 1; }

bool has_norm_bias(const ModelConfig& config) { return config.norm == Norm::LayerNorm && config.norm_weight && config.norm_bias; }

Heads heads_of(const ModelConfig& config) {
  const AttentionForm& form = config.attention;
  const bool is_latent = form.kind == AttentionKind::Latent;
  Heads heads{.queries = config.heads,
              .keys = is_latent ? config.heads : config.kv_heads,
              .key_width = is_latent ? form.key_width() : config.head_dim,
              .value_width = is_latent              ? form.v_dim
                             : config.value_dim > 0 ? config.value_dim
                                                    : config.head_dim};
  heads.made_before = config.shared_kv_layers == config.layers && config.layers > 0;
  heads.one_product = config.keys_as_values;
  if (config.attention_gate) heads.gate = config.heads * (config.head_gate ? 1 : heads.value_width);
  return heads;
}

AttentionWidths attention_widths(const Heads& heads, std::int64_t tensor_ranks) {
  const std::int64_t parts = heads.key_parts(tensor_ranks);
  return {heads.queries * heads.key_width / tensor_ranks, heads.keys * heads.key_width / parts, heads.keys * heads.value_width / parts,
          heads.queries * heads.value_width / tensor_ranks};
}

AttentionWidths attention_widths(const ModelConfig& config) { return attention_widths(heads_of(config), 1); }

bool shares_keys(const ModelConfig& config, std::int64_t tensor_ranks) {
  if (config.attention.kind == AttentionKind::Latent) return config.heads < tensor_ranks;
  const std::vector<BlockSizes> all = different_sizes(config);
  return std::ranges::any_of(all, [&](const BlockSizes& sizes) { return sizes.kv_heads < tensor_ranks; });
}

std::int64_t rotary_width(const ModelConfig& config) {
  const std::int64_t whole = config.attention.kind == AttentionKind::Latent ? config.attention.qk_rope : config.head_dim;
  return static_cast<std::int64_t>(static_cast<double>(whole) * config.rotary_share);
}

bool is_linear(const ModelConfig& config, std::int64_t block) {
  return !config.linear_layers.empty() && sim::at(config.linear_layers, block);
}

BlockHalf half_of(const ModelConfig& config, std::int64_t block) {
  return config.halves.empty() ? BlockHalf::Both : sim::at(config.halves, block);
}

Tokens rows_of(const ModelConfig& config, std::int64_t block) {
  if (!config.encoder) return Tokens::All;
  return block < config.encoder->layers ? Tokens::Source : Tokens::Target;
}

bool attends_to_source(const ModelConfig& config, std::int64_t block) {
  return rows_of(config, block) == Tokens::Target && (block - config.encoder->layers) % 2 == 1;
}

std::int64_t tokens_in(Tokens which, const ModelConfig& config, std::int64_t sequence) {
  if (!config.encoder || which == Tokens::All) return sequence;
  const std::int64_t usual = config.encoder->hears() ? config.encoder->frames : sequence / 2,
                     source = config.source_tokens > 0 ? config.source_tokens : usual;
  return which == Tokens::Source ? source : sequence - source;
}

std::int64_t window_of(const ModelConfig& config, std::int64_t block) {
  return config.windowed.empty() || sim::at(config.windowed, block) ? config.window : 0;
}

std::vector<Violation> violations(const ModelConfig& config) {
  std::vector<Violation> found;
  const auto name_of = [&](std::int64_t ModelConfig::*size, const char* usual) {
    return std::string(key_of(config.model_type, size).value_or(usual));
  };
  const std::string heads_name = name_of(&ModelConfig::heads, "num_attention_heads");
  for (const Limit& limit : kLimits) {
    const std::int64_t size = config.*limit.size;
    if (size < 0 || size > limit.largest)
      found.push_back({name_of(limit.size, limit.usual_name), fmt::format("is {}, expected 1 to {}", size, limit.largest), "correct it"});
  }
  const bool explicit_head = both_known(config.heads, config.head_dim) && config.head_dim != config.hidden / config.heads;
  if (!explicit_head && config.sizes.empty() && both_known(config.heads, config.hidden) && config.hidden % config.heads != 0)
    found.push_back(
        {heads_name,
         fmt::format("is {}, which does not divide {} {}", config.heads, name_of(&ModelConfig::hidden, "hidden_size"), config.hidden),
         "choose a divisor"});
  if (config.sizes.empty() && both_known(config.heads, config.kv_heads) && config.heads % config.kv_heads != 0)
    found.push_back({"num_key_value_heads", fmt::format("is {}, which does not divide {} {}", config.kv_heads, heads_name, config.heads),
                     "choose a divisor"});
  for (const BlockSizes& sizes : different_sizes(config))
    if (!config.sizes.empty() && both_known(sizes.heads, sizes.kv_heads) && sizes.heads % sizes.kv_heads != 0)
      found.push_back(
          {"num_key_value_heads", fmt::format("a block has {} for {} heads of queries", sizes.kv_heads, sizes.heads), "choose a divisor"});
  const bool is_latent = config.attention.kind == AttentionKind::Latent;
  if (const std::int64_t turned = rotary_width(config); config.position == Position::Rotary && turned % 2 != 0)
    found.push_back({is_latent ? "qk_rope_head_dim" : "head_dim",
                     fmt::format("is {}: rotary positions turn pairs, so it must be even", turned), "choose an even size"});
  if (both_known(config.heads, config.head_dim) && config.heads > kWidestAttention / config.head_dim)
    found.push_back({heads_name,
                     fmt::format("is {}, with heads of {} an attention wider than {}", config.heads, config.head_dim, kWidestAttention),
                     "choose fewer heads"});
  return found;
}

}  // namespace sim
