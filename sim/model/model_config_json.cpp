// Hugging Face config.json <-> ModelConfig. The keys and their defaults are those of the Transformers configuration classes.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/model/attention_form_json.h"
#include "sim/model/expert_form_json.h"
#include "sim/model/model_config.h"
#include "sim/model/rope_scaling_json.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr std::array<std::string_view, 12> kModelTypes = {"gpt2",        "llama",       "mistral", "qwen2", "mixtral",   "deepseek",
                                                          "deepseek_v2", "deepseek_v3", "grok-1",  "olmoe", "qwen2_moe", "qwen3_moe"};

struct ActivationName {
  std::string_view name;
  Activation activation;
};
constexpr std::array kActivations = std::to_array<ActivationName>({{"gelu_new", Activation::GeluTanh},
                                                                   {"gelu_pytorch_tanh", Activation::GeluTanh},
                                                                   {"gelu", Activation::Gelu},
                                                                   {"silu", Activation::Silu},
                                                                   {"swish", Activation::Silu},
                                                                   {"relu", Activation::Relu}});

constexpr JsonReader::Range kSize = {1, 1e9};  // closer limits, in violations(), keep every product of sizes inside 64 bits
constexpr JsonReader::Range kShare = {0, 1};
constexpr JsonReader::Range kPositive = {1e-30, 1e30};

std::string_view name_of(Activation activation) {
  for (const ActivationName& known : kActivations)
    if (known.activation == activation) return known.name;
  return {};
}

Activation read_activation(const JsonReader& reader, const std::string& key, std::string_view fallback) {
  std::array<std::string_view, kActivations.size()> names;
  std::size_t instead = 0;
  for (std::size_t at = 0; at < names.size(); ++at) {
    names[at] = kActivations[at].name;
    if (names[at] == fallback) instead = at;
  }
  return kActivations[reader.choice(key, names, instead)].activation;
}

// A size that is at fault is told once and becomes 0, which violations() does not judge.
std::int64_t size(const JsonReader& reader, const std::string& key) {
  if (!reader.has(key)) reader.violate(key, "is missing", "add it");
  return reader.integer(key, 0, kSize);
}
std::int64_t size(const JsonReader& reader, const std::string& key, std::int64_t fallback) {
  return reader.has(key) ? reader.integer(key, 0, kSize) : fallback;
}

std::int64_t width_of_head(const ModelConfig& config) { return config.heads > 0 ? config.hidden / config.heads : 0; }

// GPT2Config answers to its own names and to the usual ones.
std::string spelling(const JsonReader& reader, const char* own, const char* usual) {
  return !reader.has(own) && reader.has(usual) ? usual : own;
}

// A switch that would change the network into one that is not described here.
void require(const JsonReader& reader, const std::string& key, bool accepted, const std::string& meaning) {
  if (reader.boolean(key, accepted) != accepted)
    reader.violate(key, fmt::format("is {}: {} is not supported", !accepted, meaning),
                   "plan another network: with another value it would be one, too");
}

ModelConfig read_gpt2(const JsonReader& reader) {
  ModelConfig config;
  config.model_type = "gpt2";
  config.layers = size(reader, spelling(reader, "n_layer", "num_hidden_layers"));
  config.hidden = size(reader, spelling(reader, "n_embd", "hidden_size"));
  config.heads = config.kv_heads = size(reader, spelling(reader, "n_head", "num_attention_heads"));
  config.max_positions = size(reader, spelling(reader, "n_positions", "max_position_embeddings"));
  config.vocabulary = size(reader, "vocab_size");
  config.head_dim = width_of_head(config);
  config.ffn = size(reader, "n_inner", 4 * config.hidden);
  config.norm = Norm::LayerNorm;
  config.position = Position::Learned;
  config.activation = read_activation(reader, "activation_function", "gelu_new");
  config.attention_bias = config.projection_bias = config.mlp_bias = true;
  config.tied_embeddings = reader.boolean("tie_word_embeddings", true);
  config.norm_epsilon = reader.number("layer_norm_epsilon", 1e-5, kPositive);
  config.embedding_dropout = reader.number("embd_pdrop", 0.1, kShare);
  config.residual_dropout = reader.number("resid_pdrop", 0.1, kShare);
  config.attention_dropout = reader.number("attn_pdrop", 0.1, kShare);
  require(reader, "scale_attn_weights", true, "unscaled attention");
  require(reader, "scale_attn_by_inverse_layer_idx", false, "attention scaled by the layer");
  require(reader, "add_cross_attention", false, "cross-attention");
  return config;
}

// Attention over a window is other work; a window as long as the positions is none.
void refuse_windows(const JsonReader& reader, const ModelConfig& config) {
  const bool is_used = config.model_type == "mistral" || reader.boolean("use_sliding_window", false);
  const std::int64_t window = reader.integer("sliding_window", config.max_positions);
  if (is_used && window < config.max_positions)
    reader.violate(
        "sliding_window",
        fmt::format("is {}, shorter than max_position_embeddings {}: windowed attention is not supported", window, config.max_positions),
        "plan another network: without the window it would be one, too");
}

// A head of the kernel is as wide as a key and a value on the mean: the same products and the same bytes. A family of experts without any is dense.
void read_latent(const JsonReader& reader, ModelConfig& config) {
  if (config.model_type != "deepseek_v2" && config.model_type != "deepseek_v3") return;
  const AttentionForm form = config.attention = read_latent_attention(reader);
  config.kv_heads = config.heads;
  config.head_dim = (form.key_width() + form.v_dim) / 2;
  require(reader, "rope_interleave", true, "turning halves of a head instead of neighbours");
  require(reader, "attention_bias", false, "a bias of latent attention");
  if (config.experts && config.experts->first_dense_layers >= config.layers) config.experts.reset();
}

void write_latent(Json& json, const ModelConfig& config) {
  write_latent_attention(json, config.attention);
  json["head_dim"] = config.attention.qk_rope;  // what Transformers' rotary positions take it for
  json["rope_interleave"] = true;
  if (!config.experts) json["first_k_dense_replace"] = config.layers;
}

ModelConfig read_llama(const JsonReader& reader, std::string_view model_type) {
  ModelConfig config;
  config.model_type = model_type;
  config.layers = size(reader, "num_hidden_layers");
  config.hidden = size(reader, "hidden_size");
  config.heads = size(reader, "num_attention_heads");
  config.kv_heads = size(reader, "num_key_value_heads", config.heads);
  config.head_dim = size(reader, "head_dim", width_of_head(config));
  config.ffn = size(reader, "intermediate_size");
  config.experts = read_experts(reader, {config.ffn});
  config.vocabulary = size(reader, "vocab_size");
  config.max_positions = size(reader, "max_position_embeddings", 2048);
  config.norm = Norm::RmsNorm;
  config.position = Position::Rotary;
  config.activation = read_activation(reader, "hidden_act", "silu");
  config.gated_mlp = true;
  config.attention_bias =
      model_type == "qwen2" || model_type == "qwen2_moe" || (model_type == "llama" && reader.boolean("attention_bias", false));
  config.projection_bias = model_type == "llama" && config.attention_bias;
  config.mlp_bias = model_type == "llama" && reader.boolean("mlp_bias", false);
  config.tied_embeddings = reader.boolean("tie_word_embeddings", model_type == "grok-1");
  config.norm_epsilon = reader.number("rms_norm_eps", 1e-6, kPositive);
  config.attention_dropout = reader.number("attention_dropout", 0.0, kShare);
  refuse_windows(reader, config);
  read_latent(reader, config);
  read_rotary(reader, config);
  if (reader.number("partial_rotary_factor", 1.0) != 1.0)
    reader.violate("partial_rotary_factor", "is not 1: rotary positions on a part of the head are not supported",
                   "plan another network: all of a head turned would be one, too");
  return config;
}

Json gpt2_json(const ModelConfig& config) {
  return {{"model_type", config.model_type},
          {"n_layer", config.layers},
          {"n_embd", config.hidden},
          {"n_head", config.heads},
          {"n_inner", config.ffn},
          {"n_positions", config.max_positions},
          {"vocab_size", config.vocabulary},
          {"activation_function", name_of(config.activation)},
          {"layer_norm_epsilon", config.norm_epsilon},
          {"initializer_range", config.initializer_range},
          {"embd_pdrop", config.embedding_dropout},
          {"resid_pdrop", config.residual_dropout},
          {"attn_pdrop", config.attention_dropout},
          {"tie_word_embeddings", config.tied_embeddings}};
}

Json llama_json(const ModelConfig& config) {
  Json json = {{"model_type", config.model_type},
               {"num_hidden_layers", config.layers},
               {"hidden_size", config.hidden},
               {"num_attention_heads", config.heads},
               {"num_key_value_heads", config.kv_heads},
               {"head_dim", config.head_dim},
               {"intermediate_size", config.ffn},
               {"max_position_embeddings", config.max_positions},
               {"vocab_size", config.vocabulary},
               {"hidden_act", name_of(config.activation)},
               {"rms_norm_eps", config.norm_epsilon},
               {"rope_theta", config.rope_theta},
               {"initializer_range", config.initializer_range},
               {"attention_dropout", config.attention_dropout},
               {"tie_word_embeddings", config.tied_embeddings}};
  if (config.model_type == "llama") {
    json["attention_bias"] = config.attention_bias;
    json["mlp_bias"] = config.mlp_bias;
  }
  write_rope_scaling(json, config.rope_scaling);
  if (config.attention.kind == AttentionKind::Latent) write_latent(json, config);
  if (config.experts) write_experts(json, *config.experts);
  return json;
}

}  // namespace

ModelConfig model_config_from_json(const Json& json, const std::string& file) {
  const JsonReader reader(json, file);
  const std::string model_type(kModelTypes[reader.choice("model_type", kModelTypes)]);
  reader.finish();  // without a known type the other keys mean nothing
  ModelConfig config = model_type == "gpt2" ? read_gpt2(reader) : read_llama(reader, model_type);
  config.initializer_range = reader.number("initializer_range", 0.02, {0, 1e3});
  for (const Violation& violation : violations(config)) reader.violate(violation.where, violation.problem, violation.remedy);
  reader.finish();
  return config;
}

ModelConfig load_model_config(const std::string& path) { return model_config_from_json(load_json_file(path), path); }

Json to_json(const ModelConfig& config) { return config.model_type == "gpt2" ? gpt2_json(config) : llama_json(config); }

}  // namespace sim
