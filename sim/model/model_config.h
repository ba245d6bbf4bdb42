// The network to be trained, as a Hugging Face config.json states it. No model format of our own.
// Read by model_graph (operators) and by the executor (layers). Does not say how it is trained: that is the plan.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/model/attention_form.h"
#include "sim/model/expert_form.h"
#include "sim/model/rope_scaling.h"
#include "sim/units/input_error.h"
#include "sim/units/json_fwd.h"

namespace sim {

enum class Norm { LayerNorm, RmsNorm };
enum class Position { Learned, Rotary };
enum class Activation { GeluTanh, Gelu, Silu, Relu };

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
  bool mlp_bias = false;
  bool tied_embeddings = false;
  double norm_epsilon = 1e-5;
  double rope_theta = 10000.0;
  double initializer_range = 0.02;
  double embedding_dropout = 0.0;
  double residual_dropout = 0.0;
  double attention_dropout = 0.0;  // of the probabilities

  AttentionForm attention{};            // latent: head_dim is the mean of a key's and a value's width
  std::optional<ExpertForm> experts{};  // of the feed-forwards, but for the first dense layers
  RopeScaling rope_scaling{};           // beside rope_theta

  bool operator==(const ModelConfig&) const = default;
};

// Of all heads together: what attention reads a token, and what it puts out.
struct AttentionWidths {
  std::int64_t query = 0, key = 0, value = 0, output = 0;
  std::int64_t joint() const { return query + key + value; }
};
AttentionWidths attention_widths(const ModelConfig& config);
std::int64_t rotary_width(const ModelConfig& config);  // of a head: what turns with its position

// What no network can be, under Hugging Face's names of the fields; a size of 0 is taken as unknown and not judged.
// Without violations every number of parameters fits 63 bits.
std::vector<Violation> violations(const ModelConfig& config);

// Reads config.json as it is. Throws InputError with all violations (unknown model_type, sizes that are not positive,
// heads that do not divide hidden, ...). Keys that mean nothing here are ignored.
ModelConfig load_model_config(const std::string& path);

// The same keys that Hugging Face uses, so that the plan file holds a readable config.
Json to_json(const ModelConfig& config);
ModelConfig model_config_from_json(const Json& json, const std::string& file);

}  // namespace sim
