// Small networks that the tests of this room share.
#pragma once

#include "sim/model/model_config.h"

namespace sim {

inline ModelConfig small_gpt2() {
  ModelConfig config;
  config.model_type = "gpt2";
  config.layers = 3;
  config.hidden = 16;
  config.heads = config.kv_heads = 4;
  config.head_dim = 4;
  config.ffn = 64;
  config.vocabulary = 50;
  config.max_positions = 32;
  config.attention_bias = config.projection_bias = config.mlp_bias = true;
  config.tied_embeddings = true;
  return config;
}

inline ModelConfig small_llama() {
  ModelConfig config = small_gpt2();
  config.model_type = "llama";
  config.kv_heads = 2;
  config.ffn = 40;
  config.norm = Norm::RmsNorm;
  config.position = Position::Rotary;
  config.activation = Activation::Silu;
  config.gated_mlp = true;
  config.attention_bias = config.projection_bias = config.mlp_bias = false;
  config.tied_embeddings = false;
  return config;
}

}  // namespace sim
