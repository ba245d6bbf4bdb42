// OLMo: the YAML of its first trainer (scripts/train.py), or a line that starts it with such a file. Only read: the network in it, FSDP 1 or DDP, a batch of
// all ranks and one of a device.
// Facts: olmo/{config,model,train}.py, scripts/train.py (allenai/OLMo, 0.6.0).
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accounting.h"
#include "sim/recipe/attention_words.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/network.h"
#include "sim/recipe/program.h"
#include "sim/recipe/said_values.h"

namespace sim {
namespace {

struct BlocksRecomputed {
  std::string_view name;
  std::int32_t every;  // 0: other modules of them
};
constexpr BlocksRecomputed kBlocksRecomputed[] = {
    {"whole_layer", 1}, {"one_in_two", 2}, {"one_in_three", 3}, {"one_in_four", 4}, {"one_in_eight", 8}};

void read_recomputed(const Value& v, Draft& d) {
  if (!is_on(v.text())) return;
  d.plan.recompute = Recompute::Full;
  const auto row = std::ranges::find(kBlocksRecomputed, v.text(), &BlocksRecomputed::name);
  if (row != std::end(kBlocksRecomputed))
    d.plan.recompute_scope.every = row->every;
  else
    v.lost(v.text() + ": some blocks, or modules of them; the plan recomputes all", "mind memory, and a little time");
}

void read_sharding_of_olmo(const Value& v, Draft& d) {
  constexpr std::string_view kNames[] = {"FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD", "_HYBRID_SHARD_ZERO2", "NO_SHARD"};
  const std::size_t which = v.choice(kNames);
  d.plan.reshard_after_forward = which % 2 == 0;
  if (which == 2 || which == 3) d.replicate = d.plan.cluster.nodes();
  if (which == 4) d.shard = 1;
}

void read_optimizer_of_olmo(const Value& v, Draft& d) {
  d.plan.workload.optimizer = OptimizerKind::AdamW;
  if (v.text() != "adamw") v.lost(fmt::format("is {}, which no plan has: AdamW is taken", v.text()), "mind its state's memory");
}

constexpr std::string_view kActivationsOfOlmo[] = {"swiglu", "gelu", "relu"};
constexpr std::string_view kBlocksOfOlmo[] = {"sequential", "llama"};
constexpr std::string_view kNormsOfOlmo[] = {"default", "low_precision", "rms"};
constexpr std::string_view kStrategiesOfOlmo[] = {"fsdp", "ddp", "single"};
constexpr std::string_view kWrappings[] = {"by_block",   "by_block_and_size", "by_block_group", "by_block_group_and_size",
                                           "size_based", "one_in_two",        "one_in_three",   "one_in_four",
                                           "one_in_five"};
constexpr std::string_view kPrecisionsOfFsdp[] = {"pure", "mixed"};
constexpr std::string_view kSyncsOfDdp[] = {"batch", "micro_batch"};

constexpr Field kOlmoFields[] = {
    {"global_train_batch_size", "", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) { d.global_batch = v.count(); }, true},
    {"device_train_microbatch_size", "", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }, true},
    {"model.max_sequence_length", "", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) { d.sequence = v.count(); }, true},
    {"model.d_model", "", nullptr, number_said, true},
    {"model.n_heads", "", nullptr, number_said},
    {"model.n_kv_heads", "", nullptr, number_said},
    {"model.multi_query_attention", "", nullptr, flag_said},
    {"model.n_layers", "", nullptr, number_said, true},
    {"model.mlp_ratio", "", nullptr, number_said},
    {"model.mlp_hidden_size", "", nullptr, number_said},
    {"model.activation_type", "", nullptr, word_said<kActivationsOfOlmo>},
    {"model.block_type", "", nullptr, word_said<kBlocksOfOlmo>},
    {"model.block_group_size", "", nullptr, number_said},
    {"model.alibi", "", nullptr, flag_said},
    {"model.rope", "", nullptr, flag_said},
    {"model.rope_theta", "", nullptr, number_said},
    {"model.attention_layer_norm", "", nullptr, flag_said},
    {"model.norm_after", "", nullptr, flag_said},
    {"model.layer_norm_type", "", nullptr, word_said<kNormsOfOlmo>},
    {"model.layer_norm_with_affine", "", nullptr, flag_said},
    {"model.layer_norm_eps", "", nullptr, number_said},
    {"model.include_bias", "", nullptr, flag_said},
    {"model.vocab_size", "", nullptr, number_said},
    {"model.embedding_size", "", nullptr, number_said},
    {"model.weight_tying", "", nullptr, flag_said},
    {"model.attention_dropout", "", nullptr, number_said},
    {"model.residual_dropout", "", nullptr, number_said},
    {"model.embedding_dropout", "", nullptr, number_said},
    {"model.init_std", "", nullptr, number_said},
    {"precision", "", nullptr, only_said},
    {"distributed_strategy", "", nullptr, word_said<kStrategiesOfOlmo>},
    {"fsdp.sharding_strategy", "", nullptr, read_sharding_of_olmo},
    {"fsdp.hybrid_sharding_num_model_replicas", "", nullptr,
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.replicate = v.degree();
     }},
    {"fsdp.wrapping_strategy", "", nullptr, word_said<kWrappings>},
    {"fsdp.precision", "", nullptr, word_said<kPrecisionsOfFsdp>},
    {"ddp.grad_sync_mode", "", nullptr, word_said<kSyncsOfDdp>},
    {"activation_checkpointing", "", [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Full, "whole_layer"); },
     read_recomputed},
    {"max_grad_norm", "", [](const ParallelPlan& p) { return written_number(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = is_on(v.text()) ? v.number() : 0; }},
    {"optimizer.name", "", nullptr, read_optimizer_of_olmo},
    {"optimizer.learning_rate", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.learning_rate = v.number(); }},
    {"optimizer.weight_decay", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.weight_decay = v.number(); }},
    {"optimizer.betas", "", nullptr, read_pair_of_betas},
    {"optimizer.eps", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.epsilon = v.number(); }},
    {"seed", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.seed = static_cast<std::uint64_t>(v.number(1e15)); }},
};

constexpr LostSetting kOlmoLost[] = {
    {"compile.* compile", "compiled kernels; the plan has those of the software profile"},
    {"data.generate_doc_lengths", "attention ends with each document of a row; the plan's spans the row"},
    {"optimizer.record_update_metrics optimizer.selective_updates", "what a step changes is measured or masked: a little time and memory"},
    {"model.clip_qkv", "queries, keys and values are clamped: a little time"},
    {"model.embedding_layer_norm model.scale_logits", "a norm or a factor more at the ends of the network"},
    {"model.moe_*", "experts; the plan has none of them"},
    {"ddp.find_unused_params", "the host looks for unused weights before each backward: a little time"},
    {"softmax_auxiliary_loss auxiliary_loss_multiplier fused_loss", "another loss, or its kernel: a little time"},
};
constexpr std::string_view kOlmoWithoutEffect =
    "run_name epoch dry_run wandb* wandb.* model.flash_attention model.rope_full_precision model.alibi_bias_max model.bias_for_layer_norm "
    "model.attention_layer_norm_with_affine model.eos_token_id model.pad_token_id model.init_* model.emb_init_std model.scale_emb_init "
    "model.precision optimizer.* scheduler.* tokenizer.* save_* remote_save_folder canceled_check_interval no_pre_train_checkpoint "
    "sharded_checkpointer load_* restore_* reset_* new_style_checkpoints force_save_unsharded max_duration stop_at stop_after "
    "device_train_batch_size device_train_grad_accum device_eval_batch_size eval_* evaluators evaluators.* data data.* max_grad_norm_ratio "
    "speed_monitor.* console_log_interval gen1_gc_interval time_limit extra_steps_after_cancel early_stopping_factor python_profiling "
    "torch_profiling fsdp.use_orig_params hf_datasets_cache_dir module_outputs_save_steps "
    "nproc_per_node nnodes rdzv* rdzv_backend node_rank master_* standalone ";

RecipeReading olmo_settings(const RecipeSource& source) {
  if (begins_as_yaml(source.text)) return {read_yaml(source.text, source.path), {}, {}};
  const auto is_known = [&](const std::string& key) { return is_known_to(source.program, key); };
  RecipeReading reading = read_shell(source.text, source.path, source.given, is_known);
  const std::optional<RecipeSetting> named = bare_configuration(reading.command);
  if (named) put_below(reading, read_yaml(text_beside(source, reading, *named), named->value));
  return reading;
}

std::int64_t olmo_size(const Draft& draft, const std::string& name, double otherwise) {
  return static_cast<std::int64_t>(std::clamp(number_of(draft, "model." + name, otherwise), 0.0, 1e12));
}
bool olmo_flag(const Draft& draft, const std::string& name, bool usual) { return flag_of(draft, "model." + name, usual); }

void describe_block(const Draft& draft, ModelConfig& model) {
  const bool is_rms = text_of(draft, "model.layer_norm_type", "default") == "rms", biases = olmo_flag(draft, "include_bias", true);
  model.norm = is_rms ? Norm::RmsNorm : Norm::LayerNorm;
  model.norm_weight = olmo_flag(draft, "layer_norm_with_affine", true);
  if (olmo_flag(draft, "attention_layer_norm", false)) model.qk_norm = QkNorm::Joint;
  if (olmo_flag(draft, "norm_after", false)) model.norm_place = NormPlace::Behind;
  model.position = olmo_flag(draft, "alibi", false)  ? Position::Alibi
                   : olmo_flag(draft, "rope", false) ? Position::Rotary
                                                     : Position::Learned;
  model.attention_bias = model.projection_bias = model.mlp_bias = biases;
  const std::string activation = text_of(draft, "model.activation_type", "swiglu");
  model.gated_mlp = activation == "swiglu";
  model.activation = model.gated_mlp ? Activation::Silu : activation == "relu" ? Activation::Relu : Activation::Gelu;
  const std::int64_t width =
      olmo_size(draft, "mlp_hidden_size", 0) > 0 ? olmo_size(draft, "mlp_hidden_size", 0) : olmo_size(draft, "mlp_ratio", 4) * model.hidden;
  model.ffn = model.gated_mlp ? width / 2 : width;  // what is said is of both products together
  model.model_type = model.norm_place == NormPlace::Behind ? "olmo2" : is_rms ? "llama" : !model.norm_weight ? "olmo" : "";
}

std::optional<ModelConfig> olmo_network(Draft& draft, const RecipeContext&) {
  ModelConfig model;
  model.layers = olmo_size(draft, "n_layers", 12);
  model.hidden = olmo_size(draft, "d_model", 768);
  model.heads = olmo_size(draft, "n_heads", 12);
  if (!draft.said.contains("model.d_model") || model.layers < 1 || model.hidden < 1 || model.heads < 1) return std::nullopt;
  const double kv_heads = olmo_flag(draft, "multi_query_attention", false) ? 1 : static_cast<double>(model.heads);
  model.kv_heads = std::max<std::int64_t>(1, olmo_size(draft, "n_kv_heads", kv_heads));
  model.head_dim = model.hidden / model.heads;
  const std::int64_t padded = olmo_size(draft, "embedding_size", 0);
  model.vocabulary = padded > 0 ? padded : olmo_size(draft, "vocab_size", 50257);
  model.max_positions = olmo_size(draft, "max_sequence_length", 1024);
  model.tied_embeddings = olmo_flag(draft, "weight_tying", true);
  model.norm_epsilon = number_of(draft, "model.layer_norm_eps", 1e-5);
  model.rope_theta = number_of(draft, "model.rope_theta", 10'000);
  model.initializer_range = number_of(draft, "model.init_std", 0.02);
  model.attention_dropout = number_of(draft, "model.attention_dropout", 0.1);
  model.residual_dropout = number_of(draft, "model.residual_dropout", 0.1);
  model.embedding_dropout = number_of(draft, "model.embedding_dropout", 0.1);
  describe_block(draft, model);
  return model;
}

// Without a strategy of wrapping the network is one unit, which is gathered whole.
void settle_units(Draft& draft) {
  const std::string wrapped = text_of(draft, "fsdp.wrapping_strategy", "");
  const std::int64_t group = olmo_size(draft, "block_group_size", 1);
  const std::int64_t blocks = !is_on(wrapped) ? draft.plan.model.layers : wrapped.starts_with("by_block_group") ? group : 1;
  draft.plan.layers_per_unit = static_cast<std::int32_t>(std::clamp<std::int64_t>(blocks, 1, draft.plan.model.layers));
  if (wrapped == "size_based")
    draft.lost.push_back({"fsdp.wrapping_strategy", "is size_based: the plan gathers block by block", "mind memory"});
}

void settle_olmo(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  take_processes(draft);
  const std::string strategy = text_of(draft, "distributed_strategy", "fsdp"), types = text_of(draft, "precision", "fp32");
  const bool by_fsdp = strategy == "fsdp" || !is_on(strategy);
  if (text_of(draft, "model.block_type", "") == "llama") take_attention("model.block_type", AttentionWord::Unfused, draft);
  const Precision compute = types == "amp_bf16" ? Precision::Bf16 : types == "amp_fp16" ? Precision::Fp16 : Precision::Fp32;
  if (compute == Precision::Fp32 && types != "fp32" && is_on(types))
    draft.wrong.push_back({"precision", fmt::format("is '{}', which no plan says", types), "use amp_bf16, amp_fp16 or fp32"});
  plan.vocabulary_multiple = 1;  // embedding_size is padded
  if (!by_fsdp) {
    draft.replicate.reset(), draft.shard.reset();
    draft.reduces_each = text_of(draft, "ddp.grad_sync_mode", "batch") == "micro_batch";
    plan.workload.precision = PrecisionPolicy(compute);
    if (is_sixteen_bit(compute)) plan.workload.precision = plan.workload.precision.with(Numbers::Weights, Precision::Fp32);
    return;
  }
  if (!draft.shard) draft.shard = -1;
  draft.reduces_each = true;  // no_sync is of DDP alone
  settle_units(draft);
  plan.workload.precision = mixed_precision(PrecisionPolicy(compute), text_of(draft, "fsdp.precision", "pure") == "mixed");
}

void judge_olmo(const ParallelPlan& plan, Judgement& judgement) { kLightning.judge(plan, judgement); }

}  // namespace

const Program kOlmo = {.name = "olmo",
                       .title = "OLMo",
                       .version = "0.6.0",
                       .file = "olmo.yaml",
                       .marks = "global_train_batch_size",
                       .fields = kOlmoFields,
                       .judge = judge_olmo,
                       .files = no_files,
                       .settings = olmo_settings,
                       .settle = settle_olmo,
                       .lost = kOlmoLost,
                       .without_effect = kOlmoWithoutEffect,
                       .training = {.learning_rate = 1e-4, .epsilon = 1e-5, .weight_decay = 0.01, .seed = 6198},
                       .network = olmo_network,
                       .software = "fsdp1"};

}  // namespace sim
