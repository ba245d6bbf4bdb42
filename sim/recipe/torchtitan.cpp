// torchtitan: a Python recipe for `--module plan --config plan`, and the pipeline's order as CSV beside it where the plan has one that PyTorch has no name for.
// Its released TOML files (before 0.3) and command line have the same names and are read, too.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "sim/model/model_words.h"
#include "sim/recipe/program.h"
#include "sim/recipe/torchtitan_registry.h"

namespace sim {
namespace {

struct NamedSchedule {
  std::string_view ours, theirs;
};
constexpr NamedSchedule kNamedSchedules[] = {
    {"1f1b", "1F1B"}, {"gpipe", "GPipe"}, {"interleaved", "Interleaved1F1B"}, {"zbv", "ZBVZeroBubble"}};
constexpr std::string_view kReshards[] = {"always", "never", "default"};

const NamedSchedule* named_schedule(const ParallelPlan& plan) {
  const auto row = std::find_if(std::begin(kNamedSchedules), std::end(kNamedSchedules),
                                [&](const NamedSchedule& one) { return one.ours == plan.schedule; });
  return row == std::end(kNamedSchedules) ? nullptr : &*row;
}
bool has_stages(const ParallelPlan& p) { return p.mesh.pipeline > 1; }
bool goes_as_csv(const ParallelPlan& p) { return has_stages(p) && named_schedule(p) == nullptr; }
Written of_stages(const ParallelPlan& p, std::string value) { return written_if(has_stages(p), std::move(value)); }
std::string truth_value(bool value) { return value ? "true" : "false"; }
void known_here(const Value&, Draft&) {}
template <auto size>
Written network_size(const ParallelPlan& plan) {
  return written(plan.model.*size);
}
void network_count(const Value& v, Draft&) { v.count(); }  // torchtitan_network() takes it

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
}
Written written_recomputation(const ParallelPlan& plan) {
  if (plan.recompute == Recompute::Full) return "FullAC.Config()";
  return plan.recomputed_modules().has(Module::Op) ? "SelectiveAC.Config()" : "None";
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
  if (value.text().starts_with("PipelineSchedule") || value.text() == "_PipelineScheduleRuntime") return;  // the CSV says it
  if (std::none_of(std::begin(kNamedSchedules), std::end(kNamedSchedules),
                   [&](const NamedSchedule& one) { return one.theirs == value.text(); }))
    value.wrong(fmt::format("is '{}'", value.text()), "use GPipe, 1F1B, Interleaved1F1B or ZBVZeroBubble, or give the order as CSV");
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
void read_float8_recipe(const Value& v, Draft& d) {
  constexpr std::string_view kNames[] = {"tensorwise", "rowwise", "rowwise_with_gw_hp"};
  d.scales = v.choice(kNames) == 0 ? ScaleRecipe::Tensorwise : ScaleRecipe::Rowwise;
  if (v.text() == "rowwise_with_gw_hp") v.lost("leaves weight gradients in 16 bit; the plan has them in 8", "mind their time");
}

constexpr Field kTorchtitanFields[] = {
    {"network.n_layers", "n_layers", network_size<&ModelConfig::layers>, network_count, true},
    {"network.dim", "dim", network_size<&ModelConfig::hidden>, network_count},
    {"network.n_heads", "n_heads", network_size<&ModelConfig::heads>, network_count},
    {"network.n_kv_heads", "n_kv_heads", network_size<&ModelConfig::kv_heads>, network_count},
    {"network.head_dim", "head_dim", network_size<&ModelConfig::head_dim>, network_count},
    {"network.hidden_dim", "hidden_dim", network_size<&ModelConfig::ffn>, network_count},
    {"network.vocab_size", "vocab_size", network_size<&ModelConfig::vocabulary>, network_count},
    {"network.max_seq_len", "max_seq_len", network_size<&ModelConfig::max_positions>, known_here},
    {"network.theta", "theta", [](const ParallelPlan& p) { return written_number(p.model.rope_theta); }, known_here},
    {"network.eps", "norm_eps", [](const ParallelPlan& p) { return written_number(p.model.norm_epsilon); }, known_here},
    {"model.flavor", "flavor", nullptr, known_here, true},
    {"model.name", "module", nullptr, known_here},
    {"function", "", nullptr, known_here, true},
    {"job.config_file", "", nullptr,
     [](const Value& v, Draft& d) {
       d.unknown.push_back({"job.config_file",
                            fmt::format("{} is another file, which is not read; it might change everything", shown(v.text())),
                            "import that file"});
     }},
    {"training.seq_len", "seq_len", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) { d.sequence = v.count(); }, true},
    {"training.local_batch_size", "local_batch_size training.batch_size",
     [](const ParallelPlan& p) { return written(p.microbatch_size * (has_stages(p) ? p.num_microbatches() : 1)); },
     [](const Value& v, Draft& d) { d.local_batch = v.count(); }, true},
    {"training.global_batch_size", "global_batch_size", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) {
       if (v.integer() > 0) d.global_batch = v.integer();
     }},
    {"training.max_norm", "max_norm", [](const ParallelPlan& p) { return written_number(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = v.number(); }},
    {"training.mixed_precision_param", "mixed_precision_param",
     [](const ParallelPlan& p) { return Written(p.workload.precision.compute() == Precision::Bf16 ? "bfloat16" : "float32"); },
     [](const Value& v, Draft& d) { d.precision = v.text() == "float32" ? Precision::Fp32 : Precision::Bf16; }},
    {"training.dtype", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text() == "bfloat16") v.lost("bfloat16: weights and states in 16 bit, without fp32 copies; the plan has them", "mind memory");
     }},
    {"optimizer.name", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text() != "AdamW" && v.text() != "Adam")
         v.lost(fmt::format("is {}: a plan knows AdamW and SGD, and takes AdamW", v.text()), "mind its state's memory");
     }},
    {"optimizer.lr", "lr", nullptr, [](const Value& v, Draft& d) { d.plan.training.learning_rate = v.number(); }},
    {"optimizer.weight_decay", "weight_decay", nullptr, [](const Value& v, Draft& d) { d.plan.training.weight_decay = v.number(); }},
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
    {"training.mixed_precision_reduce", "mixed_precision_reduce", nullptr, known_here},
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
    {"parallelism.expert_parallel_degree", "expert_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.expert); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }},
    {"training.disable_cuda_graphs", "disable_cuda_graphs",
     [](const ParallelPlan& p) { return written_flag(has_stages(p) || p.mesh.expert > 1); }, known_here},
    {"training.enable_cpu_offload", "enable_cpu_offload", [](const ParallelPlan& p) { return written_flag(p.offload_parameters); },
     [](const Value& v, Draft& d) { d.plan.offload_optimizer = d.plan.offload_parameters = v.boolean(); }},
    {"activation_checkpoint", "activation_checkpoint.mode", written_recomputation, read_recomputation},
    {"activation_checkpoint.selective_ac_option", "selective_ac_option", nullptr, read_selective_option},
    {"debug.seed", "seed", [](const ParallelPlan& p) { return written(static_cast<std::int64_t>(p.training.seed)); },
     [](const Value& v, Draft& d) {
       d.plan.training.seed = static_cast<std::uint64_t>(std::clamp<std::int64_t>(v.integer(), 0, kLargestSeed));
     }},
};

void refuse_meshes(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  judgement.refuse((plan.zero_stage == 1 || plan.zero_stage == 2) && mesh.copies() > 1, "/zero_stage",
                   fmt::format("stage {}: torchtitan keeps everything whole, or shards parameters, too", plan.zero_stage),
                   "plan with --fix zero=3 or zero=0");
  judgement.refuse(plan.zero_stage == 0 && mesh.context > 1, "/zero_stage",
                   fmt::format("context ranks ({}) share parameters there", mesh.context), "plan with --fix zero=3");
  judgement.refuse(mesh.replicas > 1 && (plan.zero_stage != 3 || mesh.data % mesh.replicas != 0), "/mesh/replicas",
                   fmt::format("{} replicas of stage {} over {} data ranks", mesh.replicas, plan.zero_stage, mesh.data),
                   "plan with --fix zero=3 and replicas that divide the data degree");
  judgement.refuse(
      mesh.context > 1 && plan.context_algorithm != ContextAlgorithm::AllGather, "/context_algorithm",
      fmt::format("{}: torchtitan gathers keys and values", kContextAlgorithmNames[static_cast<std::size_t>(plan.context_algorithm)]),
      "plan with --fix context_algorithm=all_gather");
  const std::int64_t dense = std::int64_t{plan.zero_stage == 3 ? mesh.data / std::max(1, mesh.replicas) : 1} * mesh.context * mesh.tensor;
  judgement.refuse(dense % mesh.expert != 0, "/mesh/expert",
                   fmt::format("dp_shard x cp x tp = {} is not efsdp x ep for ep {}", dense, mesh.expert),
                   "plan with --fix zero=3, and an expert degree that divides it");
  judgement.refuse(mesh.expert > 1 && mesh.expert_cut() != 1, "/mesh/expert_tensor",
                   fmt::format("expert {} with {} ranks that share each: experts are whole there", mesh.expert, mesh.expert_cut()),
                   "plan with --fix expert_tensor=1");
}

// The recipe builds Llama 3 blocks of any size; other networks have other builders.
void refuse_other_networks(const ModelConfig& model, Judgement& judgement) {
  const bool is_llama = model.norm == Norm::RmsNorm && model.position == Position::Rotary && model.gated_mlp &&
                        model.activation == Activation::Silu && !model.attention_bias && !model.projection_bias && !model.mlp_bias &&
                        model.attention.kind == AttentionKind::Full;
  judgement.refuse(!is_llama || model.experts, "/model",
                   fmt::format("{}: the recipe builds dense networks of Llama's kind, without biases", model.model_type),
                   "export to Megatron-LM, DeepSpeed or Accelerate");
  for (const ModelWord& word : model_words())
    judgement.refuse(word.stands_in(model), "/model", fmt::format("has {}, which is not written", word.what), "export to another program");
  judgement.refuse(model.tied_embeddings, "/model/tie_word_embeddings", "embedding and head are apart in the recipe",
                   "export to another program");
  judgement.refuse(model.rope_scaling.kind != RopeScalingKind::None, "/model/rope_scaling", "positions are not stretched in the recipe",
                   "export to another program");
  judgement.refuse(model.hidden / std::max<std::int64_t>(1, model.heads) != model.head_dim ||
                       model.heads % std::max<std::int64_t>(1, model.kv_heads) != 0,
                   "/model/head_dim", "heads share the hidden size there", "export to another program");
  judgement.note(model.attention_dropout > 0 || model.residual_dropout > 0, "/model/attention_dropout", "there is no dropout there",
                 "nothing to do");
}

void judge_torchtitan(const ParallelPlan& plan, Judgement& judgement) {
  const Precision precision = plan.workload.precision.compute();
  refuse_meshes(plan, judgement);
  judgement.refuse(goes_as_csv(plan) && plan.placement() == ChunkPlacement::V, "/schedule",
                   fmt::format("{} places chunks like a V, which torchtitan does for ZBVZeroBubble alone", plan.schedule),
                   "plan with --fix schedule=zbv or interleaved");
  judgement.refuse(precision != Precision::Bf16 && precision != Precision::Fp32, "/workload/precision",
                   fmt::format("there is no setting for {}", kPrecisionNames[static_cast<std::size_t>(precision)]),
                   "plan with --precision bf16 or fp32");
  judgement.refuse(plan.microbatch_group > 0, "/microbatch_group", "groups of microbatches have the sizes there that PyTorch gives them",
                   "leave it out of the plan, or export to Megatron-LM");
  judgement.refuse(plan.offload_optimizer && !plan.offload_parameters, "/offload_optimizer",
                   "torchtitan offloads parameters with the optimizer, or nothing",
                   "plan with --fix offload_optimizer=false, or export to DeepSpeed");
  note_units(plan, judgement);
  note_reshard(plan, judgement);
  judgement.note(goes_as_csv(plan), "/schedule",
                 fmt::format("{} has no name there: its order stands in {}", plan.schedule, kPipelineOrder.file),
                 "keep the file beside the recipe");
  judgement.note(goes_as_csv(plan), "/order", "stands in the plan when it comes back", "nothing to do");
  judgement.note(plan.schedule == "zbv" || plan.schedule == "interleaved", "/schedule",
                 fmt::format("{} is performed in PyTorch's own order", plan.schedule), "export to csv for this plan's");
  refuse_other_networks(plan.model, judgement);
  judgement.note(true, "", "rates and data are those of llama3_8b", "set them in the recipe");
  judgement.note(precision == Precision::Bf16 && !reduces_in_fp32(plan), "/workload/precision", "gradients are reduced in fp32 there",
                 "plan with --fp32-gradients");
  const Modules modules = plan.recomputed_modules();
  judgement.note(plan.recompute == Recompute::Selective && modules.none(), "/recompute", "selective is another choice of operators there",
                 "a fused attention kernel needs none; otherwise use recompute=full");
  judgement.refuse(plan.recompute_scope != RecomputeScope{.modules = modules} || !(modules.none() || modules == Modules(Module::Op)),
                   "/recompute_scope", fmt::format("\"{}\" has no setting there", to_text(plan.recompute_scope)),
                   "recompute all blocks, or modules op");
  judgement.note(plan.vocabulary_multiple != 128, "/vocabulary_multiple", "the vocabulary is the model's",
                 fmt::format("pad it to a multiple of {}", plan.vocabulary_multiple));
  judgement.note(plan.zero_stage == 3 && plan.mesh.copies() == 1, "/zero_stage", "one rank has nothing to share", "nothing to do");
  judgement.note(plan.zero_stage != 0 && plan.zero_stage != 3 && plan.mesh.copies() == 1, "/zero_stage", "one rank has nothing to share",
                 "nothing to do");
  judgement.note(plan.zero_stage != 3, "/bucket_size", "gradients are reduced in buckets of 100 MiB", "nothing to do");
  judgement.note(!plan.prefetch, "/prefetch", "FSDP 2 gathers ahead", "nothing to do");
  const bool each = plan.zero_stage == 3 && !has_stages(plan);
  judgement.note(plan.num_microbatches() > 1 && each != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
                 each ? "gradients are reduced with every microbatch there" : "gradients are reduced with the last microbatch there",
                 "simulate the plan imported again");
  judgement.note(plan.workload.optimizer != OptimizerKind::AdamW, "/workload/optimizer", "the recipe has AdamW", "change its optimizer");
  judgement.note(true, "/training", "rates, number of steps and checkpoints are of the recipe it starts from", "set them there");
}

std::string python_value(const std::string& value) {
  if (value == "true" || value == "false") return value == "true" ? "True" : "False";
  return is_literal(value) || value == "None" || value.ends_with(")") ? value : "\"" + value + "\"";
}

constexpr std::string_view kNetworkOfRecipe = R"(

def network(sizes):
    norm = RMSNorm.Config(normalized_shape=sizes["dim"], eps=sizes["eps"], param_init={"weight": nn.init.ones_})
    weights = {"weight": partial(nn.init.trunc_normal_, std=0.02), "bias": nn.init.zeros_}
    rope = ComplexRoPE.Config(dim=sizes["head_dim"], max_seq_len=sizes["max_seq_len"], theta=sizes["theta"])
    attention = get_attention_config("flex")
    layers = []
    for _ in range(sizes["n_layers"]):
        layers.append(Llama3TransformerBlock.Config(
            attention_norm=norm, ffn_norm=norm,
            attention=make_gqa_config(dim=sizes["dim"], n_heads=sizes["n_heads"], n_kv_heads=sizes["n_kv_heads"], wqkv_param_init=weights,
                                      wo_param_init=weights, inner_attention=attention, fuse_qkv=True, rope=rope),
            feed_forward=make_ffn_config(dim=sizes["dim"], hidden_dim=sizes["hidden_dim"], w1_param_init=weights, w2w3_param_init=weights)))
    embedding = Embedding.Config(num_embeddings=sizes["vocab_size"], embedding_dim=sizes["dim"], param_init=weights)
    head = Linear.Config(in_features=sizes["dim"], out_features=sizes["vocab_size"], param_init=weights)
    return Llama3Model.Config(dim=sizes["dim"], vocab_size=sizes["vocab_size"], tok_embeddings=embedding, norm=norm, lm_head=head, layers=layers)


def plan() -> Trainer.Config:
    config = llama3_8b()
    config.model_spec = replace(config.model_spec, flavor="plan", model=network(SIZES))
    config.loss.loss_fn.global_vocab_size = SIZES["vocab_size"]
)";

std::vector<RecipeFile> torchtitan_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  std::string text =
      comment_lines(head) + fmt::format("#\n#   torchrun --nnodes {} --nproc-per-node {} -m torchtitan.train --module plan --config plan\n",
                                        plan.cluster.hosts(), plan.cluster.devices_per_host());
  text += "from dataclasses import replace\nfrom functools import partial\n\nimport torch.nn as nn\n";
  if (const std::string policy = *written_recomputation(plan); policy != "None")
    text += fmt::format("from torchtitan.distributed.activation_checkpoint import {}\n", policy.substr(0, policy.find('.')));
  text +=
      "from torchtitan.models.common import ComplexRoPE, Embedding, Linear, RMSNorm\n"
      "from torchtitan.models.common.config_utils import get_attention_config, make_ffn_config, make_gqa_config\n"
      "from torchtitan.models.llama3.config_registry import llama3_8b\n"
      "from torchtitan.models.llama3.model import Llama3Model, Llama3TransformerBlock\nfrom torchtitan.trainer import Trainer\n\nSIZES = "
      "dict(";
  for (const RecipeSetting& setting : settings)
    if (setting.key.starts_with("network."))
      text += fmt::format("{}{}={}", text.ends_with("(") ? "" : ", ", leaf_of(setting.key), setting.value);
  text += ")\n" + std::string(kNetworkOfRecipe);
  for (const RecipeSetting& setting : settings)
    if (!setting.key.starts_with("network.")) text += fmt::format("    config.{} = {}\n", setting.key, python_value(setting.value));
  std::vector<RecipeFile> files = {{std::string(kTorchtitan.file), text + "    return config\n"}};
  if (goes_as_csv(plan)) files.push_back({std::string(kPipelineOrder.file), order_csv(plan)});
  return files;
}

// `from torchtitan.models.llama3.config_registry import llama3_70b`: the function that a recipe starts from. Our own starts from none: it has sizes.
void add_function(const std::string& text, RecipeSettings& settings) {
  const std::string_view mark = ".config_registry import ";
  const std::size_t at = text.find(mark), module = text.rfind("models.", at);
  if (at == std::string::npos || module == std::string::npos || text.find("SIZES = dict(") != std::string::npos) return;
  const std::size_t begin = at + mark.size();
  std::size_t end = begin;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
  settings.insert(settings.begin(),
                  {{"model.name", text.substr(module + 7, at - module - 7)}, {"function", text.substr(begin, end - begin)}});
}

// Of our own recipe: what builds the network from its sizes says nothing more.
std::string without_builder(const std::string& text) {
  const std::size_t begin = text.find("def network(sizes):"), end = text.find("def plan()");
  return begin == std::string::npos || end == std::string::npos || end < begin ? text : text.substr(0, begin) + text.substr(end);
}

RecipeReading torchtitan_settings(const RecipeSource& source) {
  const bool is_python = source.text.find("def ") != std::string::npos || source.text.find("import ") != std::string::npos;
  const bool is_command =
      !is_python && (source.text.find("--parallelism.") != std::string::npos || source.text.find("--training.") != std::string::npos ||
                     source.text.find("--module") != std::string::npos);
  RecipeReading reading = is_command ? read_shell(source.text, source.path, source.given)
                                     : RecipeReading{read_assignments(without_builder(source.text), source.path), {}, {}};
  RecipeSettings& settings = reading.settings;
  if (is_python) add_function(source.text, settings);
  for (RecipeSetting& setting : settings) {
    std::string& key = setting.key;
    if (key.starts_with("config.")) key.erase(0, 7);
    if (is_command && key == "config") key = "function";
    if (!is_known_to(source.program, key) && is_known_to(source.program, leaf_of(key))) key = leaf_of(key);
  }
  std::stable_partition(settings.begin(), settings.end(),
                        [](const RecipeSetting& one) { return leaf_of(one.key) == "pipeline_parallel_degree"; });
  return reading;
}

// What the registry's function sets, where the file does not. Older files set all of theirs themselves.
void settle_function(Draft& draft) {
  if (const TorchtitanFunction* const function = function_of(draft)) {
    ParallelPlan& plan = draft.plan;
    if (!draft.local_batch) draft.local_batch = function->local_batch;
    if (!draft.sequence) draft.sequence = function->sequence;
    if (!draft.said.contains("optimizer.lr")) plan.training.learning_rate = function->learning_rate;
    if (!draft.said.contains("parallelism.tensor_parallel_degree")) plan.mesh.tensor = function->tensor;
    if (!draft.said.contains("parallelism.pipeline_parallel_schedule")) plan.schedule = function->schedule;
    if (function->scales && !draft.scales_products) draft.scales_products = true, draft.scales = function->scales;
    if (!function->lost.empty()) draft.lost.push_back({std::string(function->name), std::string(function->lost), "mind time and memory"});
    if (!draft.said.contains("activation_checkpoint") && function->is_full) return static_cast<void>(plan.recompute = Recompute::Full);
  }
  if (!draft.sequence) draft.sequence = 2048;
  if (draft.said.contains("activation_checkpoint")) return;
  draft.plan.recompute = Recompute::Selective;
  draft.plan.recompute_scope.modules = Module::Op;
}

// Layers and a weight for each end are dealt out evenly, the first parts get one more (distributed/pipeline_parallel.py, release 0.3.0):
// 32 layers in 4 parts are 8, 9, 8 and 7.
void settle_parts(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t stages = plan.mesh.pipeline, first = draft.less_layers.first, last = draft.less_layers.last;
  const bool looped = plan.schedule == "interleaved" || plan.schedule == "zbv";
  const std::int64_t all = plan.model.layers + first + last, each = draft.blocks_of_chunk.value_or(0);
  const bool is_named = !draft.blocks.empty();
  const std::int64_t asked = is_named ? std::ssize(draft.blocks) : each > 0 ? (all + each - 1) / each : stages * (looped ? 2 : 1);
  plan.chunks = static_cast<std::int32_t>(std::clamp<std::int64_t>(asked / stages, 1, 10'000));
  const std::int64_t parts = stages * plan.chunks;
  if (is_named || parts > all) return;
  for (std::int64_t part = 0; part < parts; ++part)
    draft.blocks.push_back(all / parts + (part < all % parts ? 1 : 0) - (part == 0 ? first : 0) - (part == parts - 1 ? last : 0));
}

void settle_torchtitan(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  settle_function(draft);
  const std::int64_t stages = plan.mesh.pipeline;
  plan.workload.precision = mixed_precision(products_of(draft, draft.precision.value_or(Precision::Bf16), ScaleRecipe::Tensorwise), true);
  plan.sequence_parallel = draft.sequence_parallel.value_or(true) && plan.mesh.tensor > 1;
  if (!draft.shard) draft.shard = -1;
  if (stages == 1) {
    draft.blocks.clear(), draft.order_file.clear(), plan.schedule = "1f1b";
    draft.microbatch = draft.local_batch.value_or(8);  // torchtitan's default
    if (!draft.global_batch) draft.accumulation_steps = 1;
  } else {
    const std::int64_t micro = std::max<std::int64_t>(1, draft.microbatch.value_or(1));
    draft.microbatch = micro;
    if (!draft.global_batch) draft.accumulation_steps = draft.local_batch.value_or(8) / micro;
    settle_parts(draft);
  }
  draft.reduces_each = stages == 1 && draft.shard != 1;
  if (draft.shard == 1) plan.bucket_size = Bytes(100 << 20);
}

// FSDP 2 reduces in fp32 (mixed_precision_reduce, which accepts nothing else) and gathers ahead; whole weights are replicated with bucket_cap_mb=100.
void torchtitan_habits(ParallelPlan& plan) {
  plan.workload.precision = mixed_precision(plan.workload.precision, true);
  plan.bucket_size = plan.zero_stage == 3 ? Bytes(25 << 20) : Bytes(100 << 20);
  plan.prefetch = true;
  plan.vocabulary_multiple = 128;
}

}  // namespace

const Program kTorchtitan = {.name = "torchtitan",
                             .title = "torchtitan",
                             .version = "0.3.0",
                             .file = "plan.py",
                             .marks =
                                 "data_parallel_shard_degree data_parallel_degree data_parallel_replicate_degree tensor_parallel_degree "
                                 "pipeline_parallel_degree context_parallel_degree torchtitan",
                             .fields = kTorchtitanFields,
                             .judge = judge_torchtitan,
                             .files = torchtitan_files,
                             .settings = torchtitan_settings,
                             .settle = settle_torchtitan,
                             .lost = torchtitan_lost(),
                             .without_effect = kTorchtitanWithoutEffect,
                             .training = {.learning_rate = 8e-4, .warmup_steps = 200},
                             .network = torchtitan_network,
                             .software = "torchtitan-2025",
                             .habits = torchtitan_habits};

}  // namespace sim
