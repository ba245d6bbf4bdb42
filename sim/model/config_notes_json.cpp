#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/model/config_notes.h"

#include "sim/model/family_json.h"
#include "sim/model/model_config.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

// Names of files and tokens, what generation, heads of other tasks and the library itself read, and older names beside those that are read.
constexpr auto kWithoutEffect = std::to_array<std::string_view>({"_attn_implementation",
                                                                 "block_dim",
                                                                 "block_ffn_dim_multiplier",
                                                                 "block_mlp_init_scale",
                                                                 "block_multiple_of",
                                                                 "block_norm_eps",
                                                                 "block_out_init_scale",
                                                                 "block_use_swiglu",
                                                                 "block_use_xavier_init",
                                                                 "conv_dim",
                                                                 "conv_dim_out",
                                                                 "conv_use_xavier_init",
                                                                 "use_pos_enc",
                                                                 "theta",
                                                                 "full_attn_idxs",
                                                                 "time_step_scale",
                                                                 "time_step_init_scheme",
                                                                 "use_mambapy",
                                                                 "use_falcon_mambapy",
                                                                 "use_associative_scan",
                                                                 "mixer_rms_eps",
                                                                 "mamba_norm_before_gate",
                                                                 "mask_time_prob",
                                                                 "mask_time_length",
                                                                 "mask_time_min_masks",
                                                                 "mask_feature_prob",
                                                                 "mask_feature_length",
                                                                 "mask_feature_min_masks",
                                                                 "median_filter_width",
                                                                 "use_weighted_layer_sum",
                                                                 "classifier_proj_size",
                                                                 "d_inner",
                                                                 "fused_add_norm",
                                                                 "pad_vocab_size_multiple",
                                                                 "ssm_cfg",
                                                                 "initializer_cutoff_factor",
                                                                 "deterministic_flash_attn",
                                                                 "sparse_pred_ignore_index",
                                                                 "reference_compile",
                                                                 "repad_logits_with_grad",
                                                                 "prompt_length",
                                                                 "prompt_mid_dim",
                                                                 "use_flash_attn",
                                                                 "use_dynamic_ntk",
                                                                 "onnx_safe",
                                                                 "use_cache_quantization",
                                                                 "use_cache_kernel",
                                                                 "softmax_in_fp32",
                                                                 "bf16",
                                                                 "fp16",
                                                                 "fp32",
                                                                 "bias_dropout_fusion",
                                                                 "apply_query_key_layer_scaling",
                                                                 "fp32_residual_connection",
                                                                 "original_rope",
                                                                 "pre_seq_len",
                                                                 "prefix_projection",
                                                                 "router_dtype",
                                                                 "eod_token_id",
                                                                 "dense_act_fn",
                                                                 "is_gated_act",
                                                                 "global_block_size",
                                                                 "decoder_vocab_size",
                                                                 "encoder_no_repeat_ngram_size",
                                                                 "num_kv_heads",
                                                                 "attention_softmax_in_fp32",
                                                                 "scale_attention_softmax_in_fp32",
                                                                 "attention_layers",
                                                                 "embedding_initializer_range",
                                                                 "moe_norm_min",
                                                                 "enable_moe_fp32_combine",
                                                                 "classifier_pooling",
                                                                 "init_device",
                                                                 "global_attn_every_n_layers",
                                                                 "mtp_layers_block_type",
                                                                 "qa_dropout",
                                                                 "seq_classif_dropout",
                                                                 "sinusoidal_pos_embds",
                                                                 "task_type_vocab_size",
                                                                 "learned_pos_emb",
                                                                 "norm_type",
                                                                 "no_rope_layer_interval",

                                                                 "n_group",
                                                                 "indexer_rope_interleave",
                                                                 "mlp_layer_types",
                                                                 "topk_group",
                                                                 "parallel_attn",
                                                                 "multi_query",
                                                                 "num_ln_in_parallel_attn",
                                                                 "sliding_window_size",
                                                                 "mamba_expand",
                                                                 "num_logits_to_keep",
                                                                 "attn_output_gate",
                                                                 "expand",
                                                                 "for_llm_compressor",
                                                                 "floor_scale",
                                                                 "attn_scale",
                                                                 "mamba_ssm_cache_dtype",
                                                                 "mamba_ssm_dtype",
                                                                 "mtp_use_dedicated_embeddings",
                                                                 "normalization_function",
                                                                 "rescale_prenorm_residual",
                                                                 "rms_norm",
                                                                 "time_step_floor",
                                                                 "time_step_limit",
                                                                 "time_step_max",
                                                                 "time_step_min",
                                                                 "time_step_rank",
                                                                 "use_mamba_kernels",
                                                                 "moe_shared_expert_overlap",
                                                                 "z_loss_coefficient",
                                                                 "use_grouped_topk",
                                                                 "model_max_length",
                                                                 "_attn_implementation_autoset",
                                                                 "_name_or_path",
                                                                 "_sliding_window_pattern",
                                                                 "architectures",
                                                                 "attn_implementation",
                                                                 "auto_map",
                                                                 "bad_words_ids",
                                                                 "begin_suppress_tokens",
                                                                 "bos_token_id",
                                                                 "cache_implementation",
                                                                 "chunk_size_feed_forward",
                                                                 "classifier_dropout",
                                                                 "cls_token_id",
                                                                 "cross_attention_hidden_size",
                                                                 "decoder_start_token_id",
                                                                 "directionality",
                                                                 "diversity_penalty",
                                                                 "do_sample",
                                                                 "dtype",
                                                                 "early_stopping",
                                                                 "encoder_no_repeat_ngram_size",
                                                                 "eos_token_id",
                                                                 "ep_size",
                                                                 "exponential_decay_length_penalty",
                                                                 "experts_per_token",
                                                                 "finetuning_task",
                                                                 "forced_bos_token_id",
                                                                 "forced_eos_token_id",
                                                                 "gradient_checkpointing",
                                                                 "id2label",
                                                                 "initial_context_length",
                                                                 "is_decoder",
                                                                 "is_encoder_decoder",
                                                                 "label2id",
                                                                 "language_model_type",
                                                                 "length_penalty",
                                                                 "mask_token_id",
                                                                 "max_length",
                                                                 "max_window_layers",
                                                                 "min_length",
                                                                 "n_ctx",
                                                                 "mlp_expansion_factor",
                                                                 "mlp_intermediate_size",
                                                                 "mtp_transformer_layers",
                                                                 "n_positions",
                                                                 "no_repeat_ngram_size",
                                                                 "num_media_embeds",
                                                                 "output_past",
                                                                 "shared_moe_mode",
                                                                 "use_mtp",
                                                                 "num_beam_groups",
                                                                 "num_beams",
                                                                 "num_labels",
                                                                 "num_return_sequences",
                                                                 "original_max_position_embeddings",
                                                                 "out_features",
                                                                 "out_indices",
                                                                 "output_attentions",
                                                                 "output_hidden_states",
                                                                 "output_scores",
                                                                 "encoder_stride",
                                                                 "pad_token_id",
                                                                 "pooler_fc_size",
                                                                 "pooler_num_attention_heads",
                                                                 "pooler_num_fc_layers",
                                                                 "pooler_size_per_head",
                                                                 "pooler_type",
                                                                 "layerscale_value",
                                                                 "apply_layernorm",
                                                                 "reshape_hidden_states",
                                                                 "use_mask_token",
                                                                 "out_features",
                                                                 "out_indices",
                                                                 "_out_features",
                                                                 "_out_indices",
                                                                 "vocab_list",
                                                                 "linear_a_log_min",
                                                                 "linear_a_log_max",
                                                                 "linear_dt_min",
                                                                 "linear_dt_max",
                                                                 "linear_dt_init_floor",
                                                                 "pooler_output_size",
                                                                 "pooler_act",
                                                                 "prefix",
                                                                 "pretraining_tp",
                                                                 "problem_type",
                                                                 "pruned_heads",
                                                                 "qk_head_dim",
                                                                 "remove_invalid_values",
                                                                 "reorder_and_upcast_attn",
                                                                 "repetition_penalty",
                                                                 "return_dict",
                                                                 "return_dict_in_generate",
                                                                 "sep_token_id",
                                                                 "seq_aux",
                                                                 "seq_length",
                                                                 "sliding_window_pattern",
                                                                 "slow_but_exact",
                                                                 "suppress_tokens",
                                                                 "task_specific_params",
                                                                 "temperature",
                                                                 "tf_legacy_loss",
                                                                 "tie_encoder_decoder",
                                                                 "tokenizer_class",
                                                                 "top_k",
                                                                 "top_p",
                                                                 "torch_dtype",
                                                                 "torchscript",
                                                                 "transformers_version",
                                                                 "typical_p",
                                                                 "unk_token_id",
                                                                 "unsloth_fixed",
                                                                 "unsloth_version",
                                                                 "use_bfloat16",
                                                                 "use_cache",
                                                                 "use_sliding_window",
                                                                 "stage_names",
                                                                 "summary_activation",
                                                                 "summary_last_dropout",
                                                                 "summary_first_dropout",
                                                                 "summary_proj_to_labels",
                                                                 "summary_type",
                                                                 "summary_use_proj"});

// `neutral`, as JSON: with it nothing changes.
struct Meaning {
  std::string_view key, neutral, changes;
};
constexpr Meaning kMeanings[] = {
    {"rope_parameters/llama_4_scaling_beta", "0", "queries of far positions are scaled, which costs nothing and is not computed"},
    {"classifier_activation", "\"gelu\"", "the activation"},
    {"mlp_multipliers", "[1, 1]", "the scales of a feed-forward's products"},
    {"ssm_multipliers", "[1, 1, 1, 1, 1]", "the scales of what scans read"},
    {"key_multiplier", "1", "the scale of keys"},
    {"attention_in_multiplier", "1", "the scale of what attention reads"},
    {"attention_out_multiplier", "1", "the scale of what attention puts out"},
    {"ssm_in_multiplier", "1", "the scale of what scans read"},
    {"ssm_out_multiplier", "1", "the scale of what scans put out"},
    {"apply_spec_augment", "false", "masks over frames of sound, which cost nothing and are not drawn"},
    {"z_loss_weight", "0", "a loss of the logits' normaliser, which is not computed"},
    {"sparse_prediction", "false", "a head that reads masked tokens alone"},
    {"afn", "\"gelu\"", "the activation"},
    {"mup_enabled", "false", "a factor of the embedding, which costs nothing and is not computed"},
    {"input_jitter_noise", "0", "noise on what blocks read, which is not drawn"},
    {"embedding_fraction", "1.0", "the gradient of the embedding"},
    {"attn_config/clip_qkv", "null", "clamped queries, keys and values"},
    {"attn_config/softmax_scale", "null", "the scale of attention's scores"},
    {"attn_config/attn_pdrop", "0", "dropout of attention, which is not drawn"},
    {"attn_config/prefix_lm", "false", "attention to what follows"},
    {"attn_config/attn_uses_sequence_id", "false", "documents in rows, which a plan says as samples"},
    {"attn_config/alibi_bias_max", "8", "the slopes of positions"},
    {"ffn_config/moe_jitter_eps", "0", "noise on what the router reads, which is not drawn"},
    {"ffn_config/moe_loss_weight", "0", "a loss that balances experts, which is not computed"},
    {"layer_rope_theta", "null", "rotary bases of single layers; one is taken for all"},
    {"add_cross_attention", "false", "cross-attention"},
    {"expert_selection_fn", "\"softmax\"", "the scores of experts"},
    {"num_mtp_modules", "0", "layers that predict further tokens (MTP): a plan has none of them unless it says mtp_layers"},
    {"use_rmsnorm", "true", "LayerNorm in place of RMSNorm"},
    {"moe_gate", "\"topk\"", "how a router chooses"},
    {"moe_use_aux_free", "true", "how a router chooses"},
    {"use_routing_bias", "true", "how a router chooses"},
    {"shared_intermediate_size", "0", "an expert of every token"},
    {"mamba_use_mlp", "true", "feed-forwards behind the scans"},
    {"mamba_inner_layernorms", "true", "norms inside of scans"},
    {"use_cla", "false", "keys and values that blocks share"},
    {"use_rotary_pos_emb", "true", "positions of another kind"},
    {"norm_type", "\"rms\"", "LayerNorm in place of RMSNorm"},
    {"moe_drop_tokens", "false", "rows that experts drop, which are all computed"},
    {"moe_random_routing_dropped_token", "false", "rows that experts drop, which are all computed"},
    {"group_limited_greedy", "false", "how a router chooses"},
    {"moe_layer_num_skipped", "0", "layers without experts"},
    {"use_mixed_mlp_moe", "true", "an expert of every token"},
    {"rope_scaling/alpha", "1", "the base of positions, which costs nothing"},
    {"moe_capacity", "null", "how many rows an expert takes at most: none are dropped here"},
    {"qk_norm_type", "\"per_layer\"", "norms of queries and keys"},
    {"layernorm_full_attention_beta", "1.0", "the scale of what attention adds to the stream"},
    {"layernorm_linear_attention_beta", "1.0", "the scale of what linear attention adds to the stream"},
    {"layernorm_mlp_beta", "1.0", "the scale of what a feed-forward adds to the stream"},
    {"num_nextn_predict_layers", "0", "layers that predict further tokens (MTP): a plan has none of them unless it says mtp_layers"},
    {"mtp_num_hidden_layers", "0", "layers that predict further tokens (MTP): a plan has none of them unless it says mtp_layers"},
    {"hidden_dropout", "0", "dropout of the stream, which is not drawn"},
    {"mamba_hidden_act", "\"silu\"", "the activation behind the convolution"},
    {"mamba_proj_bias", "false", "biases of projections"},
    {"residual_in_fp32", "false", "a stream in fp32, which is kept as the activations are"},
    {"quantization_config", "null", "weights that are stored quantised; a plan trains in its own precision"},
    {"aux_loss_alpha", "0", "a loss that balances experts, which is not computed"},
    {"router_jitter_noise", "0", "noise on what the router reads, which is not drawn"},
    {"activation_dropout", "0", "dropout between the products of a feed-forward, which is not drawn"},
    {"attn_temperature_tuning", "false", "scores of far positions are scaled, which costs nothing and is not computed"},
    {"token_dropout", "false", "masked tokens that are zeros, which cost nothing and are not computed"},
    {"drop_path_rate", "0", "branches of blocks that are left out at random, which are all computed"},
    {"linear_allow_neg_eigval", "false", "the range of what scans write, which costs nothing"},
    {"use_mrope", "false", "positions of three axes"},
    {"layerdrop", "0", "layers that are left out at random, which are all computed"},
    {"encoder_layerdrop", "0", "layers that are left out at random, which are all computed"},
    {"decoder_layerdrop", "0", "layers that are left out at random, which are all computed"},
    {"initializer_factor", "1", "how far from zero weights begin"},
    {"clip_qkv", "null", "clamped queries, keys and values"},
    {"position_embedding_type", "\"absolute\"", "positions of another kind"},
    {"alibi", "false", "positions of another kind"},
    {"rotary", "true", "positions of another kind"},
    {"hidden_act", "\"gelu_pytorch_tanh\"", "the activation"},
    {"swiglu_alpha", "1.702", "the gate"},
    {"embedding_multiplier", "1", "the scale of the embedding"},
    {"residual_multiplier", "1", "the scale of what blocks add"},
    {"attention_multiplier", "null", "the scale of attention's scores"},
    {"attn_output_multiplier", "1", "the scale of attention's scores"},
    {"logits_scaling", "1", "the scale of the logits"},
    {"logit_scale", "1", "the scale of the logits"},
    {"use_qk_norm", "false", "norms of queries and keys"},
    {"qk_layernorm", "false", "norms of queries and keys"},
    {"attention_bias", "false", "biases of projections"},
    {"qkv_bias", "false", "biases of projections"},
    {"mlp_bias", "false", "biases of projections"},
    {"use_bias", "false", "biases of projections"},
    {"sliding_window", "0", "how far attention sees"},
    {"attention_chunk_size", "0", "how far attention sees"},
    {"mamba_d_state", "null", "layers of another kind"},
};

// indexed: of all networks with an indexer, which are read as such.
bool is_all_full(const Json& types, const Json& config) {
  const char* const kind = config.contains("index_topk") ? "indexed_attention" : "full_attention";
  return types.is_array() && std::ranges::all_of(types, [&](const Json& type) { return type == "full_attention" || type == kind; });
}

bool is_one_value(const Json& list) {
  return list.is_array() && std::ranges::all_of(list, [&](const Json& one) { return one == list[0]; });
}

// What Transformers writes into every configuration, those within another one, too.
bool is_of_the_library(std::string_view key) {
  return std::ranges::find(kWithoutEffect, key) != kWithoutEffect.end() || key == "model_type" || key == "attn_type" ||
         key == "attn_impl" || key == "ffn_act_fn" || key == "hidden_size";
}

bool is_without_effect(const std::string& key, const Json& value, const Json& config) {
  if (key.ends_with("_token_id")) return true;
  if (key == "layer_types") return is_all_full(value, config);
  if (key == "attn_type_list") return is_one_value(value) && !value.empty() && value[0] == 1;  // of MiniMax: 0 is linear
  if (key == "cla_share_factor") return config.value("use_cla", Json(false)) == false;
  if (key == "intermediate_size") return config.contains("expand");  // of Mamba, whose class takes the product of that and the width
  if (key == "layer_rope_theta") return is_one_value(value);
  if (key.starts_with("attn_config/") || key.starts_with("ffn_config/")) return is_of_the_library(key.substr(key.find('/') + 1));
  if (key == "mlp_only_layers") return value.is_array() && value.empty();
  if (key == "rms_norm_eps" && config.contains("layer_norm_epsilon")) return value == config["layer_norm_epsilon"];
  if (key == "router_aux_loss_coef" || key == "output_router_logits") return config.value("output_router_logits", Json(false)) == false;
  if (key == "sliding_window" && config.contains("use_sliding_window")) return config["use_sliding_window"] == false;
  // Beside the method of positions, under either name of it, what other methods read.
  if (key.starts_with("rope_"))
    return key.ends_with("/type") || key.ends_with("/rope_type") || key.ends_with("/original_max_position_embeddings") ||
           key.ends_with("/beta_fast") || key.ends_with("/beta_slow") || key.ends_with("/mscale") || key.ends_with("/mscale_all_dim") ||
           key.ends_with("/mrope_interleaved") || key.ends_with("/max_position_embeddings") ||
           key.ends_with("/mrope_section");  // of text alone positions have one part
  return std::ranges::find(kWithoutEffect, key) != kWithoutEffect.end();
}

// An older name that says what the newer one beside it says.
bool is_said_twice(const Json& config, const Family& family, const std::string& key) {
  for (const auto keys : {family.keys, family.more})
    for (const Key& one : keys)
      if (one.also == key && config.contains(one.name)) return config[std::string(one.name)] == config[key];
  return false;
}

// What a row has anyway.
bool is_so_here(const std::string& key, const Json& value, const ModelConfig& model) {
  if (key == "use_qk_norm") return value.is_boolean() && value.get<bool>() == (model.qk_norm != QkNorm::None);
  return key == "attention_head_dim" && value == model.head_dim;
}

Violation told(const std::string& key, const Json& value, const Meaning* meaning) {
  std::string shown = value.is_primitive() ? value.dump(-1, ' ', true, Json::error_handler_t::replace)
                      : value.is_array()   ? "a list"
                                           : "an object";
  constexpr std::size_t kLongest = 60;
  if (shown.size() > kLongest) shown = shown.substr(0, kLongest) + " ...";
  if (meaning == nullptr)
    return {key, fmt::format("is {}, which nobody here knows: it might change the network, its time and its memory", shown),
            "if it does, plan this network elsewhere"};
  return {key, fmt::format("is {}, which is not taken: {}", shown, meaning->changes), "mind the difference"};
}

constexpr const char* kTextAlone = "is the network that is planned: what sees images or hears stands beside it, and is not counted";
constexpr const char* kByHand = "add its time and memory by hand";

Violation taken_of_class(const std::string& key, const Json& model) {
  return {key, fmt::format("is left out, and {} is taken, as the network's class does", model.value(key, Json(nullptr)).dump()),
          "write it where it is another"};
}

}  // namespace

namespace {

// Transformers 5 ties by what is around the text, and leaves weights apart that it finds apart; older releases tied by the text.
std::optional<Violation> contradicted_tie(const Json& whole, const ModelConfig& model) {
  const std::optional<bool> around = tied_around(whole);
  if (!around || !text_of(whole).contains(kTied) || *around == model.tied_embeddings) return std::nullopt;
  return Violation{std::string(kTied), fmt::format("is {}, and {} around the text: the text's is taken", model.tied_embeddings, *around),
                   "say the same in both: embedding and head are one matrix, or two"};
}

}  // namespace

std::vector<Violation> config_notes_of(const Json& whole) {
  const Json& config = text_of(whole);
  const JsonReader reader(config, "");
  const Family* family = family_of_text(reader.text("model_type", ""));
  if (family == nullptr) return {};
  const bool within = &config != &whole;
  const ModelConfig model = read_by_family(reader, *family, within);
  std::vector<Violation> unknown, known;
  if (within) known.push_back({path_of_text(whole).front(), kTextAlone, kByHand});
  if (const std::optional<Violation> tie = contradicted_tie(whole, model)) known.push_back(*tie);
  const bool is_told_apart = !within && family->name != reader.text("model_type");  // what sees stands beside it in one object
  if (is_told_apart)
    known.push_back({"model_type", fmt::format("is \"{}\", of which the text {}", reader.text("model_type"), kTextAlone), kByHand});
  if (within)
    for (const std::string& key : sizes_left_out(reader, *family)) known.push_back(taken_of_class(key, to_json(model)));
  for (const std::string& key : reader.unasked()) {
    const Json& value = config.at(Json::json_pointer("/" + key));
    const auto* const meaning = std::ranges::find(kMeanings, key, &Meaning::key);
    const bool is_known = meaning != std::end(kMeanings);
    if (is_without_effect(key, value, config) || is_said_twice(config, *family, key)) continue;
    if (is_so_here(key, value, model) || (key == "vision_config" && is_told_apart)) continue;
    if (is_known && key != "use_qk_norm" && value == Json::parse(meaning->neutral)) continue;
    (is_known ? known : unknown).push_back(told(key, value, is_known ? meaning : nullptr));
  }
  unknown.insert(unknown.end(), known.begin(), known.end());
  return unknown;
}

std::vector<Violation> config_notes(const std::string& path_or_name, std::int64_t mtp_layers) {
  std::vector<Violation> notes = config_notes_of(load_config_json(model_config_file(path_or_name)));
  if (mtp_layers > 0)
    std::erase_if(notes, [](const Violation& note) {
      return note.where == "num_nextn_predict_layers" || note.where == "mtp_num_hidden_layers" || note.where == "num_mtp_modules";
    });
  return notes;
}

}  // namespace sim
