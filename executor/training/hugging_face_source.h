// Where the values of one of our parameters stand among the weights of Hugging Face's transformers: under which names, in which order of rows.
//
//   ours                       gpt2                                llama
//   attention.qkv [q|k|v, in]  attn.c_attn (Conv1D: [in, q|k|v])   self_attn.q_proj, k_proj, v_proj, one below the other
//   mlp.up [gate|up, in]       mlp.c_fc    (Conv1D)                mlp.gate_proj, up_proj
//   attention.q_down, kv_up                                        of latent attention: self_attn.q_a_proj, kv_b_proj, ... one each
//   embedding.tokens           wte, also the head's (tied)         embed_tokens, and lm_head
//
// Rows of the vocabulary that are padding are not there, and zero here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/model/model_graph.h"

namespace executor {

struct HuggingFaceSource {
  std::vector<std::string> names;  // their rows one below the other; names without "transformer." are read too
  bool transposed = false;
  std::vector<std::int64_t> rows;  // of theirs, by ours; empty: as ours
  std::int64_t experts = 0;        // > 0: of all of them in one tensor, [experts, inputs, outputs]
};
HuggingFaceSource hugging_face_source(const sim::ModelConfig& config, const sim::Parameter& parameter);

}  // namespace executor
