#include "sim/model/model_words.h"

namespace sim {
namespace {

ExpertForm experts_of_model(const ModelConfig& config) { return config.experts.value_or(ExpertForm{}); }

constexpr ModelWord kWords[] = {
    {"window", "attention to a window of positions", [](const ModelConfig& c) { return c.window > 0; }},
    {"linear", "linear attention", [](const ModelConfig& c) { return c.linear.has_value(); }},
    {"indexer", "attention to tokens that an indexer chooses", [](const ModelConfig& c) { return c.attention.is_sparse(); }},
    {"attention_gate", "a gate behind attention", [](const ModelConfig& c) { return c.attention_gate; }},
    {"inner_norms", "norms in front of a block's last products", [](const ModelConfig& c) { return c.inner_norms; }},
    {"trained_activation", "an activation that is trained", [](const ModelConfig& c) { return c.activation == Activation::Xielu; }},
    {"sizes", "blocks of different sizes", [](const ModelConfig& c) { return !c.sizes.empty(); }},
    {"head_gate", "a gate of each head behind attention", [](const ModelConfig& c) { return c.attention_gate && c.head_gate; }},
    {"value_dim", "values of another width than keys, or scaled",
     [](const ModelConfig& c) { return c.value_dim > 0 || c.value_factor != 1; }},
    {"value_norm", "norms of values", [](const ModelConfig& c) { return c.value_norm; }},
    {"keys_as_values", "values that are made as keys are", [](const ModelConfig& c) { return c.keys_as_values; }},
    {"shared_kv_layers", "blocks that read keys and values of others", [](const ModelConfig& c) { return c.shared_kv_layers > 0; }},
    {"layer_inputs", "a token's input of each block, from a table of its own", [](const ModelConfig& c) { return c.layer_inputs > 0; }},
    {"mean_qk_norm", "norms of queries and keys with means and biases",
     [](const ModelConfig& c) { return c.qk_norm == QkNorm::Heads && c.norm == Norm::LayerNorm; }},
    {"proportional", "positions that turn the first pairs of a head alone",
     [](const ModelConfig& c) { return c.rope_scaling.kind == RopeScalingKind::Proportional; }},
    {"key_bias", "biases of queries and values alone", [](const ModelConfig& c) { return c.attention_bias && !c.key_bias; }},
    {"normed_head", "rows of the head's matrix scaled to one length", [](const ModelConfig& c) { return c.normed_head; }},
    {"sound", "sound in place of source tokens", [](const ModelConfig& c) { return c.encoder && c.encoder->hears(); }},
    {"halves", "blocks that are attention or a feed-forward alone", [](const ModelConfig& c) { return !c.halves.empty() && !c.encoder; }},
    {"encoder", "an encoder in front of a decoder", [](const ModelConfig& c) { return c.encoder.has_value(); }},
    {"distances", "biases of scores by distance", [](const ModelConfig& c) { return c.encoder && c.encoder->relative_buckets > 0; }},
    {"sines", "positions of a table of sines", [](const ModelConfig& c) { return c.encoder && c.encoder->sines != Sines::None; }},
    {"inner_dropout", "dropout between the products of a feed-forward", [](const ModelConfig& c) { return c.ffn_dropout > 0; }},
    {"no_positions", "attention without positions", [](const ModelConfig& c) { return c.position == Position::None && !c.encoder; }},
    {"unturned", "layers without positions", [](const ModelConfig& c) { return !c.unturned.empty(); }},
    {"chunked", "attention within pieces of a sample", [](const ModelConfig& c) { return c.chunked && c.window > 0; }},
    {"plain_qk_norm", "norms of queries and keys without weights", [](const ModelConfig& c) { return c.qk_norm == QkNorm::Plain; }},
    {"turned_qk_norm", "norms of queries and keys behind their turn", [](const ModelConfig& c) { return c.qk_norm == QkNorm::Turned; }},
    {"norm_weight", "norms without weights", [](const ModelConfig& c) { return !c.norm_weight; }},
    {"norm_bias", "norms of means without biases",
     [](const ModelConfig& c) { return c.norm == Norm::LayerNorm && c.norm_weight && !c.norm_bias; }},
    {"residual_factor", "a factor of what blocks add", [](const ModelConfig& c) { return c.residual_factor != 1; }},
    {"scored_inputs", "experts whose scores weigh what they read", [](const ModelConfig& c) { return experts_of_model(c).scores_inputs; }},
    {"bidirectional", "attention to what follows (an encoder)", [](const ModelConfig& c) { return c.bidirectional; }},
    {"sinks", "scores of sinks beside those of positions", [](const ModelConfig& c) { return c.sinks; }},
    {"qk_norm", "norms of queries and keys", [](const ModelConfig& c) { return c.qk_norm == QkNorm::Heads || c.qk_norm == QkNorm::Joint; }},
    {"alibi", "ALiBi positions", [](const ModelConfig& c) { return c.position == Position::Alibi; }},
    {"rotary_share", "rotary positions on a share of the head", [](const ModelConfig& c) { return c.rotary_share != 1; }},
    {"local_rope_theta", "another rotary base under windows", [](const ModelConfig& c) { return c.local_rope_theta > 0; }},
    {"score_scale", "a scale of scores that is not the head's width", [](const ModelConfig& c) { return c.score_scale > 0; }},
    {"score_cap", "capped scores", [](const ModelConfig& c) { return c.score_cap > 0; }},
    {"norm_place", "norms behind attention and feed-forward", [](const ModelConfig& c) { return c.norm_place != NormPlace::Before; }},
    {"offset_norm", "weights of norms that count from 1", [](const ModelConfig& c) { return c.offset_norm; }},
    {"parallel_blocks", "a feed-forward beside attention", [](const ModelConfig& c) { return c.parallel_blocks; }},
    {"gate_limit", "clamped gates", [](const ModelConfig& c) { return c.gate_limit > 0; }},
    {"shared_gate", "a gate in front of the shared expert", [](const ModelConfig& c) { return experts_of_model(c).shared_gate; }},
    {"expert_biases", "biases of router and experts", [](const ModelConfig& c) { return experts_of_model(c).biases; }},
    {"groups", "experts chosen by groups", [](const ModelConfig& c) { return experts_of_model(c).groups > 1; }},
    {"position_offset", "rows in front of the first position's", [](const ModelConfig& c) { return c.position_offset > 0; }},
    {"first_norm", "a first block without a norm", [](const ModelConfig& c) { return !c.first_norm; }},
    {"transform_bias", "a product without a bias in front of the head's",
     [](const ModelConfig& c) { return c.head_transform && !c.transform_bias; }},
    {"distances_of_each", "biases by distance of every block",
     [](const ModelConfig& c) { return c.encoder && c.encoder->distances_of_each; }},
    {"late_positions", "positions behind the norm of the embedding",
     [](const ModelConfig& c) { return c.encoder && c.encoder->late_positions; }},
    {"token_types", "types of tokens", [](const ModelConfig& c) { return c.token_types > 0; }},
    {"embedding_width", "a token table of another width", [](const ModelConfig& c) { return c.embedding_width > 0; }},
    {"embedding_norm", "a norm of the embedding", [](const ModelConfig& c) { return c.embedding_norm; }},
    {"factors", "factors of embedding and logits", [](const ModelConfig& c) { return c.embedding_factor != 1 || c.logit_factor != 1; }},
    {"head_transform", "a product in front of the head's", [](const ModelConfig& c) { return c.head_transform; }},
    {"head_bias", "a bias of the head", [](const ModelConfig& c) { return c.head_bias; }},
    {"final_norm", "no norm in front of the head", [](const ModelConfig& c) { return !c.final_norm; }},
    {"patches", "images as tokens", [](const ModelConfig& c) { return c.patches.has_value(); }},
    {"mtp_layers", "layers that predict further tokens", [](const ModelConfig& c) { return c.mtp_layers > 0; }},
    {"convolution", "convolutions", [](const ModelConfig& c) { return c.convolution.has_value(); }},
    {"logit_cap", "capped logits", [](const ModelConfig& c) { return c.logit_cap > 0; }},
};

}  // namespace

std::span<const ModelWord> model_words() { return kWords; }

bool norms_turned_heads(const ModelConfig& config) { return config.qk_norm == QkNorm::Turned || config.qk_norm == QkNorm::Plain; }

}  // namespace sim
