#include "executor/training/hugging_face_names.h"

#include <algorithm>

namespace executor {
namespace {

constexpr auto kGpt2 = std::to_array<WeightRow>({
    {"embedding.tokens", {"transformer.wte"}},
    {"embedding.positions", {"transformer.wpe"}},
    {"attention.norm", {"transformer.h.{}.ln_1"}},
    {"attention.qkv", {"transformer.h.{}.attn.c_attn"}, WeightLayout::Transposed},
    {"attention.projection", {"transformer.h.{}.attn.c_proj"}, WeightLayout::Transposed},
    {"mlp.norm", {"transformer.h.{}.ln_2"}},
    {"mlp.up", {"transformer.h.{}.mlp.c_fc"}, WeightLayout::Transposed},
    {"mlp.down", {"transformer.h.{}.mlp.c_proj"}, WeightLayout::Transposed},
    {"head.norm", {"transformer.ln_f"}},
    {"head", {"lm_head"}},
});
constexpr auto kLlama = std::to_array<WeightRow>({
    {"embedding.tokens", {"model.embed_tokens"}},
    {"attention.norm", {"model.layers.{}.input_layernorm"}},
    {"attention.qkv", {"model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj", "model.layers.{}.self_attn.v_proj"}},
    {"attention.q", {"model.layers.{}.self_attn.q_proj"}},
    {"attention.q_down", {"model.layers.{}.self_attn.q_a_proj"}},
    {"attention.q_norm", {"model.layers.{}.self_attn.q_a_layernorm"}},
    {"attention.q_up", {"model.layers.{}.self_attn.q_b_proj"}},
    {"attention.kv_down", {"model.layers.{}.self_attn.kv_a_proj_with_mqa"}},
    {"attention.kv_norm", {"model.layers.{}.self_attn.kv_a_layernorm"}},
    {"attention.kv_up", {"model.layers.{}.self_attn.kv_b_proj"}},
    {"attention.q_head_norm", {"model.layers.{}.self_attn.q_norm"}},
    {"attention.k_head_norm", {"model.layers.{}.self_attn.k_norm"}},
    {"attention.sinks", {"model.layers.{}.self_attn.sinks"}},
    {"attention.projection", {"model.layers.{}.self_attn.o_proj"}},
    {"mlp.norm", {"model.layers.{}.post_attention_layernorm"}},
    {"mlp.up", {"model.layers.{}.mlp.gate_proj", "model.layers.{}.mlp.up_proj"}},
    {"mlp.down", {"model.layers.{}.mlp.down_proj"}},
    {"mlp.router", {"model.layers.{}.mlp.gate"}},
    {"mlp.router.correction", {"model.layers.{}.mlp.gate.e_score_correction_bias"}},
    {"mlp.experts.up", {"model.layers.{}.mlp.experts.{e}.gate_proj", "model.layers.{}.mlp.experts.{e}.up_proj"}},
    {"mlp.experts.down", {"model.layers.{}.mlp.experts.{e}.down_proj"}},
    {"mlp.shared.up", {"model.layers.{}.mlp.shared_experts.gate_proj", "model.layers.{}.mlp.shared_experts.up_proj"}},
    {"mlp.shared.down", {"model.layers.{}.mlp.shared_experts.down_proj"}},
    {"head.norm", {"model.norm"}},
    {"head", {"lm_head"}},
});

// In the place of Llama's rows of the same parameters.
constexpr auto kMixtral = std::to_array<WeightRow>({
    {"mlp.router", {"model.layers.{}.block_sparse_moe.gate"}},
    {"mlp.router.correction", {"model.layers.{}.block_sparse_moe.e_score_correction_bias"}},
    {"mlp.experts.up", {"model.layers.{}.block_sparse_moe.experts.{e}.w1", "model.layers.{}.block_sparse_moe.experts.{e}.w3"}},
    {"mlp.experts.down", {"model.layers.{}.block_sparse_moe.experts.{e}.w2"}},
});
constexpr auto kQwen2Moe = std::to_array<WeightRow>({
    {"mlp.shared.up", {"model.layers.{}.mlp.shared_expert.gate_proj", "model.layers.{}.mlp.shared_expert.up_proj"}},
    {"mlp.shared.down", {"model.layers.{}.mlp.shared_expert.down_proj"}},
    {"mlp.shared.gate", {"model.layers.{}.mlp.shared_expert_gate"}},
});
constexpr auto kLaguna = std::to_array<WeightRow>({
    {"attention.qkv",
     {"model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj", "model.layers.{}.self_attn.v_proj",
      "model.layers.{}.self_attn.g_proj"}},
    {"mlp.router.correction", {"model.layers.{}.mlp.experts.e_score_correction_bias"}},
    {"mlp.shared.up", {"model.layers.{}.mlp.shared_expert.gate_proj", "model.layers.{}.mlp.shared_expert.up_proj"}},
    {"mlp.shared.down", {"model.layers.{}.mlp.shared_expert.down_proj"}},
});
constexpr auto kMiMoFlash = std::to_array<WeightRow>({{"attention.sinks", {"model.layers.{}.self_attn.attention_sink_bias"}}});
constexpr auto kAfmoe = std::to_array<WeightRow>({
    {"attention.qkv",
     {"model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj", "model.layers.{}.self_attn.v_proj",
      "model.layers.{}.self_attn.gate_proj"}},
    {"attention.norm_behind", {"model.layers.{}.post_attention_layernorm"}},
    {"mlp.norm", {"model.layers.{}.pre_mlp_layernorm"}},
    {"mlp.norm_behind", {"model.layers.{}.post_mlp_layernorm"}},
    {"mlp.router", {"model.layers.{}.mlp.router.gate"}},
    {"mlp.router.correction", {"model.layers.{}.mlp.expert_bias"}},
});
constexpr auto kGptOss = std::to_array<WeightRow>({
    {"mlp.router", {"model.layers.{}.mlp.router"}},
    {"mlp.experts.up.weight", {"model.layers.{}.mlp.experts.gate_up_proj"}, WeightLayout::PackedPairs},
    {"mlp.experts.up.bias", {"model.layers.{}.mlp.experts.gate_up_proj_bias"}, WeightLayout::PackedPairs},
    {"mlp.experts.down.weight", {"model.layers.{}.mlp.experts.down_proj"}, WeightLayout::Packed},
    {"mlp.experts.down.bias", {"model.layers.{}.mlp.experts.down_proj_bias"}, WeightLayout::Packed},
});
constexpr auto kGemma2 = std::to_array<WeightRow>({
    {"attention.norm_behind", {"model.layers.{}.post_attention_layernorm"}},
    {"mlp.norm", {"model.layers.{}.pre_feedforward_layernorm"}},
    {"mlp.norm_behind", {"model.layers.{}.post_feedforward_layernorm"}},
});
constexpr auto kPhi3 = std::to_array<WeightRow>({
    {"attention.qkv", {"model.layers.{}.self_attn.qkv_proj"}},
    {"mlp.up", {"model.layers.{}.mlp.gate_up_proj"}},
});
constexpr auto kGlm4 = std::to_array<WeightRow>({
    {"attention.qkv",
     {"model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj", "model.layers.{}.self_attn.v_proj"},
     WeightLayout::Neighbours},
    {"attention.norm_behind", {"model.layers.{}.post_self_attn_layernorm"}},
    {"mlp.norm_behind", {"model.layers.{}.post_mlp_layernorm"}},
    {"mlp.up", {"model.layers.{}.mlp.gate_up_proj"}},
});
constexpr auto kStarcoder2 = std::to_array<WeightRow>({
    {"mlp.up", {"model.layers.{}.mlp.c_fc"}},
    {"mlp.down", {"model.layers.{}.mlp.c_proj"}},
});

constexpr auto kUngated = std::to_array<WeightRow>({
    {"mlp.up", {"model.layers.{}.mlp.up_proj"}},
});
constexpr auto kErnie = std::to_array<WeightRow>({
    {"attention.qkv",
     {"model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj", "model.layers.{}.self_attn.v_proj"},
     WeightLayout::Neighbours},
    {"mlp.router.correction", {"model.layers.{}.mlp.moe_statics.e_score_correction_bias"}, WeightLayout::Transposed},
});
constexpr auto kPhi = std::to_array<WeightRow>({
    {"attention.projection", {"model.layers.{}.self_attn.dense"}},
    {"mlp.up", {"model.layers.{}.mlp.fc1"}},
    {"mlp.down", {"model.layers.{}.mlp.fc2"}},
    {"head.norm", {"model.final_layernorm"}},
});
// Norms behind the turn.
constexpr auto kHunyuan = std::to_array<WeightRow>({
    {"attention.q_head_norm", {"model.layers.{}.self_attn.query_layernorm"}},
    {"attention.k_head_norm", {"model.layers.{}.self_attn.key_layernorm"}},
    {"mlp.router", {"model.layers.{}.mlp.gate.wg"}},
    {"mlp.shared.up", {"model.layers.{}.mlp.shared_mlp.gate_proj", "model.layers.{}.mlp.shared_mlp.up_proj"}},
    {"mlp.shared.down", {"model.layers.{}.mlp.shared_mlp.down_proj"}},
});
constexpr auto kNanochat = std::to_array<WeightRow>({
    {"attention.qkv",
     {"model.layers.{}.self_attn.q_proj", "model.layers.{}.self_attn.k_proj", "model.layers.{}.self_attn.v_proj"},
     WeightLayout::Backwards},
    {"mlp.up", {"model.layers.{}.mlp.fc1"}},
    {"mlp.down", {"model.layers.{}.mlp.fc2"}},
});
constexpr auto kMiniCpm3 = std::to_array<WeightRow>({
    {"attention.q", {"model.layers.{}.self_attn.q_proj"}, WeightLayout::Halves},
    {"attention.q_up", {"model.layers.{}.self_attn.q_b_proj"}, WeightLayout::Halves},
    {"attention.kv_down", {"model.layers.{}.self_attn.kv_a_proj_with_mqa"}, WeightLayout::Halves},
});
constexpr auto kGptJ = std::to_array<WeightRow>({
    {"embedding.tokens", {"transformer.wte"}},
    {"attention.norm", {"transformer.h.{}.ln_1"}},
    {"attention.qkv",
     {"transformer.h.{}.attn.q_proj", "transformer.h.{}.attn.k_proj", "transformer.h.{}.attn.v_proj"},
     WeightLayout::Neighbours},
    {"attention.projection", {"transformer.h.{}.attn.out_proj"}},
    {"mlp.up", {"transformer.h.{}.mlp.fc_in"}},
    {"mlp.down", {"transformer.h.{}.mlp.fc_out"}},
    {"head.norm", {"transformer.ln_f"}},
    {"head", {"lm_head"}},
});
constexpr auto kMpt = std::to_array<WeightRow>({
    {"embedding.tokens", {"transformer.wte"}},
    {"attention.norm", {"transformer.blocks.{}.norm_1"}},
    {"attention.qkv", {"transformer.blocks.{}.attn.Wqkv"}},
    {"attention.projection", {"transformer.blocks.{}.attn.out_proj"}},
    {"mlp.norm", {"transformer.blocks.{}.norm_2"}},
    {"mlp.up", {"transformer.blocks.{}.ffn.up_proj"}},
    {"mlp.down", {"transformer.blocks.{}.ffn.down_proj"}},
    {"head.norm", {"transformer.norm_f"}},
    {"head", {"lm_head"}},
});
constexpr auto kBigCode = std::to_array<WeightRow>({
    {"attention.qkv", {"transformer.h.{}.attn.c_attn"}},
    {"attention.projection", {"transformer.h.{}.attn.c_proj"}},
    {"mlp.up", {"transformer.h.{}.mlp.c_fc"}},
    {"mlp.down", {"transformer.h.{}.mlp.c_proj"}},
});
constexpr auto kGptNeo = std::to_array<WeightRow>({
    {"attention.qkv",
     {"transformer.h.{}.attn.attention.q_proj", "transformer.h.{}.attn.attention.k_proj", "transformer.h.{}.attn.attention.v_proj"}},
    {"attention.projection", {"transformer.h.{}.attn.attention.out_proj"}},
    {"mlp.up", {"transformer.h.{}.mlp.c_fc"}},
    {"mlp.down", {"transformer.h.{}.mlp.c_proj"}},
});

constexpr auto kGptNeox = std::to_array<WeightRow>({
    {"embedding.tokens", {"gpt_neox.embed_in"}},
    {"attention.norm", {"gpt_neox.layers.{}.input_layernorm"}},
    {"attention.qkv", {"gpt_neox.layers.{}.attention.query_key_value"}, WeightLayout::Groups},
    {"attention.projection", {"gpt_neox.layers.{}.attention.dense"}},
    {"mlp.norm", {"gpt_neox.layers.{}.post_attention_layernorm"}},
    {"mlp.up", {"gpt_neox.layers.{}.mlp.dense_h_to_4h"}},
    {"mlp.down", {"gpt_neox.layers.{}.mlp.dense_4h_to_h"}},
    {"head.norm", {"gpt_neox.final_layer_norm"}},
    {"head", {"embed_out"}},
});
constexpr auto kBloom = std::to_array<WeightRow>({
    {"embedding.tokens", {"transformer.word_embeddings"}},
    {"embedding.norm", {"transformer.word_embeddings_layernorm"}},
    {"attention.norm", {"transformer.h.{}.input_layernorm"}},
    {"attention.qkv", {"transformer.h.{}.self_attention.query_key_value"}, WeightLayout::Groups},
    {"attention.projection", {"transformer.h.{}.self_attention.dense"}},
    {"mlp.norm", {"transformer.h.{}.post_attention_layernorm"}},
    {"mlp.up", {"transformer.h.{}.mlp.dense_h_to_4h"}},
    {"mlp.down", {"transformer.h.{}.mlp.dense_4h_to_h"}},
    {"head.norm", {"transformer.ln_f"}},
    {"head", {"lm_head"}},
});
constexpr auto kFalconOfTwoNorms = std::to_array<WeightRow>({
    {"attention.norm", {"transformer.h.{}.ln_attn"}},
    {"mlp.norm", {"transformer.h.{}.ln_mlp"}},
});
constexpr auto kOpt = std::to_array<WeightRow>({
    {"embedding.tokens", {"model.decoder.embed_tokens"}},
    {"embedding.positions", {"model.decoder.embed_positions"}},
    {"embedding.widening", {"model.decoder.project_in"}},
    {"attention.norm", {"model.decoder.layers.{}.self_attn_layer_norm"}},
    {"attention.norm_behind", {"model.decoder.layers.{}.self_attn_layer_norm"}},
    {"attention.qkv",
     {"model.decoder.layers.{}.self_attn.q_proj", "model.decoder.layers.{}.self_attn.k_proj", "model.decoder.layers.{}.self_attn.v_proj"}},
    {"attention.projection", {"model.decoder.layers.{}.self_attn.out_proj"}},
    {"mlp.norm", {"model.decoder.layers.{}.final_layer_norm"}},
    {"mlp.norm_behind", {"model.decoder.layers.{}.final_layer_norm"}},
    {"mlp.up", {"model.decoder.layers.{}.fc1"}},
    {"mlp.down", {"model.decoder.layers.{}.fc2"}},
    {"head.norm", {"model.decoder.final_layer_norm"}},
    {"head.narrowing", {"model.decoder.project_out"}},
    {"head", {"lm_head"}},
});

// Of the encoder, of the decoder, and of the decoder's attention to the source.
constexpr auto kBart = std::to_array<WeightRow>({
    {"embedding.tokens", {"model.shared"}},
    {"embedding.source_positions", {"model.encoder.embed_positions"}},
    {"embedding.positions", {"model.decoder.embed_positions"}},
    {"embedding.source_norm", {"model.encoder.layernorm_embedding"}},
    {"embedding.norm", {"model.decoder.layernorm_embedding"}},
    {"encoder.attention.norm", {"model.encoder.layers.{}.self_attn_layer_norm"}},
    {"encoder.attention.qkv",
     {"model.encoder.layers.{}.self_attn.q_proj", "model.encoder.layers.{}.self_attn.k_proj", "model.encoder.layers.{}.self_attn.v_proj"}},
    {"encoder.attention.projection", {"model.encoder.layers.{}.self_attn.out_proj"}},
    {"encoder.attention.norm_behind", {"model.encoder.layers.{}.self_attn_layer_norm"}},
    {"encoder.mlp.norm", {"model.encoder.layers.{}.final_layer_norm"}},
    {"encoder.mlp.up", {"model.encoder.layers.{}.fc1"}},
    {"encoder.mlp.down", {"model.encoder.layers.{}.fc2"}},
    {"encoder.mlp.norm_behind", {"model.encoder.layers.{}.final_layer_norm"}},
    {"decoder.attention.norm", {"model.decoder.layers.{}.self_attn_layer_norm"}},
    {"decoder.attention.qkv",
     {"model.decoder.layers.{}.self_attn.q_proj", "model.decoder.layers.{}.self_attn.k_proj", "model.decoder.layers.{}.self_attn.v_proj"}},
    {"decoder.attention.projection", {"model.decoder.layers.{}.self_attn.out_proj"}},
    {"decoder.attention.norm_behind", {"model.decoder.layers.{}.self_attn_layer_norm"}},
    {"source.attention.norm", {"model.decoder.layers.{}.encoder_attn_layer_norm"}},
    {"source.attention.query", {"model.decoder.layers.{}.encoder_attn.q_proj"}},
    {"source.attention.keys", {"model.decoder.layers.{}.encoder_attn.k_proj", "model.decoder.layers.{}.encoder_attn.v_proj"}},
    {"source.attention.projection", {"model.decoder.layers.{}.encoder_attn.out_proj"}},
    {"source.attention.norm_behind", {"model.decoder.layers.{}.encoder_attn_layer_norm"}},
    {"decoder.mlp.norm", {"model.decoder.layers.{}.final_layer_norm"}},
    {"decoder.mlp.up", {"model.decoder.layers.{}.fc1"}},
    {"decoder.mlp.down", {"model.decoder.layers.{}.fc2"}},
    {"decoder.mlp.norm_behind", {"model.decoder.layers.{}.final_layer_norm"}},
    {"head.norm", {"model.decoder.layer_norm"}},
    {"head", {"lm_head"}},
});
constexpr auto kMbart = std::to_array<WeightRow>({{"encoder.mlp.norm_behind", {"model.encoder.layer_norm"}}});

constexpr auto kT5 = std::to_array<WeightRow>({
    {"embedding.tokens", {"shared"}},
    {"encoder.attention.norm", {"encoder.block.{}.layer.0.layer_norm"}},
    {"encoder.attention.qkv",
     {"encoder.block.{}.layer.0.SelfAttention.q", "encoder.block.{}.layer.0.SelfAttention.k", "encoder.block.{}.layer.0.SelfAttention.v"}},
    {"encoder.attention.distances", {"encoder.block.{}.layer.0.SelfAttention.relative_attention_bias"}, WeightLayout::Transposed},
    {"encoder.attention.projection", {"encoder.block.{}.layer.0.SelfAttention.o"}},
    {"encoder.mlp.norm", {"encoder.block.{}.layer.1.layer_norm"}},
    {"encoder.mlp.up", {"encoder.block.{}.layer.1.DenseReluDense.wi"}},
    {"encoder.mlp.gate_up", {"encoder.block.{}.layer.1.DenseReluDense.wi_0", "encoder.block.{}.layer.1.DenseReluDense.wi_1"}},
    {"encoder.mlp.down", {"encoder.block.{}.layer.1.DenseReluDense.wo"}},
    {"encoder.mlp.norm_behind", {"encoder.final_layer_norm"}},
    {"decoder.attention.norm", {"decoder.block.{}.layer.0.layer_norm"}},
    {"decoder.attention.qkv",
     {"decoder.block.{}.layer.0.SelfAttention.q", "decoder.block.{}.layer.0.SelfAttention.k", "decoder.block.{}.layer.0.SelfAttention.v"}},
    {"decoder.attention.distances", {"decoder.block.{}.layer.0.SelfAttention.relative_attention_bias"}, WeightLayout::Transposed},
    {"decoder.attention.projection", {"decoder.block.{}.layer.0.SelfAttention.o"}},
    {"source.attention.norm", {"decoder.block.{}.layer.1.layer_norm"}},
    {"source.attention.query", {"decoder.block.{}.layer.1.EncDecAttention.q"}},
    {"source.attention.keys", {"decoder.block.{}.layer.1.EncDecAttention.k", "decoder.block.{}.layer.1.EncDecAttention.v"}},
    {"source.attention.projection", {"decoder.block.{}.layer.1.EncDecAttention.o"}},
    {"decoder.mlp.norm", {"decoder.block.{}.layer.2.layer_norm"}},
    {"decoder.mlp.up", {"decoder.block.{}.layer.2.DenseReluDense.wi"}},
    {"decoder.mlp.gate_up", {"decoder.block.{}.layer.2.DenseReluDense.wi_0", "decoder.block.{}.layer.2.DenseReluDense.wi_1"}},
    {"decoder.mlp.down", {"decoder.block.{}.layer.2.DenseReluDense.wo"}},
    {"head.norm", {"decoder.final_layer_norm"}},
    {"head", {"lm_head"}},
});

constexpr auto kLongT5 = std::to_array<WeightRow>({
    {"encoder.attention.qkv",
     {"encoder.block.{}.layer.0.LocalSelfAttention.q", "encoder.block.{}.layer.0.LocalSelfAttention.k",
      "encoder.block.{}.layer.0.LocalSelfAttention.v"}},
    {"encoder.attention.distances", {"encoder.block.{}.layer.0.LocalSelfAttention.relative_attention_bias"}, WeightLayout::Transposed},
    {"encoder.attention.projection", {"encoder.block.{}.layer.0.LocalSelfAttention.o"}},
});

// Of BERT's kin the names behind its first word are the same.
constexpr auto kBert = std::to_array<WeightRow>({
    {"embedding.tokens", {"bert.embeddings.word_embeddings"}},
    {"embedding.positions", {"bert.embeddings.position_embeddings"}},
    {"embedding.types", {"bert.embeddings.token_type_embeddings"}},
    {"embedding.norm", {"bert.embeddings.LayerNorm"}},
    {"attention.norm", {"bert.encoder.layer.{}.attention.ln"}},
    {"attention.qkv",
     {"bert.encoder.layer.{}.attention.self.query", "bert.encoder.layer.{}.attention.self.key",
      "bert.encoder.layer.{}.attention.self.value"}},
    {"attention.projection", {"bert.encoder.layer.{}.attention.output.dense"}},
    {"attention.norm_behind", {"bert.encoder.layer.{}.attention.output.LayerNorm"}},
    {"mlp.norm", {"bert.encoder.layer.{}.ln"}},
    {"mlp.up", {"bert.encoder.layer.{}.intermediate.dense"}},
    {"mlp.down", {"bert.encoder.layer.{}.output.dense"}},
    {"mlp.norm_behind", {"bert.encoder.layer.{}.output.LayerNorm"}},
    {"head.norm", {"bert.encoder.ln"}},
    {"head.transform", {"cls.predictions.transform.dense"}},
    {"head.transform_norm", {"cls.predictions.transform.LayerNorm"}},
    {"head.bias", {"cls.predictions.bias"}},
    {"head.weight", {"cls.predictions.decoder.weight"}},
});
constexpr auto kRoberta = std::to_array<WeightRow>({
    {"embedding.tokens", {"roberta.embeddings.word_embeddings"}},
    {"embedding.positions", {"roberta.embeddings.position_embeddings"}},
    {"embedding.types", {"roberta.embeddings.token_type_embeddings"}},
    {"embedding.norm", {"roberta.embeddings.LayerNorm"}},
    {"attention.qkv",
     {"roberta.encoder.layer.{}.attention.self.query", "roberta.encoder.layer.{}.attention.self.key",
      "roberta.encoder.layer.{}.attention.self.value"}},
    {"attention.projection", {"roberta.encoder.layer.{}.attention.output.dense"}},
    {"attention.norm_behind", {"roberta.encoder.layer.{}.attention.output.LayerNorm"}},
    {"mlp.up", {"roberta.encoder.layer.{}.intermediate.dense"}},
    {"mlp.down", {"roberta.encoder.layer.{}.output.dense"}},
    {"mlp.norm_behind", {"roberta.encoder.layer.{}.output.LayerNorm"}},
    {"head.transform", {"lm_head.dense"}},
    {"head.transform_norm", {"lm_head.layer_norm"}},
    {"head.bias", {"lm_head.bias"}},
    {"head.weight", {"lm_head.decoder.weight"}},
});
constexpr auto kDistilBert = std::to_array<WeightRow>({
    {"embedding.tokens", {"distilbert.embeddings.word_embeddings"}},
    {"embedding.positions", {"distilbert.embeddings.position_embeddings"}},
    {"embedding.norm", {"distilbert.embeddings.LayerNorm"}},
    {"attention.qkv",
     {"distilbert.transformer.layer.{}.attention.q_lin", "distilbert.transformer.layer.{}.attention.k_lin",
      "distilbert.transformer.layer.{}.attention.v_lin"}},
    {"attention.projection", {"distilbert.transformer.layer.{}.attention.out_lin"}},
    {"attention.norm_behind", {"distilbert.transformer.layer.{}.sa_layer_norm"}},
    {"mlp.up", {"distilbert.transformer.layer.{}.ffn.lin1"}},
    {"mlp.down", {"distilbert.transformer.layer.{}.ffn.lin2"}},
    {"mlp.norm_behind", {"distilbert.transformer.layer.{}.output_layer_norm"}},
    {"head.transform", {"vocab_transform"}},
    {"head.transform_norm", {"vocab_layer_norm"}},
    {"head.bias", {"vocab_projector.bias"}},
    {"head.weight", {"vocab_projector.weight"}},
});
constexpr auto kModernBert = std::to_array<WeightRow>({
    {"embedding.tokens", {"model.embeddings.tok_embeddings"}},
    {"embedding.norm", {"model.embeddings.norm"}},
    {"attention.norm", {"model.layers.{}.attn_norm"}},
    {"attention.qkv", {"model.layers.{}.attn.Wqkv"}},
    {"attention.projection", {"model.layers.{}.attn.Wo"}},
    {"mlp.norm", {"model.layers.{}.mlp_norm"}},
    {"mlp.up", {"model.layers.{}.mlp.Wi"}},
    {"mlp.down", {"model.layers.{}.mlp.Wo"}},
    {"head.norm", {"model.final_norm"}},
    {"head.transform", {"head.dense"}},
    {"head.transform_norm", {"head.norm"}},
    {"head.bias", {"decoder.bias"}},
    {"head.weight", {"decoder.weight"}},
});

constexpr FamilyNames kFamilies[] = {
    {"gpt2", kGpt2},
    {"llama", kLlama},
    {"mistral", kLlama},
    {"qwen2", kLlama},
    {"qwen3", kLlama},
    {"gemma", kLlama},
    {"gemma2", kLlama, kGemma2},
    {"gemma3_text", kLlama, kGemma2},
    {"olmo2", kLlama, kGemma2},
    {"phi3", kLlama, kPhi3},
    {"glm4", kLlama, kGlm4},
    {"starcoder2", kLlama, kStarcoder2},
    {"mixtral", kLlama, kMixtral},
    {"qwen2_moe", kLlama, kQwen2Moe},
    {"qwen3_moe", kLlama},
    {"olmoe", kLlama},
    {"gpt_oss", kLlama, kGptOss},
    {"laguna", kLlama, kLaguna},
    {"mimo_v2_flash", kLlama, kMiMoFlash},
    {"afmoe", kLlama, kAfmoe},
    {"glm4_moe", kLlama},
    {"deepseek", kLlama},
    {"deepseek_v2", kLlama},
    {"deepseek_v3", kLlama},
    {"kimi_k2", kLlama},
    {"arcee", kLlama, kUngated},
    {"nemotron", kLlama, kUngated},
    {"jais2", kLlama, kUngated},
    {"ernie4_5", kLlama, kErnie},
    {"ernie4_5_moe", kLlama, kErnie},
    {"helium", kLlama, kErnie},
    {"glm", kLlama, kGlm4},
    {"seed_oss", kLlama},
    {"cwm", kLlama},
    {"ministral", kLlama},
    {"internlm3", kLlama},
    {"iquestcoder", kLlama},
    {"stablelm", kLlama},
    {"olmo3", kLlama, kGemma2},
    {"flex_olmo", kLlama, kGemma2},
    {"vaultgemma", kLlama, kGemma2},
    {"minimax_m2", kLlama, kMixtral},
    {"dots1", kLlama},
    {"solar_open", kLlama},
    {"glm4_moe_lite", kLlama},
    {"youtu", kLlama},
    {"phi", kLlama, kPhi},
    {"granite", kLlama},
    {"olmo", kLlama},
    {"nanochat", kLlama, kNanochat},
    {"hunyuan_v1_dense", kLlama, kHunyuan},
    {"hunyuan_v1_moe", kLlama, kHunyuan},
    {"minicpm3", kLlama, kMiniCpm3},
    {"cohere", kLlama, kErnie},
    {"cohere2", kLlama, kErnie},
    {"exaone4", kLlama, kGemma2},
    {"smollm3", kLlama},
    {"mpt", kMpt},
    {"gptj", kGptJ},
    {"gpt_bigcode", kGpt2, kBigCode},
    {"gpt_neo", kGpt2, kGptNeo},
    {"gpt_neox", kGptNeox},
    {"bloom", kBloom},
    {"falcon", kBloom},
    {"opt", kOpt},
    {"bart", kBart},
    {"mbart", kBart, kMbart},
    {"blenderbot", kBart, kMbart},
    {"blenderbot-small", kBart},
    {"plbart", kBart},
    {"marian", kBart},
    {"pegasus", kBart, kMbart},
    {"m2m_100", kBart, kMbart},
    {"t5", kT5},
    {"mt5", kT5},
    {"umt5", kT5},
    {"longt5", kT5, kLongT5},
    {"bert", kBert},
    {"megatron-bert", kBert},
    {"roberta", kRoberta},
    {"camembert", kRoberta},
    {"xlm-roberta", kRoberta},
    {"distilbert", kDistilBert},
    {"modernbert", kModernBert},
};

}  // namespace

const FamilyNames* find_names(const sim::ModelConfig& config) {
  const auto* found = std::ranges::find(kFamilies, std::string_view(config.model_type), &FamilyNames::family);
  return found == std::end(kFamilies) ? nullptr : found;
}

std::span<const WeightRow> names_of_two_norms() { return kFalconOfTwoNorms; }

}  // namespace executor
