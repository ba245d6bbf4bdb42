// Weights as Hugging Face's transformers names and lays them out, in safetensors: in before the first step, out of a checkpoint of any layout. A family
// is a row of kFamilies (hugging_face.cpp).
//
//   ours                       gpt2                                llama
//   attention.qkv [q|k|v, in]  attn.c_attn (Conv1D: [in, q|k|v])   self_attn.q_proj, k_proj, v_proj, one below the other
//   mlp.up [gate|up, in]       mlp.c_fc    (Conv1D)                mlp.gate_proj, up_proj
//   attention.q_down, kv_up                                        of latent attention: self_attn.q_a_proj, kv_b_proj, ... one each
//   embedding.tokens           wte, also the head's (tied)         embed_tokens, and lm_head
//
// Rows of the vocabulary that are padding are not there, and zero here.
#pragma once

#include <string>
#include <vector>

#include "executor/training/parameter_store.h"

namespace executor {

struct HuggingFaceSource {
  std::vector<std::string> names;  // their rows one below the other; names without "transformer." are read too
  bool transposed = false;
  std::vector<std::int64_t> rows;  // of theirs, by ours; empty: as ours
  std::int64_t experts = 0;        // > 0: of all of them in one tensor, [experts, inputs, outputs]
};
HuggingFaceSource hugging_face_source(const sim::ModelConfig& config, const sim::Parameter& parameter);

// path: a safetensors file, or a folder with some, or a folder that PEFT wrote, whose adapters stand beside the weights that it names. Throws sim::InputError naming what in the config.json beside them describes another function, and
// tensors that are missing, left over or of another shape.
void load_hugging_face(ParameterStore& parameters, const sim::ModelGraph& model, const std::string& path);

// Every part that this rank has of a parameter, from the whole of it.
void put_whole(ParameterStore& parameters, FlatBucket& bucket, const sim::BucketSlot& slot, const at::Tensor& whole);

// The newest checkpoint of a run -> folder/model.safetensors and folder/config.json, and the tokenizer's files that the run keeps beside its
// checkpoints. Of a training of adapters those alone (adapter_files.h). Throws sim::InputError.
void export_hugging_face(const std::string& checkpoints, const std::string& folder);
// With what transformers asks for: the class of the network and the type of its weights. In hugging_face_json.cpp, as the next.
void save_exported_config(const sim::ModelConfig& config, c10::ScalarType type, const std::string& path);
void save_model_config(const sim::ModelConfig& config, const std::string& path);

}  // namespace executor
