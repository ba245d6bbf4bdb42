// torchtitan's settings that a plan says, and those that say a plan: one row each, both ways. The network's are put together by network_of_sizes().
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accounting.h"
#include "sim/recipe/said_values.h"
#include "sim/recipe/torchtitan.h"

namespace sim {
namespace {

constexpr NamedSchedule kNamedSchedules[] = {{"1f1b", "1F1B"},
                                             {"gpipe", "GPipe"},
                                             {"interleaved", "Interleaved1F1B", true},
                                             {"zbv", "ZBVZeroBubble", true},
                                             {"looped-bfs", "LoopedBFS", true},
                                             {"dualpipev", "DualPipeV", true}};
constexpr std::string_view kReshards[] = {"always", "never", "default"};

Written of_stages(const ParallelPlan& p, std::string value) { return written_if(has_stages(p), std::move(value)); }
std::string truth_value(bool value) { return value ? "true" : "false"; }
template <auto size>
Written network_size(const ParallelPlan& plan) {
  return written(plan.model.*size);
}
void network_count(const Value& v, Draft&) { v.count(); }  // torchtitan_network() takes it
bool is_latent(const ParallelPlan& plan) { return plan.model.attention.kind == AttentionKind::Latent; }
bool has_expert_groups(const ParallelPlan& plan) { return is_latent(plan) && plan.model.experts && plan.model.experts->groups > 1; }
template <auto size>
Written expert_size(const ParallelPlan& plan) {
  return plan.model.experts ? written((*plan.model.experts).*size) : Written();
}
template <auto size>
Written latent_expert_size(const ParallelPlan& plan) {
  return is_latent(plan) ? expert_size<size>(plan) : Written();
}
template <auto size>
Written latent_size(const ParallelPlan& plan) {
  return is_latent(plan) ? written(plan.model.attention.*size) : Written();
}
template <RopeScalingKind kind, auto number>
Written rope_number(const ParallelPlan& plan) {
  return plan.model.rope_scaling.kind == kind ? written_number(static_cast<double>(plan.model.rope_scaling.*number)) : Written();
}

// The older files' word and the class of the release.
void read_recomputation(const Value& v, Draft& d) {
  const std::string& text = v.text();
  const bool is_full = text == "full" || text.starts_with("FullAC"), is_none = !is_on(text);
  const bool is_selective = text == "selective" || text.starts_with("SelectiveAC");
  if (!is_full && !is_none && !is_selective) v.lost(fmt::format("{}: is taken as a choice of operators", text), "mind time and memory");
  d.plan.recompute = is_full ? Recompute::Full : is_none ? Recompute::None : Recompute::Selective;
  d.plan.recompute_scope = {.modules = d.plan.recompute == Recompute::Selective ? Modules(Module::Op) : Modules()};
}
// "op", or every how many blocks.
void read_selective_option(const Value& v, Draft& d) {
  if (v.text() == "op" || d.plan.recompute != Recompute::Selective) return;
  d.plan.recompute = Recompute::Full;
  d.plan.recompute_scope = {.every = v.degree()};
  if (v.is_default())
    v.note("is not in the file: every second block is computed again, as torchtitan had by itself for TOML", "write it, if it is another");
}
Written written_selective_option(const ParallelPlan& plan) {
  const std::int64_t every = plan.recompute == Recompute::Full ? plan.recompute_scope.every : 1;
  return every > 1 ? written(every) : written_if(plan.recomputed_modules().has(Module::Op), "op");
}
// Modules of each virtual stage, in the model's order.
std::string modules_text(const ParallelPlan& plan) {
  const std::vector<std::int64_t> blocks = blocks_of(plan);
  std::string text = "[";
  std::int64_t next = 0;
  for (std::size_t part = 0; part < blocks.size(); ++part) {
    text += part == 0 ? "[\"tok_embeddings\"" : ", [";
    for (std::int64_t block = 0; block < blocks[part]; ++block)
      text += fmt::format("{}\"layers.{}\"", text.ends_with("[") ? "" : ", ", next++);
    text += part + 1 < blocks.size() ? "]" : text.ends_with("[") ? "\"norm\", \"lm_head\"]" : ", \"norm\", \"lm_head\"]";
  }
  return text + "]";
}

// Without a balance the last ranks have most of causal attention; "ptrr" is of masks that documents make.
void read_balance(const Value& v, Draft& d) {
  constexpr std::string_view kBalances[] = {"headtail", "ptrr", "none"};
  tell_other_word(v, kBalances);
  if (text_of(d, "parallelism.context_parallel_degree", "1") == "1" || v.text() == "headtail") return;
  v.lost(v.text() + ": context ranks have other shares of attention; the plan's are equal", "mind attention's time");
}

void read_modules(const Value& value, Draft& draft) {
  int depth = 0;
  for (std::size_t at = 0; at < value.text().size(); ++at) {
    depth += value.text()[at] == '[' ? 1 : value.text()[at] == ']' ? -1 : 0;
    if (value.text()[at] == '[' && depth == 2) draft.blocks.push_back(0);
    if (!draft.blocks.empty() && value.text().compare(at, 7, "layers.") == 0) ++draft.blocks.back();
  }
  if (draft.blocks.empty()) value.wrong("names no modules", "give a list of lists of modules");
}

void read_schedule(const Value& value, Draft& draft) {
  for (const NamedSchedule& one : kNamedSchedules)
    if (one.theirs == value.text()) draft.plan.schedule = one.ours;
  if (draft.plan.schedule == "dualpipev")
    value.lost("runs forwards beside backwards there where experts are on several ranks",
               "set expert_overlap in the plan, with zero below 3");
  if (value.text().starts_with("PipelineSchedule") || value.text() == "_PipelineScheduleRuntime") return;  // the CSV says it
  if (std::none_of(std::begin(kNamedSchedules), std::end(kNamedSchedules),
                   [&](const NamedSchedule& one) { return one.theirs == value.text(); }))
    value.wrong(fmt::format("is '{}'", value.text()),
                "use GPipe, 1F1B, Interleaved1F1B, ZBVZeroBubble, DualPipeV or LoopedBFS, or give the order as CSV");
}

std::int64_t few(const Value& layers) {
  constexpr std::int64_t kMost = 1'000'000;
  return std::clamp<std::int64_t>(layers.integer(), 0, kMost);
}

// Names of what replaces layers: "float8", "quantize.linear.mx".
void read_converters(const Value& v, Draft& d) {
  const bool in_blocks = v.text().find("mx") != std::string::npos;
  if (v.text().find("float8") == std::string::npos && !in_blocks) {
    if (is_on(v.text())) v.lost(fmt::format("is {}: layers of another kind", shown(v.text())), "mind time and memory");
    return;
  }
  d.scales_products = true;
  if (in_blocks) d.scales = ScaleRecipe::Mx;
}
bool names_converter(const Draft& d, std::string_view name) { return text_of(d, "model.converters", "").find(name) != std::string::npos; }
bool converts_to_float8(const Draft& d) { return names_converter(d, "float8") || flag_of(d, "float8.enable_float8_linear", false); }
void note_unasked(const Value& v, std::string_view converter) {
  v.note(fmt::format("is without effect: model.converters does not name {}", converter), "name it there, if it is meant");
}
// unscaled_by_torchao() reads them.
void read_float8_names(const Value& v, Draft& d) {
  if (!converts_to_float8(d)) note_unasked(v, "float8");
}
void read_mx_names(const Value& v, Draft& d) {
  if (!names_converter(d, "mx")) note_unasked(v, "mx");
}
void read_mx_recipe(const Value& v, Draft& d) {
  read_mx_names(v, d);
  constexpr std::string_view kNames[] = {"mxfp8_cublas", "mxfp8_cublas_rceil", "mxfp8_emulated", "mxfp8_wgrad_with_hp", "mxfp8"};
  const std::string_view name = kNames[v.choice(kNames)];
  if (name == "mxfp8_emulated") v.lost("emulates products in 8 bit", "mind their time");
  if (name == "mxfp8_wgrad_with_hp") v.lost("leaves weight gradients in 16 bit; the plan has them in 8", "mind their time");
}
// Its section stands in TOML files that do not ask for it, too.
void read_float8_recipe(const Value& v, Draft& d) {
  if (flag_of(d, std::string(kIsOfToml), false) && !converts_to_float8(d)) return note_unasked(v, "float8");
  constexpr std::string_view kNames[] = {"tensorwise", "rowwise", "rowwise_with_gw_hp"};
  d.scales = v.choice(kNames) == 0 ? ScaleRecipe::Tensorwise : ScaleRecipe::Rowwise;
  if (v.text() == "rowwise_with_gw_hp") v.lost("leaves weight gradients in 16 bit; the plan has them in 8", "mind their time");
}

constexpr std::string_view kRopeScalings[] = {"none", "llama", "yarn"};
constexpr std::string_view kTypesOfTorchtitan[] = {"float32", "bfloat16", "float16"};

void read_components(const Value& v, Draft& d) {
  constexpr std::string_view kComponents[] = {"model", "loss"};
  std::string names = v.text();
  std::ranges::replace_if(
      names, [](char at) { return std::string_view("[],\"'").find(at) != std::string_view::npos; }, ' ');
  for (const std::string& name : words_of(names)) tell_other_word(Value({v.key(), name}, d), kComponents);
}

constexpr Field kTorchtitanFields[] = {
    {"network.n_layers", "n_layers", network_size<&ModelConfig::layers>, network_count, true},
    {"network.dim", "dim", network_size<&ModelConfig::hidden>, network_count},
    {"network.n_heads", "n_heads", network_size<&ModelConfig::heads>, network_count},
    {"network.n_kv_heads", "n_kv_heads", network_size<&ModelConfig::kv_heads>, network_count},
    {"network.head_dim", "head_dim",
     [](const ParallelPlan& p) { return written(is_latent(p) ? p.model.attention.qk_rope : p.model.head_dim); }, network_count},
    {"network.hidden_dim", "hidden_dim", network_size<&ModelConfig::ffn>, network_count},
    {"network.vocab_size", "vocab_size", network_size<&ModelConfig::vocabulary>, network_count},
    {"network.max_seq_len", "max_seq_len", network_size<&ModelConfig::max_positions>, number_said},
    {"network.theta", "theta", [](const ParallelPlan& p) { return written_number(p.model.rope_theta); }, number_said},
    {"network.eps", "norm_eps", [](const ParallelPlan& p) { return written_number(p.model.norm_epsilon); }, number_said},
    {"network.std", "std", [](const ParallelPlan& p) { return written_number(p.model.initializer_range); }, number_said},
    {"network.tied", "tied", [](const ParallelPlan& p) { return Written(truth_value(p.model.tied_embeddings)); }, flag_said},
    {"network.kind", "kind", [](const ParallelPlan& p) { return Written(std::string(torchtitan_kind(p.model).name)); }, only_said},
    {"network.moe_hidden_dim", "moe_hidden_dim", expert_size<&ExpertForm::expert_ffn>, network_count},
    {"network.num_experts", "num_experts", expert_size<&ExpertForm::experts>, network_count},
    {"network.top_k", "top_k", expert_size<&ExpertForm::topk>, network_count},
    {"network.score_func", "score_func",
     [](const ParallelPlan& p) {
       return written_if(p.model.experts.has_value(),
                         std::string(kRouterScoreNames[p.model.experts ? static_cast<std::size_t>(p.model.experts->score) : 0]));
     },
     [](const Value& v, Draft&) { v.choice(kRouterScoreNames); }},
    {"network.route_norm", "route_norm",
     [](const ParallelPlan& p) {
       return written_if(p.model.experts.has_value(), truth_value(p.model.experts && p.model.experts->renormalised));
     },
     flag_said},
    {"network.route_scale", "route_scale",
     [](const ParallelPlan& p) { return is_latent(p) && p.model.experts ? written_number(p.model.experts->scaling) : Written(); },
     [](const Value& v, Draft&) { v.number(); }},
    {"network.num_shared_experts", "num_shared_experts", latent_expert_size<&ExpertForm::shared_experts>, network_count},
    {"network.n_dense_layers", "n_dense_layers", latent_expert_size<&ExpertForm::first_dense_layers>, number_said},
    {"network.num_expert_groups", "num_expert_groups",
     [](const ParallelPlan& p) { return has_expert_groups(p) ? written(p.model.experts->groups) : Written(); }, network_count},
    {"network.num_limited_groups", "num_limited_groups",
     [](const ParallelPlan& p) { return has_expert_groups(p) ? written(p.model.experts->group_topk) : Written(); }, network_count},
    {"network.q_lora_rank", "q_lora_rank", latent_size<&AttentionForm::q_lora>, number_said},
    {"network.kv_lora_rank", "kv_lora_rank", latent_size<&AttentionForm::kv_lora>, network_count},
    {"network.qk_nope_head_dim", "qk_nope_head_dim", latent_size<&AttentionForm::qk_nope>, network_count},
    {"network.v_head_dim", "v_head_dim", latent_size<&AttentionForm::v_dim>, network_count},
    {"network.mscale", "mscale",
     [](const ParallelPlan& p) { return is_latent(p) ? written_number(p.model.rope_scaling.mscale_all_dim) : Written(); },
     [](const Value& v, Draft&) { v.number(); }},
    {"rope.scaling", "scaling",
     [](const ParallelPlan& p) {
       const RopeScalingKind kind = p.model.rope_scaling.kind;
       return written_if(kind != RopeScalingKind::None, kind == RopeScalingKind::Yarn ? "yarn" : "llama");
     },
     word_said<kRopeScalings>},
    {"rope.scaling_factor", "scaling_factor", rope_number<RopeScalingKind::Llama3, &RopeScaling::factor>, number_said},
    {"rope.low_freq_factor", "low_freq_factor", rope_number<RopeScalingKind::Llama3, &RopeScaling::low_frequency>, number_said},
    {"rope.high_freq_factor", "high_freq_factor", rope_number<RopeScalingKind::Llama3, &RopeScaling::high_frequency>, number_said},
    {"rope.original_max_position_embeddings", "original_max_position_embeddings",
     rope_number<RopeScalingKind::Llama3, &RopeScaling::original_positions>, number_said},
    {"rope.rope_factor", "rope_factor", rope_number<RopeScalingKind::Yarn, &RopeScaling::factor>, number_said},
    {"rope.beta_fast", "beta_fast", rope_number<RopeScalingKind::Yarn, &RopeScaling::beta_fast>, number_said},
    {"rope.beta_slow", "beta_slow", rope_number<RopeScalingKind::Yarn, &RopeScaling::beta_slow>, number_said},
    {"rope.original_seq_len", "original_seq_len", rope_number<RopeScalingKind::Yarn, &RopeScaling::original_positions>, number_said},
    {"rope.truncate", "truncate",
     [](const ParallelPlan& p) {
       return written_if(p.model.rope_scaling.kind == RopeScalingKind::Yarn, truth_value(p.model.rope_scaling.truncate));
     },
     flag_said},
    {"model.flavor", "flavor", nullptr, only_said, true},
    {"model.name", "module", nullptr, only_said},
    {"model.norm_type", "", nullptr,  // of older files, for all of its networks
     [](const Value& v, Draft&) {
       if (v.text().find("rmsnorm") == std::string::npos)
         v.lost(fmt::format("is {}: the plan has the norm of its network", v.text()), "give a config.json with that norm, by --model");
     }},
    {"function", "", nullptr, only_said, true},
    {"job.config_file", "", nullptr,
     [](const Value& v, Draft& d) {
       d.unknown.push_back({"job.config_file",
                            fmt::format("{} is another file, which is not read; it might change everything", shown(v.text())),
                            "import that file"});
     }},
    {"training.seq_len", "seq_len", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) { d.sequence = v.count(); }, true},
    {"training.local_batch_size", "local_batch_size training.batch_size",
     [](const ParallelPlan& p) { return written(p.microbatch_size * (has_stages(p) ? p.num_microbatches() / p.passes : 1)); },
     [](const Value& v, Draft& d) { d.local_batch = v.count(); }, true},
    {"training.gradient_accumulation_steps", "gradient_accumulation_steps training.grad_accum_steps",
     nullptr,  // of forks; torchtitan has the global batch
     [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }},
    {"training.global_batch_size", "global_batch_size", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) {
       if (v.integer() > 0) d.global_batch = v.integer();
     }},
    {"training.max_norm", "max_norm", [](const ParallelPlan& p) { return written_number(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = v.text().starts_with("-") ? 0 : v.number(); }},  // below 0: none
    {"training.mixed_precision_param", "mixed_precision_param",
     [](const ParallelPlan& p) { return Written(p.workload.precision.compute() == Precision::Bf16 ? "bfloat16" : "float32"); },
     [](const Value& v, Draft& d) {
       tell_other_word(v, kTypesOfTorchtitan);
       d.precision = v.text() == "float32" ? Precision::Fp32 : Precision::Bf16;
     }},
    {"training.dtype", "dtype", [](const ParallelPlan& p) { return written_if(keeps_all_in_bf16(p.workload.precision), "bfloat16"); },
     word_said<kTypesOfTorchtitan>},
    {"optimizer.early_step_in_backward", "early_step_in_backward", nullptr,  // of releases before 0.3
     [](const Value& v, Draft& d) { d.plan.optimizer_in_backward = v.boolean(); }},
    {"optimizer.name", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text() != "AdamW" && v.text() != "Adam")
         v.lost(fmt::format("is {}: a plan knows AdamW and SGD, and takes AdamW", v.text()), "mind its state's memory");
     }},
    {"optimizer.lr", "lr", nullptr, [](const Value& v, Draft& d) { d.plan.training.learning_rate = v.number(); }},
    {"optimizer.weight_decay", "weight_decay", nullptr, [](const Value& v, Draft& d) { d.plan.training.weight_decay = v.number(); }},
    {"optimizer.betas", "betas", nullptr, read_pair_of_betas},
    {"optimizer.beta1", "beta1", nullptr, [](const Value& v, Draft& d) { d.plan.training.beta1 = v.number(1); }},
    {"optimizer.beta2", "beta2", nullptr, [](const Value& v, Draft& d) { d.plan.training.beta2 = v.number(1); }},
    {"lr_scheduler.warmup_steps", "warmup_steps", nullptr,
     [](const Value& v, Draft& d) { d.plan.training.warmup_steps = std::max<std::int64_t>(0, v.integer()); }},
    {"model.converters", "converters", nullptr, read_converters},
    {"float8.enable_float8_linear", "float8.enable training.enable_float8_linear enable_float8_linear", nullptr,
     [](const Value& v, Draft& d) { d.scales_products = d.scales_products || v.boolean(); }},
    {"float8.recipe_name", "quantize.linear.float8.recipe_name", nullptr, read_float8_recipe},
    {"float8.enable_fsdp_float8_all_gather", "quantize.linear.float8.enable_fsdp_float8_all_gather", nullptr,
     [](const Value& v, Draft& d) { d.gathers_scaled = v.boolean(); }},
    {"float8.filter_fqns", "quantize.linear.float8.filter_fqns", nullptr, read_float8_names},
    {"float8.moe_fqns_prototype", "", nullptr, read_float8_names},
    {"float8.precompute_float8_dynamic_scale_for_fsdp", "quantize.linear.float8.precompute_float8_dynamic_scale_for_fsdp", nullptr,
     read_float8_names},
    {"mx.recipe_name", "quantize.linear.mx.recipe_name quantize.grouped_mm.mx.recipe_name", nullptr, read_mx_recipe},
    {"mx.mxfp8_dim1_cast_kernel_choice", "quantize.linear.mx.mxfp8_dim1_cast_kernel_choice", nullptr, read_mx_names},
    {"mx.filter_fqns", "quantize.linear.mx.filter_fqns", nullptr, read_mx_names},
    {"mx.moe_fqns_prototype", "", nullptr, read_mx_names},
    {"training.mixed_precision_reduce", "mixed_precision_reduce", nullptr, word_said<kTypesOfTorchtitan>},
    {"parallelism.data_parallel_replicate_degree", "data_parallel_replicate_degree",
     [](const ParallelPlan& p) { return written(p.zero_stage == 3 ? p.mesh.replicas : p.mesh.data); },
     [](const Value& v, Draft& d) { d.replicate = v.degree(); }},
    {"parallelism.data_parallel_shard_degree", "data_parallel_shard_degree training.data_parallel_degree",
     [](const ParallelPlan& p) { return written(p.zero_stage == 3 ? p.mesh.data / p.mesh.replicas : 1); },
     [](const Value& v, Draft& d) { d.shard = v.integer(); }, true},
    {"parallelism.fsdp_reshard_after_forward", "fsdp_reshard_after_forward",
     [](const ParallelPlan& p) { return Written(std::string(kReshards[p.reshard_after_forward ? 0 : 1])); },
     [](const Value& v, Draft& d) {
       const std::size_t policy = v.choice(kReshards);
       d.plan.reshard_after_forward = policy == 0 || (policy == 2 && d.plan.mesh.pipeline == 1);
     }},
    {"parallelism.tensor_parallel_degree", "tensor_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.tensor); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.degree(); }, true},
    {"parallelism.enable_sequence_parallel", "enable_sequence_parallel",
     [](const ParallelPlan& p) { return Written(truth_value(p.sequence_parallel)); },
     [](const Value& v, Draft& d) { d.sequence_parallel = v.boolean(); }},
    {"compile.enable", "training.compile", [](const ParallelPlan& p) { return written_flag(p.sends_along_products()); },
     [](const Value& v, Draft&) {
       if (v.boolean()) v.lost("has compiled kernels; the plan has those of the software profile", "mind it when you read the figures");
     }},
    {"compile.components", "", [](const ParallelPlan& p) { return written_if(p.sends_along_products(), "[\"model\", \"loss\"]"); },
     read_components},
    {"compile.enable_async_tensor_parallel",
     "parallelism.enable_async_tensor_parallel experimental.enable_async_tensor_parallel enable_async_tensor_parallel",
     [](const ParallelPlan& p) { return written_flag(p.sends_along_products()); }, flag_said},
    {"parallelism.pipeline_parallel_degree", "pipeline_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.pipeline); },
     [](const Value& v, Draft& d) { d.plan.mesh.pipeline = v.degree(); }, true},
    {"parallelism.pipeline_parallel_schedule", "pipeline_parallel_schedule",
     [](const ParallelPlan& p) {
       return of_stages(p, named_schedule(p) != nullptr ? std::string(named_schedule(p)->theirs)
                           : p.chunks > 1               ? "PipelineScheduleMulti"
                                                        : "PipelineScheduleSingle");
     },
     read_schedule},
    {"parallelism.pipeline_parallel_schedule_csv", "pipeline_parallel_schedule_csv",
     [](const ParallelPlan& p) { return written_if(goes_as_csv(p), std::string(kPipelineOrder.file)); },
     [](const Value& v, Draft& d) { d.order_file = v.text(); }},
    {"parallelism.pipeline_parallel_microbatch_size", "pipeline_parallel_microbatch_size",
     [](const ParallelPlan& p) { return of_stages(p, std::to_string(p.microbatch_size)); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }},
    {"parallelism.pipeline_parallel_microbatches", "pipeline_parallel_microbatches", nullptr, number_said},  // of releases before the size
    {"parallelism.pipeline_parallel_layers_per_stage", "pipeline_parallel_layers_per_stage", nullptr,
     [](const Value& v, Draft& d) {
       if (v.text() != "None") d.blocks_of_chunk = v.degree();
     }},
    {"parallelism.pipeline_parallel_first_stage_less_layers", "pipeline_parallel_first_stage_less_layers", nullptr,
     [](const Value& v, Draft& d) { d.less_layers.first = few(v); }},
    {"parallelism.pipeline_parallel_last_stage_less_layers", "pipeline_parallel_last_stage_less_layers", nullptr,
     [](const Value& v, Draft& d) { d.less_layers.last = few(v); }},
    {"parallelism.module_fqns_per_model_part", "module_fqns_per_model_part pipeline_parallel_module_fqns_per_model_part",
     [](const ParallelPlan& p) { return of_stages(p, modules_text(p)); }, read_modules},
    {"parallelism.context_parallel_degree", "context_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.context); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(), d.plan.context_algorithm = ContextAlgorithm::AllGather; }},
    {"parallelism.context_parallel_rotate_method", "experimental.context_parallel_rotate_method context_parallel_rotate_method", nullptr,
     [](const Value& v, Draft&) {
       constexpr std::string_view kRotations[] = {"allgather", "alltoall"};
       v.choice(kRotations);
     }},
    {"parallelism.context_parallel_load_balancer", "", nullptr, read_balance},
    {"parallelism.expert_parallel_degree", "expert_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.expert); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }},
    {"training.disable_cuda_graphs", "disable_cuda_graphs",
     [](const ParallelPlan& p) { return written_flag(has_stages(p) || p.mesh.expert > 1); }, flag_said},
    {"training.enable_cpu_offload", "enable_cpu_offload", [](const ParallelPlan& p) { return written_flag(p.offload_parameters); },
     [](const Value& v, Draft& d) { d.plan.offload_optimizer = d.plan.offload_parameters = v.boolean(); }},
    {"activation_checkpoint", "activation_checkpoint.mode", written_recomputation, read_recomputation},
    {kOptionOfToml, "selective_ac_option", written_selective_option, read_selective_option},
    {kIsOfToml, "", nullptr, only_said},
    {"debug.moe_force_load_balance", "",
     [](const ParallelPlan& p) {
       return written_flag(p.workload.expert_loads.kind == LoadKind::Even || (p.model.experts && p.model.experts->forced_balance));
     },
     [](const Value& v, Draft& d) { d.plan.workload.expert_loads = {.kind = v.boolean() ? LoadKind::Even : LoadKind::AsRecorded}; }},
    {"debug.seed", "seed", [](const ParallelPlan& p) { return written(static_cast<std::int64_t>(p.training.seed)); },
     [](const Value& v, Draft& d) {
       d.plan.training.seed = static_cast<std::uint64_t>(std::clamp<std::int64_t>(v.integer(), 0, kLargestSeed));
     }},
    {"nproc_per_node", "nproc-per-node", nullptr, number_said},  // torchrun's
    {"nnodes", "", nullptr, number_said},
};

}  // namespace

std::span<const Field> torchtitan_fields() { return kTorchtitanFields; }

const NamedSchedule* named_schedule(const ParallelPlan& plan) {
  const auto row = std::ranges::find(kNamedSchedules, plan.schedule, &NamedSchedule::ours);
  return row == std::end(kNamedSchedules) ? nullptr : &*row;
}

bool has_stages(const ParallelPlan& plan) { return plan.mesh.pipeline > 1; }

bool takes_chunks(const ParallelPlan& plan) { return named_schedule(plan) != nullptr && named_schedule(plan)->takes_chunks; }

bool goes_as_csv(const ParallelPlan& plan) { return has_stages(plan) && named_schedule(plan) == nullptr; }

Written written_recomputation(const ParallelPlan& plan) {
  if (plan.recompute == Recompute::Full) return plan.recompute_scope.every > 1 ? "SelectiveAC.Config()" : "FullAC.Config()";
  return plan.recomputed_modules().has(Module::Op) ? "SelectiveAC.Config()" : "None";
}

}  // namespace sim
