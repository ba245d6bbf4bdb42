// nanotron: its YAML, of the networks of its LlamaConfig and Qwen2Config. Ranks stand as ours do: tensor fastest, then context, data, stages.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "sim/model/model_words.h"
#include "sim/recipe/accounting.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/program.h"
#include "sim/recipe/said_values.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kMebibyteOfBucket = 1 << 20;
constexpr std::int64_t kUsualBucket = 25;  // MiB of gradients as they are computed: PyTorch's

bool computes_in_sixteen(const ParallelPlan& p) { return is_sixteen_bit(p.workload.precision.compute()); }

// Biases of queries, keys and values, and windows, stand in its Qwen2Config alone; rings of context in its attention.
bool is_of_qwen(const ModelConfig& model) { return model.attention_bias || model.window > 0; }

// YAML 1.1 takes 1e-05 for a text and 1 for no float: with a point.
Written yaml_number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find('.') == std::string::npos) text.insert(std::min(text.find('e'), text.size()), ".0");
  return text;
}

template <auto size>
Written size_of_network(const ParallelPlan& plan) {
  return written(plan.model.*size);
}
void count_of_network(const Value& value, Draft&) { value.count(); }
void number_of_network(const Value& value, Draft&) {
  if (is_on(value.text())) value.number();
}
template <auto size>
Written rate_of(const ParallelPlan& plan) {
  return yaml_number(plan.training.*size);
}
template <auto size>
void read_rate(const Value& value, Draft& draft) {
  if (is_on(value.text()) || value.text() == "0") draft.plan.training.*size = value.number();
}
std::string yaml_truth(bool value) { return value ? "true" : "false"; }

// Its buckets are of gradients as autograd makes them, whole MiB; the plan's are of gradients as they are summed.
std::int64_t bucket_mebibytes(const ParallelPlan& plan) {
  const std::int64_t bytes = elements_of_bucket(plan) * (computes_in_sixteen(plan) ? 2 : 4);
  return std::max<std::int64_t>(1, (bytes + kMebibyteOfBucket - 1) / kMebibyteOfBucket);
}
Bytes bucket_of(const ParallelPlan& plan, std::int64_t mebibytes) {
  return std::clamp<std::int64_t>(mebibytes, 1, 1 << 20) * kMebibyteOfBucket / (computes_in_sixteen(plan) ? 2 : 4) *
         plan.bytes(Numbers::Gradients);
}

// How it deals blocks over stages (NanotronModel's build_model): by products of each, head included; a stage ends with the block that crosses its share.
std::vector<std::int64_t> dealt_blocks(const ModelConfig& model, std::int64_t stages, std::int64_t multiple) {
  const double width = static_cast<double>(model.heads * model.head_dim), hidden = static_cast<double>(model.hidden);
  const double block = 4 * width * hidden + 3 * static_cast<double>(model.ffn) * hidden;
  const std::int64_t vocabulary = (model.vocabulary + multiple - 1) / multiple * multiple;
  const double all = block * static_cast<double>(model.layers) + static_cast<double>(vocabulary) * hidden;
  std::vector<std::int64_t> blocks(count_of(stages), 0);
  double sum = 0;
  for (std::int64_t next = 0, stage = 0; next < model.layers; ++next) {
    ++sim::at(blocks, stage);
    sum += block;
    if (sum > all * (static_cast<double>(stage + 1) / static_cast<double>(stages)) && stage + 1 < stages) ++stage;
  }
  return blocks;
}

StageCut dealt_cut(const std::vector<std::int64_t>& blocks) {
  StageCut cut;
  std::int64_t next = 1;
  for (const std::int64_t count : blocks) {
    cut.first.push_back(LayerIndex(cut.first.empty() ? 0 : static_cast<std::int32_t>(next)));
    next += count;
  }
  return cut;
}

void refuse_other_than_llama(const ModelConfig& model, Judgement& judgement) {
  const bool is_block = model.norm == Norm::RmsNorm && model.position == Position::Rotary && model.gated_mlp &&
                        model.activation == Activation::Silu && !model.projection_bias && !model.mlp_bias && !model.experts &&
                        model.attention.kind != AttentionKind::Latent;
  judgement.refuse(!is_block, "/model",
                   fmt::format("{}: its networks are of the kinds of Llama and Qwen 2, without experts", model.model_type),
                   "export to another program");
  judgement.refuse(model.heads * model.head_dim != model.hidden, "/model/head_dim",
                   fmt::format("{} heads of {} are {}, and the width is {}: heads divide it there", model.heads, model.head_dim,
                               model.heads * model.head_dim, model.hidden),
                   "export to another program");
  judgement.refuse(!model.windowed.empty() || model.attention.kind == AttentionKind::Sliding, "/model/sliding_window",
                   "windows are of every layer there", "export to another program");
  judgement.refuse(model.rope_scaling.kind != RopeScalingKind::None, "/model/rope_scaling",
                   fmt::format("{} has no setting that it obeys", sim::at(kRopeScalingNames, model.rope_scaling.kind)),
                   "export to another program");
  for (const ModelWord& word : model_words())
    judgement.refuse(word.stands_in(model) && word.name != "window", "/model", fmt::format("has {}, which is not written", word.what),
                     "export to another program");
  judgement.note(model.attention_dropout > 0 || model.residual_dropout > 0, "/model/attention_dropout", "there is no dropout there",
                 "nothing to do");
}

void refuse_nanotron_layout(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  judgement.refuse(plan.zero_stage > 1, "/zero_stage", fmt::format("stage {}: nanotron has 0 and 1", plan.zero_stage),
                   "plan with --fix zero=1");
  judgement.refuse(mesh.replicas > 1, "/mesh/replicas", fmt::format("{} replicas: states are cut over all data ranks there", mesh.replicas),
                   "plan with --fix replicas=1");
  judgement.refuse(mesh.pipeline > 1 && plan.schedule != "1f1b" && plan.schedule != "gpipe", "/schedule",
                   fmt::format("nanotron performs 1f1b and gpipe, not {}", plan.schedule), "plan with --fix schedule=1f1b");
  judgement.refuse(plan.chunks > 1, "/chunks", fmt::format("{} chunks: a stage is one there", plan.chunks), "plan with --fix chunks=1");
  judgement.refuse(mesh.context > 1 && plan.context_algorithm != ContextAlgorithm::Ring, "/context_algorithm",
                   fmt::format("{}: nanotron sends keys and values around a ring", sim::at(kContextAlgorithmNames, plan.context_algorithm)),
                   "plan with --fix context_algorithm=ring");
  judgement.refuse(mesh.expert > 1, "/mesh/expert", fmt::format("expert degree {}: its experts are not written", mesh.expert),
                   "export to another program");
  judgement.refuse(plan.offload_optimizer, "/offload_optimizer", "states stay on the device there",
                   "plan with --fix offload_optimizer=false");
  if (mesh.pipeline == 1) return;
  const std::vector<std::int64_t> dealt = dealt_blocks(plan.model, mesh.pipeline, plan.vocabulary_multiple);
  judgement.refuse(plan.cut.first != dealt_cut(dealt).first, "/cut",
                   fmt::format("blocks are dealt by products there, {} to the first of {} stages", dealt.front(), mesh.pipeline),
                   "plan with --for nanotron, which deals them so");
}

void judge_nanotron(const ParallelPlan& plan, Judgement& judgement) {
  const Precision compute = plan.workload.precision.compute();
  refuse_nanotron_layout(plan, judgement);
  refuse_other_than_llama(plan.model, judgement);
  judgement.refuse(compute != Precision::Bf16 && compute != Precision::Fp32, "/workload/precision",
                   fmt::format("there is no setting for {} that trains", sim::at(kPrecisionNames, compute)),
                   "plan with --precision bf16 or fp32");
  judgement.refuse(compute == Precision::Bf16 && !reduces_in_fp32(plan), "/workload/precision",
                   "without fp32 gradients it keeps no fp32 weights either", "plan with --fp32-gradients");
  judgement.refuse(plan.workload.optimizer != OptimizerKind::AdamW, "/workload/optimizer", "the file has AdamW",
                   "plan with --optimizer adamw");
  judgement.refuse(plan.recompute == Recompute::Selective, "/recompute", "a block is recomputed whole, or not at all",
                   "plan with --fix recompute=none or full");
  judgement.refuse(plan.recompute_scope != RecomputeScope{}, "/recompute_scope",
                   fmt::format("\"{}\" has no setting there", to_text(plan.recompute_scope)), "recompute all blocks, or none");
  note_units(plan, judgement);
  judgement.note(plan.bucket_size != bucket_of(plan, bucket_mebibytes(plan)), "/bucket_size",
                 fmt::format("buckets are whole MiB of 16-bit gradients there, {} of them", bucket_mebibytes(plan)), "nothing to do");
  judgement.note(plan.num_microbatches() > 1 && plan.accumulation == Accumulation::ReduceEach, "/accumulation",
                 "gradients are reduced with the last microbatch there", "simulate the plan imported again");
  judgement.note(plan.prefetch != 1, "/prefetch", "has a meaning for stage 3 alone", "nothing to do");
  judgement.note(plan.training.momentum != TrainingSettings{}.momentum || plan.training.loss_scale_rule != LossScaleRule::PyTorch ||
                     plan.training.checkpoint_interval > 0 || plan.training.initial_loss_scale != TrainingSettings{}.initial_loss_scale ||
                     plan.training.loss_scale_window != TrainingSettings{}.loss_scale_window,
                 "/training", "how often is saved is left to the program, and there is no loss scale", "add a section of checkpoints");
  judgement.note(true, "", "data, tokenizer and the number of steps are not of the plan", "set data_stages, tokenizer and train_steps");
}

// Rings are of its attention; another way gives each rank its part of the sequence alone.
Written nanotron_attention(const ParallelPlan& p) { return p.mesh.context > 1 ? "ring_flash_triton" : "flash_attention_2"; }

constexpr std::string_view kNanotronEngines[] = {"1f1b", "afab"};
constexpr std::string_view kTensorModes[] = {"REDUCE_SCATTER", "ALL_REDUCE"};

std::size_t choice_of_any_case(const Value& v, std::span<const std::string_view> names) {
  for (std::size_t at = 0; at < names.size(); ++at)
    if (std::ranges::equal(v.text(), names[at], [](char a, char b) { return std::tolower(a) == std::tolower(b); })) return at;
  return v.choice(names);
}

// Of all that is said of the data one switch of Swiss AI's fork reaches attention.
void read_data(const Value& v, Draft&) {
  if (in_lower_case(v.text()).find("remove_cross_attention: true") != std::string::npos)
    v.lost("remove_cross_attention: documents attend to themselves alone; the plan's attention spans the row", "mind attention's time");
}

constexpr Field kNanotronFields[] = {
    {"general.project", "", [](const ParallelPlan&) { return Written("meshwright"); }, only_said},
    {"general.run", "", [](const ParallelPlan&) { return Written("plan"); }, only_said},
    {"general.seed", "", [](const ParallelPlan& p) { return written(static_cast<std::int64_t>(p.training.seed)); },
     [](const Value& v, Draft& d) {
       d.plan.training.seed = static_cast<std::uint64_t>(std::clamp<std::int64_t>(v.integer(), 0, kLargestSeed));
     }},
    {"parallelism.dp", "", [](const ParallelPlan& p) { return written(p.mesh.data); },
     [](const Value& v, Draft& d) { d.replicate = v.degree(); }, true},
    {"parallelism.pp", "", [](const ParallelPlan& p) { return written(p.mesh.pipeline); },
     [](const Value& v, Draft& d) { d.plan.mesh.pipeline = v.degree(); }, true},
    {"parallelism.tp", "", [](const ParallelPlan& p) { return written(p.mesh.tensor); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.degree(); }, true},
    {"parallelism.context_parallel_size", "", [](const ParallelPlan& p) { return written(p.mesh.context); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(), d.plan.context_algorithm = ContextAlgorithm::Ring; }, true},
    {"parallelism.expert_parallel_size", "", [](const ParallelPlan&) { return Written("1"); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }},
    {"parallelism.pp_engine", "", [](const ParallelPlan& p) { return Written(p.schedule == "gpipe" ? "afab" : "1f1b"); },
     [](const Value& v, Draft& d) { d.plan.schedule = choice_of_any_case(v, kNanotronEngines) == 1 ? "gpipe" : "1f1b"; }},
    {"parallelism.tp_mode", "", [](const ParallelPlan& p) { return Written(std::string(kTensorModes[p.sequence_parallel ? 0 : 1])); },
     [](const Value& v, Draft& d) { d.plan.sequence_parallel = choice_of_any_case(v, kTensorModes) == 0; }},
    {"parallelism.tp_linear_async_communication", "", [](const ParallelPlan& p) { return Written(yaml_truth(p.sequence_parallel)); },
     flag_said},
    {"parallelism.tp_recompute_allgather", "", [](const ParallelPlan&) { return Written("true"); },
     [](const Value& v, Draft&) {
       if (!v.boolean()) v.lost("is false: gathered inputs are kept; the plan gathers them again", "mind time and memory");
     }},
    {"parallelism.recompute_layer", "", [](const ParallelPlan& p) { return Written(yaml_truth(p.recompute == Recompute::Full)); },
     [](const Value& v, Draft& d) { d.plan.recompute = v.boolean() ? Recompute::Full : Recompute::None; }},
    {"model.ddp_bucket_cap_mb", "", [](const ParallelPlan& p) { return written(bucket_mebibytes(p)); }, count_of_network},
    {"model.dtype", "",
     [](const ParallelPlan& p) { return Written(p.workload.precision.compute() == Precision::Bf16 ? "bfloat16" : "float32"); },
     [](const Value& v, Draft& d) {
       constexpr std::string_view kTypes[] = {"bfloat16", "float32"};
       d.precision = v.choice(kTypes) == 0 ? Precision::Bf16 : Precision::Fp32;
     }},
    {"model.init_method.std", "", [](const ParallelPlan& p) { return yaml_number(p.model.initializer_range); }, number_of_network},
    {"model.make_vocab_size_divisible_by", "",
     [](const ParallelPlan& p) { return written(p.vocabulary_multiple / p.mesh.tensor); },  // times T there
     [](const Value& v, Draft& d) { d.plan.vocabulary_multiple = v.degree(); }},
    {"model.model_config.is_llama_config", "", [](const ParallelPlan& p) { return written_flag(!is_of_qwen(p.model)); }, flag_said},
    {"model.model_config.is_qwen2_config", "", [](const ParallelPlan& p) { return written_flag(is_of_qwen(p.model)); }, flag_said},
    {"model.model_config.num_hidden_layers", "", size_of_network<&ModelConfig::layers>, count_of_network, true},
    {"model.model_config.hidden_size", "", size_of_network<&ModelConfig::hidden>, count_of_network, true},
    {"model.model_config.intermediate_size", "", size_of_network<&ModelConfig::ffn>, count_of_network},
    {"model.model_config.num_attention_heads", "", size_of_network<&ModelConfig::heads>, count_of_network},
    {"model.model_config.num_key_value_heads", "", size_of_network<&ModelConfig::kv_heads>,
     [](const Value& v, Draft&) {
       if (is_on(v.text())) v.count();
     }},
    {"model.model_config.vocab_size", "", size_of_network<&ModelConfig::vocabulary>, count_of_network},
    {"model.model_config.max_position_embeddings", "", size_of_network<&ModelConfig::max_positions>, count_of_network},
    {"model.model_config.rms_norm_eps", "", [](const ParallelPlan& p) { return yaml_number(p.model.norm_epsilon); }, number_of_network},
    {"model.model_config.rope_theta", "", [](const ParallelPlan& p) { return yaml_number(p.model.rope_theta); }, number_of_network},
    {"model.model_config.initializer_range", "", [](const ParallelPlan& p) { return yaml_number(p.model.initializer_range); },
     number_of_network},
    {"model.model_config.tie_word_embeddings", "", [](const ParallelPlan& p) { return Written(yaml_truth(p.model.tied_embeddings)); },
     flag_said},
    {"model.model_config.hidden_act", "", [](const ParallelPlan&) { return Written("silu"); },
     [](const Value& v, Draft&) {
       if (v.text() != "silu") v.lost(fmt::format("is {}: the plan has silu, of the same products", v.text()), "mind the function");
     }},
    {"model.model_config.attention_bias", "",
     [](const ParallelPlan& p) { return written_if(is_of_qwen(p.model), yaml_truth(p.model.attention_bias)); }, flag_said},
    {"model.model_config.sliding_window_size", "",
     [](const ParallelPlan& p) { return written_if(p.model.window > 0, std::to_string(p.model.window)); }, number_of_network},
    {"model.model_config._attn_implementation", "", nanotron_attention,
     [](const Value& v, Draft&) {
       constexpr std::string_view kKernels[] = {"flash_attention_2", "ring_flash_triton", "ring", "llama3_ring_attention", "sdpa",
                                                "flex_attention"};
       tell_other_word(v, kKernels);
       if (v.text() == "sdpa" || v.text() == "flex_attention")
         v.lost(v.text() + ": another kernel; the software profile says what the plan has", "mind memory");
     }},
    {"tokens.sequence_length", "", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) { d.sequence = v.count(); }, true},
    {"tokens.micro_batch_size", "", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }, true},
    {"tokens.batch_accumulation_per_replica", "", [](const ParallelPlan& p) { return written(p.num_microbatches()); },
     [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }, true},
    {"tokens.train_steps", "", [](const ParallelPlan& p) { return written(std::max<std::int64_t>(100, p.training.decay_steps)); },
     number_said},
    {"optimizer.zero_stage", "", [](const ParallelPlan& p) { return written(p.zero_stage); },
     [](const Value& v, Draft& d) {
       constexpr std::string_view kStages[] = {"0", "1"};
       d.plan.zero_stage = static_cast<std::int32_t>(v.choice(kStages));
     }},
    {"optimizer.accumulate_grad_in_fp32", "", [](const ParallelPlan& p) { return Written(yaml_truth(computes_in_sixteen(p))); },
     [](const Value& v, Draft& d) { d.fp32_gradients = v.boolean(); }},
    {"optimizer.weight_decay", "", rate_of<&TrainingSettings::weight_decay>, read_rate<&TrainingSettings::weight_decay>},
    {"optimizer.clip_grad", "", rate_of<&TrainingSettings::gradient_clip>, read_rate<&TrainingSettings::gradient_clip>},
    {"optimizer.optimizer_factory.name", "", [](const ParallelPlan&) { return Written("adamW"); },
     [](const Value& v, Draft& d) {
       constexpr std::string_view kNames[] = {"adamW", "adamw", "sgd"};
       tell_other_word(v, kNames);
       if (v.text() == "sgd") d.plan.workload.optimizer = OptimizerKind::Sgd;
     }},
    {"optimizer.optimizer_factory.adam_beta1", "optimizer.adam_beta1", rate_of<&TrainingSettings::beta1>,
     [](const Value& v, Draft& d) { d.plan.training.beta1 = v.number(1); }},
    {"optimizer.optimizer_factory.adam_beta2", "optimizer.adam_beta2", rate_of<&TrainingSettings::beta2>,
     [](const Value& v, Draft& d) { d.plan.training.beta2 = v.number(1); }},
    {"optimizer.optimizer_factory.adam_eps", "optimizer.adam_eps", rate_of<&TrainingSettings::epsilon>,
     read_rate<&TrainingSettings::epsilon>},
    {"optimizer.optimizer_factory.torch_adam_is_fused", "optimizer.torch_adam_is_fused",
     [](const ParallelPlan&) { return Written("true"); }, flag_said},
    {"optimizer.learning_rate_scheduler.learning_rate", "", rate_of<&TrainingSettings::learning_rate>,
     read_rate<&TrainingSettings::learning_rate>},
    {"optimizer.learning_rate_scheduler.lr_warmup_steps", "", [](const ParallelPlan& p) { return written(p.training.warmup_steps); },
     [](const Value& v, Draft& d) { d.plan.training.warmup_steps = std::max<std::int64_t>(0, v.integer()); }},
    {"optimizer.learning_rate_scheduler.lr_warmup_style", "", [](const ParallelPlan&) { return Written("linear"); }, only_said},
    {"optimizer.learning_rate_scheduler.lr_decay_style", "",
     [](const ParallelPlan& p) { return Written(p.training.decay_steps > 0 ? "cosine" : "linear"); }, only_said},
    {"optimizer.learning_rate_scheduler.lr_decay_steps", "",
     [](const ParallelPlan& p) { return written_if(p.training.decay_steps > 0, std::to_string(p.training.decay_steps)); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.plan.training.decay_steps = std::max<std::int64_t>(0, v.integer());
     }},
    {"optimizer.learning_rate_scheduler.min_decay_lr", "",
     [](const ParallelPlan& p) {
       return yaml_number(p.training.decay_steps > 0 ? p.training.minimum_learning_rate : p.training.learning_rate);
     },
     [](const Value& v, Draft& d) {
       const double least = v.number();
       if (said(d, "optimizer.learning_rate_scheduler.lr_decay_steps") != nullptr) d.plan.training.minimum_learning_rate = least;
     }},
    {"model.model_config.moe_config.num_experts", "", nullptr,
     [](const Value& v, Draft&) {
       if (is_on(v.text()) && v.count() > 1)
         v.wrong(fmt::format("is {}: its experts are not read", v.text()), "plan that network with --model, and the degrees with --fix");
     }},
    {"model.model_config.is_llama4_config", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.boolean()) v.wrong("is set: its Llama 4 is not read", "plan that network with --model, and the degrees with --fix");
     }},
    {"data_stages", "", nullptr, read_data},
    {"tokenizer.tokenizer_name_or_path", "", [](const ParallelPlan&) { return Written("gpt2"); }, only_said},
};

constexpr LostSetting kNanotronLost[] = {
    {"parallelism.moe_layer_recompute model.model_config.moe_config.*", "experts, which are not read"},
    {"model.model_config.rope_scaling", "positions that are scaled; the plan's are not"},
    {"general.ignore_sanity_checks", "ranks compare weights and gradients in each step; the plan's do not", "off"},
    {"model.model_config._fused_rms_norm model.model_config._fused_rotary_emb model.model_config._use_qkv_packed",
     "a kernel for each of its operations; the software profile says what the plan fuses", "off"},
    {"metrics_logging.log_level", "norms of all weights and gradients are summed: a little time", "1"},
    {"model.model_config.z_loss_enabled", "another term of the loss; a little time"},
    {"model.model_config.no_rope_layer", "layers without positions; the plan's all have them"},
    {"model.model_config.flex_attention_mask model.model_config._use_doc_masking",
     "attention within documents; the plan's spans the sequence"},
    {"lora.* s3_upload.* optimizer.optimizer_factory.name_of_groups", "work beside training"},
};
constexpr std::string_view kNanotronWithoutEffect =
    "config-file config_file nnodes nproc_per_node nproc-per-node node_rank node-rank master_addr master_port rdzv* rdzv_backend "
    "rdzv-backend max_restarts tee role "
    "general.* checkpoints.* data.* data_stages.* logging.* lighteval.* profiler.* tokenizer.* metrics_logging.* s3_upload.* "
    "tokens.val_check_interval tokens.limit_val_batches tokens.limit_test_batches optimizer.weight_decay_exclude_named_params "
    "optimizer.finetuning model.init_method.* model.model_config.bos_token_id model.model_config.eos_token_id "
    "model.model_config.pad_token_id model.model_config.pretraining_tp model.model_config.use_cache model.model_config.rope_interleaved "
    "model.model_config.rope_scaling.* "  // which nothing there obeys
    "model.model_config.z_loss_coefficient "
    "optimizer.learning_rate_scheduler.lr_decay_starting_step experiment_logger* generation.*";

std::int64_t said_size(const Draft& draft, std::string_view name, std::int64_t otherwise = 0) {
  const std::string* const text = said(draft, "model.model_config." + std::string(name));
  std::int64_t number = 0;
  return text != nullptr && std::from_chars(text->data(), text->data() + text->size(), number).ec == std::errc{} ? number : otherwise;
}

// Defaults are those of LlamaConfig.
std::optional<ModelConfig> nanotron_network(Draft& draft, const RecipeContext&) {
  ModelConfig model;
  const auto key = [](std::string_view name) { return "model.model_config." + std::string(name); };
  model.layers = said_size(draft, "num_hidden_layers");
  model.hidden = said_size(draft, "hidden_size");
  model.heads = said_size(draft, "num_attention_heads");
  if (model.layers < 1 || model.hidden < 1 || model.heads < 1) return std::nullopt;
  model.model_type = said(draft, key("is_qwen2_config")) != nullptr ? "qwen2" : "llama";
  model.kv_heads = said_size(draft, "num_key_value_heads", model.heads);
  model.head_dim = model.hidden / model.heads;
  model.ffn = said_size(draft, "intermediate_size", 11008);
  model.vocabulary = said_size(draft, "vocab_size", 32000);
  model.max_positions = said_size(draft, "max_position_embeddings", 2048);
  model.norm = Norm::RmsNorm;
  model.position = Position::Rotary;
  model.activation = Activation::Silu;
  model.gated_mlp = true;
  model.attention_bias = said(draft, key("attention_bias")) != nullptr;
  model.projection_bias = model.mlp_bias = false;
  model.tied_embeddings = said(draft, key("tie_word_embeddings")) != nullptr;
  model.window = said_size(draft, "sliding_window_size");
  model.norm_epsilon = number_of(draft, key("rms_norm_eps"), 1e-6);
  model.rope_theta = number_of(draft, key("rope_theta"), 10'000);
  model.initializer_range = number_of(draft, "model.init_method.std", 0.02);
  model.attention_dropout = model.residual_dropout = model.embedding_dropout = 0;
  return model;
}

void settle_nanotron(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const DeviceMesh& mesh = plan.mesh;
  if (draft.replicate) draft.processes = *draft.replicate * mesh.tensor * mesh.pipeline * mesh.context;
  draft.replicate.reset();  // whole weights: no shards of FSDP
  const bool is_bf16 = draft.precision.value_or(Precision::Bf16) == Precision::Bf16;
  if (is_bf16 && !draft.fp32_gradients.value_or(false))
    draft.lost.push_back(
        {"optimizer.accumulate_grad_in_fp32", "is not set: weights have no fp32 copies there; the plan has them", "mind memory"});
  plan.workload.precision =
      mixed_precision(PrecisionPolicy(draft.precision.value_or(Precision::Bf16)), draft.fp32_gradients.value_or(false));
  if (!draft.said.contains("parallelism.pp_engine") && mesh.pipeline > 1) plan.schedule = "gpipe";  // its default
  if (mesh.pipeline == 1) plan.schedule = "1f1b";
  plan.sequence_parallel = plan.sequence_parallel && mesh.tensor > 1;
  plan.vocabulary_multiple = (draft.said.contains("model.make_vocab_size_divisible_by") ? plan.vocabulary_multiple : 1) * mesh.tensor;
  const std::string cap = text_of(draft, "model.ddp_bucket_cap_mb", std::to_string(kUsualBucket));
  std::int64_t mebibytes = kUsualBucket;
  std::from_chars(cap.data(), cap.data() + cap.size(), mebibytes);
  plan.bucket_size = bucket_of(plan, mebibytes);
  if (mesh.pipeline > 1) draft.blocks = dealt_blocks(plan.model, mesh.pipeline, plan.vocabulary_multiple);
}

void nanotron_habits(ParallelPlan& plan) {
  plan.workload.precision = mixed_precision(plan.workload.precision, true);
  plan.bucket_size = bucket_of(plan, bucket_mebibytes(plan));
  plan.prefetch = 1;
  if (plan.mesh.pipeline > 1 && plan.chunks == 1)
    plan.cut = dealt_cut(dealt_blocks(plan.model, plan.mesh.pipeline, plan.vocabulary_multiple));
}

std::vector<RecipeFile> nanotron_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  RecipeHead with_command = head;
  with_command.remarks.push_back(
      fmt::format("CUDA_DEVICE_MAX_CONNECTIONS=1 torchrun --nnodes {} --nproc-per-node {} run_train.py --config-file {}",
                  plan.cluster.hosts(), plan.cluster.devices_per_host(), kNanotron.file));
  return {{std::string(kNanotron.file), yaml_text(with_command, settings)}};
}

// Its YAML; or `torchrun run_train.py --config-file run.yaml`, which the script may write itself.
RecipeReading nanotron_settings(const RecipeSource& source) {
  if (begins_as_yaml(source.text)) return {read_yaml(source.text, source.path), {}, {}};
  if (begins_as_python(source.text))
    throw InputError(source.path, {{"", "is Python, and what it gives nanotron stands in its code", "import the YAML that it writes"}});
  const auto is_file = [](const std::string& key) { return has_name("config-file config_file", key); };
  RecipeReading reading = read_shell(source.text, source.path, source.given, is_file);
  const auto named = std::ranges::find_if(reading.settings, is_file, &RecipeSetting::key);
  if (named == reading.settings.end())
    throw InputError(source.path, {{"", "has words of nanotron, and is neither its YAML nor a command that names it",
                                    "give the YAML that its run_train.py is started with"}});
  put_below(reading, read_yaml(text_beside(source, reading, *named), named->value));
  return reading;
}

}  // namespace

const Program kNanotron = {.name = "nanotron",
                           .title = "nanotron",
                           .version = "of 2025 (025f3141)",
                           .file = "nanotron.yaml",
                           .marks = "batch_accumulation_per_replica pp_engine: is_llama_config is_qwen2_config",
                           .fields = kNanotronFields,
                           .judge = judge_nanotron,
                           .files = nanotron_files,
                           .settings = nanotron_settings,
                           .settle = settle_nanotron,
                           .lost = kNanotronLost,
                           .without_effect = kNanotronWithoutEffect,
                           .training = {.seed = 42},
                           .network = nanotron_network,
                           .software = "nanotron",
                           .habits = nanotron_habits,
                           .offloads_parameters = false};

}  // namespace sim
