// The Trainer of Transformers and what is built on it: arguments of a command line behind torchrun, deepspeed or accelerate launch, YAML of TRL and
// LLaMA-Factory, and of Axolotl, whose names differ. Only read: its layout is a file of DeepSpeed or Accelerate, which both are written for.
// Facts: transformers/training_args.py, integrations/deepspeed.py, accelerate/accelerator.py, llamafactory/hparams, axolotl/utils/schemas.
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accelerate_line.h"
#include "sim/recipe/accounting.h"
#include "sim/recipe/attention_words.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/fsdp_words.h"
#include "sim/recipe/oumi.h"
#include "sim/recipe/program.h"
#include "sim/recipe/said_values.h"
#include "sim/recipe/shell_script.h"
#include "sim/recipe/trainer.h"

namespace sim {
namespace {

void read_trained_optimizer(const Value& v, Draft& d) {
  struct Named {
    std::string_view names;
    OptimizerKind kind;
    bool in_backward = false;  // LOMO's own backward steps each weight (Lv et al. 2023)
  };
  constexpr Named kNamed[] = {
      {"adamw adamw_torch adamw_torch_fused adamw_hf adamw_apex_fused paged_adamw paged_adamw_32bit adamw_anyprecision",
       OptimizerKind::AdamW},
      {"adamw_8bit adamw_bnb_8bit paged_adamw_8bit adamw_torch_8bit", OptimizerKind::AdamW8bit},
      {"adafactor", OptimizerKind::Adafactor},
      {"sgd", OptimizerKind::Sgd},
      {"rmsprop", OptimizerKind::RmsProp},
      {"muon", OptimizerKind::Muon},
      {"lomo", OptimizerKind::Sgd, true},
      {"adalomo", OptimizerKind::Adafactor, true}};
  for (const Named& named : kNamed)
    if (has_name(named.names, v.text())) {
      d.plan.workload.optimizer = named.kind;
      d.plan.optimizer_in_backward = named.in_backward;
      if (v.text() == "lomo") d.plan.cluster.software.plain_optimizer = true, d.plan.training.momentum = 0;
      if (!has_name("adamw adamw_torch", v.text())) d.plan.cluster.software.steps_by_lists = false;  // tensor by tensor, or fused
      d.plan.paged_optimizer = v.text().starts_with("paged");
      return;
    }
  v.lost(fmt::format("is {}, which no plan has: AdamW is taken", v.text()), "mind its state's memory and its time");
}

// The Trainer's own name for it up to Transformers 4, which goes before optim.
void read_adafactor(const Value& v, Draft& d) {
  if (v.boolean()) read_trained_optimizer(Value({"optim", "adafactor"}, d), d);
}

void read_method(const Value& v, Draft&) {
  if (!is_on(v.text()) || has_name("sft pt pretrain", v.text())) return;
  if (v.text().starts_with("stage"))  // of a script of its own: "stage2"
    v.unknown("is of the script's own stages; it might change what is trained", "see what it does");
  else
    v.wrong(fmt::format("is {}: a step with other passes than one forward and one backward", v.text()),
            "give the recipe of a fine-tuning (sft) or of a pretraining (pt)");
}

constexpr std::string_view kTasksOfPairs = "embedding reranker generative_reranker prm";

// ms-swift's: texts in pairs or lists; of classes, one head less.
void refuse_other_tasks(const Value& v, Draft&) {
  constexpr std::string_view kTaskTypes[] = {"causal_lm", "CAUSAL_LM", "seq_cls", "embedding", "reranker", "generative_reranker", "prm"};
  tell_other_word(v, kTaskTypes);
  if (has_name(kTasksOfPairs, v.text()))
    v.wrong(fmt::format("is {}: a step whose samples are pairs or lists of texts", v.text()), "give the recipe of a fine-tuning");
  else if (has_name("seq_cls", v.text()))
    v.lost(v.text() + ": a head of classes; the plan's has all tokens", "mind the head's time and memory");
}

void read_longest(const Value& v, Draft& d) { d.sequence = v.count(); }

void read_quantization(const Value& v, Draft&) {
  if (!has_name("bnb bitsandbytes BNB BITS_AND_BYTES", v.text()))
    v.lost(v.text() + ": weights of fewer bits in a form of its own; the plan has those of bitsandbytes", "mind time and memory");
}

void refuse_where_on(const Value& v, Draft&) {
  if (is_on(v.text())) v.wrong("is of a step with other passes than one forward and one backward", "give the recipe of a fine-tuning");
}

// Of DeepSpeed-Chat's second and third step, whose first value is 0.
void refuse_pairs(const Value& v, Draft&) {
  if (is_on(v.text()) || v.text() == "0") v.wrong("is of a step with another network, or of pairs", "give the recipe of a fine-tuning");
}

void refuse_xla(const Value& v, Draft&) {
  if (v.boolean()) v.wrong("is of XLA on another machine", "give a recipe for GPUs");
}

void read_checkpointing(const Value& v, Draft& d) {
  if (v.text() == "offload_disk")
    v.lost("keeps the inputs of blocks on a drive; the plan keeps them on the device", "use offload, where the host has room");
  if (v.text() == "offload") d.plan.offload_activations = true;
  d.plan.recompute = v.text().starts_with("offload") || v.text() == "unsloth" || v.boolean() ? Recompute::Full : Recompute::None;
}

// TRL's, and Axolotl's: what autograd saves goes to the host, of blocks that are computed again their inputs (trl/models/activation_offloading.py).
void settle_saved_on_host(Draft& draft) {
  const std::string how = text_of(draft, "activation_offloading", "false");
  ParallelPlan& plan = draft.plan;
  if (!is_on(how)) return;
  const bool on_drive = how == "disk", is_remade = plan.recompute == Recompute::Full;
  plan.offload_activations = !on_drive && (plan.offload_activations || is_remade);
  if (on_drive)
    draft.lost.push_back({"activation_offloading", "keeps what blocks save on a drive; the plan keeps it on the device",
                          "use true, where the host has room"});
  else if (!is_remade)
    draft.lost.push_back({"activation_offloading", "sends all that blocks save to the host; the plan keeps it on the device",
                          "use gradient_checkpointing, or say offload_modules in the plan"});
}

// DeepSpeed-Chat's flag; PKU's safe-rlhf and what is built on it say which: none, parameter, optimizer, all.
void read_what_is_offloaded(const Value& v, Draft& d) {
  constexpr std::string_view kWhich[] = {"none", "parameter", "optimizer", "all"};
  if (std::ranges::find(kWhich, v.text()) == std::end(kWhich)) return flag_said(v, d);
  d.plan.offload_optimizer = v.text() == "optimizer" || v.text() == "all";
  d.plan.offload_parameters = v.text() == "parameter" || v.text() == "all";
  d.said.erase("offload");  // no flag
  v.unknown("is of safe-rlhf's, whose settings of DeepSpeed stand in its package: buckets and what stays whole may be others", "see them");
}

// Plugins of Axolotl: Liger's and the head's kernels have settings of their own, which are told.
void read_plugins(const Value& v, Draft&) {
  std::string names = v.text();
  std::ranges::replace_if(
      names, [](char c) { return std::string_view("[],'\"").find(c) != std::string_view::npos; }, ' ');
  for (const std::string& name : words_of(names))
    if (name.find("integrations.liger") == std::string::npos && name.find("cut_cross_entropy") == std::string::npos)
      v.lost(name + ": a plugin, which may change the step, the network or its kernels; the plan has none of it", "see what it does");
}

// Of one process over several devices, a part of the network on each.
void read_device_map(const Value& v, Draft&) {
  constexpr std::string_view kMaps[] = {"auto", "balanced", "balanced_low_0", "sequential"};
  const bool is_a_device = v.text().find_first_of("0123456789:{") != std::string::npos;
  if (!is_a_device) tell_other_word(v, kMaps);
  if (has_name("balanced balanced_low_0 sequential", v.text()))
    v.lost(v.text() + ": one process deals blocks out over its devices, and they work one after another; the plan's ranks each have all",
           "leave it out, and start a process for each device");
}

// ms-swift's and others' are Ulysses'; 360-LLaMA-Factory has a ring, too.
void read_ranks_of_sequence(const Value& v, Draft& d) {
  d.plan.mesh.context = v.degree();
  const bool is_ring = text_of(d, "sequence_parallel_mode", "").find("ring") != std::string::npos;
  d.plan.context_algorithm = is_ring ? ContextAlgorithm::Ring : ContextAlgorithm::AllToAll;
}

void read_second_layout(const Value& v, Draft& d) {
  constexpr std::string_view kNames[] = {"fsdp2", "deepspeed"};
  if (v.choice(kNames) == 0) d.said["fsdp"] = "full_shard auto_wrap";
}

// Which of its kernels a model gets: all of these of the families that it knows (liger_kernel/transformers/monkey_patch.py).
void read_liger(const Value& v, Draft& d) {
  if (!v.boolean()) return;
  SoftwareStack& stack = d.plan.cluster.software;
  stack.unfused_rms_norm = false;
  stack.fused_norm = stack.fused_rotary = stack.fused_activation = stack.fused_loss = stack.loss_in_pieces = true;
}

Written written_degree(std::int32_t degree) { return written_if(degree > 1, std::to_string(degree)); }

constexpr std::string_view kBackendsOfTrainer[] = {"auto", "torchao", "ao", "te", "msamp", "AO", "TE", "MSAMP"};
constexpr std::string_view kSequenceModes[] = {"ulysses", "deepspeed-ulysses", "zigzag-ring", "ring"};

constexpr Field kTrainerFields[] = {
    {"per_device_train_batch_size", "micro_batch_size per_gpu_train_batch_size",
     [](const ParallelPlan& p) { return written(p.microbatch_size); }, [](const Value& v, Draft& d) { d.microbatch = v.count(); }, true},
    {"gradient_accumulation_steps", "", [](const ParallelPlan& p) { return written(p.num_microbatches()); },
     [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }, true},
    {"max_length", "model_max_length max_seq_length max_seq_len seq_length seq_len max_len block_size", nullptr, read_longest, true},
    {"sequence_len", "", nullptr, read_longest, true},  // Axolotl
    {"cutoff_len", "", nullptr, read_longest, true},    // LLaMA-Factory
    {"packing", "sample_packing neat_packing", nullptr, flag_said},
    {"model_name_or_path", "base_model model model_id_or_path", nullptr, only_said},
    {"stage", "rl rlhf_type", nullptr, read_method},
    {"num_generations", "reward_funcs ref_model ref_model_name_or_path reward_model process_reward_model", nullptr, refuse_where_on},
    {"num_padding_at_beginning", "distill_method teacher_model teacher_model_name_or_path", nullptr, refuse_pairs},
    {"fsdp.xla", "fsdp.xla_fsdp_v2", nullptr, refuse_xla},
    {"bf16", "bfloat16", nullptr, read_type_switch},
    {"fp16", "float16", nullptr, read_type_switch},
    {"tf32", "", nullptr, flag_said},
    {"fp8", "", nullptr, [](const Value& v, Draft& d) { d.scales_products = v.boolean(); }},
    {"fp8_backend", "", nullptr, word_said<kBackendsOfTrainer>},
    {"fp8_enable_fsdp_float8_all_gather", "", nullptr, [](const Value& v, Draft& d) { d.gathers_scaled = v.boolean(); }},
    {"pure_bf16", "", nullptr, flag_said},
    {"torch_dtype", "dtype model_dtype", nullptr, read_loaded_type},
    {"mixed_precision", "", nullptr, read_launched_type},
    {"optim", "optimizer", nullptr, read_trained_optimizer},
    {"adafactor", "", nullptr, read_adafactor},
    {"use_muon", "", nullptr,
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.plan.workload.optimizer = OptimizerKind::Muon;
     }},
    {"learning_rate", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.learning_rate = v.number(); }},
    {"weight_decay", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.weight_decay = v.number(); }},
    {"adam_beta1", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.beta1 = v.number(1); }},
    {"adam_beta2", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.beta2 = v.number(1); }},
    {"adam_epsilon", "adam_eps", nullptr, [](const Value& v, Draft& d) { d.plan.training.epsilon = v.number(); }},
    {"max_grad_norm", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.gradient_clip = v.number(); }},
    {"seed", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.seed = static_cast<std::uint64_t>(v.number(1e15)); }},
    {"plugins", "", nullptr, read_plugins},
    {"gradient_checkpointing", "activation_checkpointing use_gradient_checkpointing",
     [](const ParallelPlan& p) { return written_flag(p.recompute != Recompute::None); }, read_checkpointing},
    {"disable_gradient_checkpointing", "", nullptr, flag_said},
    {"activation_offloading", "", nullptr, only_said},
    {"enable_activation_checkpointing", "", nullptr, flag_said},  // LLaMA-Factory's second trainer, whose layout stands in dist_config
    {"global_batch_size", "", nullptr,
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.global_batch = v.count();
     }},
    {"dist_config.name", "", nullptr, read_second_layout},
    {"dist_config.config_file", "", nullptr, only_said},
    {"dist_config.cp_size", "", nullptr, [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(); }},
    {"dist_config.cp_mode", "", nullptr,
     [](const Value& v, Draft& d) {
       constexpr std::string_view kModes[] = {"ulysses"};
       if (v.choice(kModes) == 0) d.plan.context_algorithm = ContextAlgorithm::AllToAll;
     }},
    {"attn_implementation", "attn_impl flash_attn", attention_name, read_attention},
    {"flash_attention", "use_flash_attn use_flash_attention use_flash_attention_2 use_flash_attention2",
     attention_switch<AttentionWord::Flash2>, switch_attention<AttentionWord::Flash2>},
    {"xformers_attention", "", attention_switch<AttentionWord::Efficient>, switch_attention<AttentionWord::Efficient>},
    {"sdp_attention", "", nullptr, switch_attention<AttentionWord::AsTheProgram>},
    {"eager_attention", "", attention_switch<AttentionWord::Unfused>, switch_attention<AttentionWord::Unfused>},
    {"use_liger_kernel", "use_liger enable_liger_kernel", nullptr, read_liger},
    {"ddp_bucket_cap_mb", "", nullptr,
     [](const Value& v, Draft& d) { d.plan.bucket_size = Bytes(std::clamp<std::int64_t>(v.count(), 1, 1 << 20) << 20); }},
    // Who starts it: torchrun, deepspeed, accelerate launch.
    {"nproc_per_node", "num_gpus", nullptr, number_said},
    {"nnodes", "num_nodes", nullptr, number_said},
    {"include", "", nullptr, only_said},                         // "localhost:0,1,2"
    {"num_processes", "ray_num_workers", nullptr, number_said},  // of Ray: each has a device
    {"num_machines", "", nullptr, number_said},
    {"config_file", "", nullptr, only_said},
    {"config", "", nullptr, only_said},
    {"launch.distributed_type", "", nullptr, only_said, true},  // of Accelerate's file: a layout, though no batch
    {"launch.num_processes", "", nullptr, number_said, true},
    {"use_deepspeed", "", nullptr, flag_said},
    {"swift", "", nullptr, only_said},  // ms-swift's subcommand: sft, pt
    {"trl", "", nullptr, only_said},    // its command, or a script of its examples
    {"deepspeed_chat", "", nullptr, only_said},
    {"task_type", "", nullptr, refuse_other_tasks},
    {"deepspeed", "deepspeed_config deepspeed_config_file",
     [](const ParallelPlan& p) { return written_if(p.zero_stage == 1 || p.zero_stage == 2, fmt::format("zero{}", p.zero_stage)); },
     only_said},
    {"zero_stage", "", nullptr,
     [](const Value& v, Draft& d) {
       constexpr std::string_view kStages[] = {"0", "1", "2", "3"};
       d.plan.zero_stage = static_cast<std::int32_t>(v.choice(kStages));
     }},
    {"offload", "", nullptr, read_what_is_offloaded},
    {"offload_optimizer_device", "", nullptr, read_offload},
    {"offload_param_device", "", nullptr, read_offload_of_weights},
    {"fsdp", "use_fsdp",
     [](const ParallelPlan& p) {
       return written_if(p.zero_stage == 3, p.reshard_after_forward ? "full_shard auto_wrap" : "shard_grad_op auto_wrap");
     },
     read_fsdp_of_trainer, true},
    {"fsdp.reshard_after_forward", "fsdp.sharding_strategy", nullptr, read_sharding_of_trainer},
    {"fsdp.offload_params", "", nullptr, flag_said},
    {"fsdp.activation_checkpointing", "", nullptr, flag_said},
    {"fsdp.transformer_layer_cls_to_wrap", "fsdp.auto_wrap_policy", nullptr, read_wrapping_of_trainer},
    {"fsdp.version", "", nullptr, number_said},
    {"fsdp.backward_prefetch", "fsdp.backward_prefetch_policy", nullptr, read_backward_prefetch},
    // Degrees of Axolotl and of Accelerate.
    {"tensor_parallel_size", "tp_size tp", [](const ParallelPlan& p) { return written_degree(p.mesh.tensor); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.degree(); }, true},
    {"context_parallel_size", "sequence_parallel_degree", [](const ParallelPlan& p) { return written_degree(p.mesh.context); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(); }, true},
    {"expert_parallel_size", "", [](const ParallelPlan& p) { return written_degree(p.mesh.expert); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }, true},
    {"sequence_parallel_size", "sp_size", nullptr, read_ranks_of_sequence, true},
    {"sequence_parallel_mode", "", nullptr, word_said<kSequenceModes>},
    {"device_map", "", nullptr, read_device_map},
    {"dp_shard_size", "", nullptr, [](const Value& v, Draft& d) { d.shard = v.degree(); }},
    {"dp_replicate_size", "", nullptr, [](const Value& v, Draft& d) { d.replicate = v.degree(); }},
    // Adapters of PEFT.
    {"adapter", "tuner_type train_type sft_type peft", nullptr, only_said},
    {"finetuning_type", "", nullptr, only_said},  // LLaMA-Factory
    {"freeze_trainable_layers", "", nullptr, number_said},
    {"upcast_layernorm", "", nullptr, flag_said},
    {"freeze_trainable_modules", "", nullptr, only_said},
    {"use_peft", "use_lora lora_enable lora", nullptr, flag_said},
    {"lora_r", "lora_rank", nullptr, number_said},
    {"lora_dim", "", nullptr, number_said},  // DeepSpeed-Chat
    {"only_optimize_lora", "", nullptr, flag_said},
    {"lora_alpha", "", nullptr, number_said},
    {"lora_dropout", "lora_dropout_p", nullptr, number_said},
    {"lora_target_modules", "lora_target target_modules lora_module_name", nullptr, only_said},
    {"lora_target_linear", "", nullptr, flag_said},
    {"quantization_method", "quant_method", nullptr, read_quantization},
    {"load_in_4bit", "use_4bit_quantization q_lora", nullptr, flag_said},
    {"load_in_8bit", "use_8bit_quantization", nullptr, flag_said},
    {"quantization_bit", "bits load_in_bits quant_bits", nullptr, number_said},
};

// Its layouts are those of Accelerate's files: `check` looks for better ones among them.
void judge_trainer(const ParallelPlan& plan, Judgement& judgement) {
  kAccelerate.judge(plan, judgement);
  judgement.refuse(plan.recompute == Recompute::Selective, "/recompute", "blocks are recomputed whole there, or not at all",
                   "plan with --fix recompute=full or none");
}
void trainer_habits(ParallelPlan& plan) { kAccelerate.habits(plan); }

// Dashes are underscores to its parser; both spellings of FSDP's settings are one here.
std::string trainer_key(std::string key) {
  std::ranges::replace(key, '-', '_');
  for (const std::string_view before : {"fsdp_config.fsdp_", "fsdp_config.", "fsdp_"})
    if (key.starts_with(before)) return key == "fsdp_config" ? key : "fsdp." + key.substr(before.size());
  return key;
}

void append_under(const std::string& before, const RecipeSettings& more, RecipeReading& reading) {
  for (const RecipeSetting& setting : more) reading.settings.push_back({before + setting.key, setting.value});
}

bool is_file_name(const std::string& value) { return is_on(value) && value != "true" && !value.starts_with("{"); }

// `llamafactory-cli train recipe.yaml cutoff_len=4096 deepspeed=null`: what stands behind the file is above it.
void take_changes_behind(const std::string& file, RecipeReading& reading) {
  const std::vector<std::string> words = words_of(reading.command);
  const auto named = std::ranges::find(words, file);
  for (auto word = named; word != words.end(); ++word) {
    const std::size_t equals = word->find('=');
    if (equals == std::string::npos || equals == 0 || !std::ranges::all_of(word->substr(0, equals), is_name_character)) continue;
    reading.settings.push_back({word->substr(0, equals), word->substr(equals + 1)});
  }
}

// HfArgumentParser's switch of what is on by itself: `--no_gradient_checkpointing`. "": it is none.
std::string option_switched_off(const Program& program, const std::string& key) {
  const bool is_switch = key.starts_with("no_") && !is_known_to(program, key) && is_known_to(program, key.substr(3));
  return is_switch ? key.substr(3) : "";
}

RecipeSetting trainer_setting(const Program& program, RecipeSetting setting) {
  setting.key = trainer_key(setting.key);
  if (setting.key.starts_with("deepspeed.")) setting.key = "file." + setting.key.substr(10);  // written into the YAML itself
  if (setting.key == "device_map" && setting.value == "auto") setting.value = "balanced";     // as Transformers means it
  if (const std::string off = option_switched_off(program, setting.key); setting.value == "true" && !off.empty()) return {off, "false"};
  return setting;
}

// TRL: `--config recipe.yaml`, LLaMA-Factory: `train.py recipe.yaml`; arguments of the line stand above it.
void read_recipe_beside(const RecipeSource& source, RecipeReading& reading) {
  const RecipeSetting* const named = first_named("config", reading.settings);
  const std::optional<RecipeSetting> bare = named == nullptr ? bare_configuration(reading.command) : std::optional<RecipeSetting>(*named);
  if (!bare || !(bare->value.ends_with(".yaml") || bare->value.ends_with(".yml"))) return;
  if (named == nullptr) take_changes_behind(bare->value, reading);
  put_below(reading, read_yaml(text_beside(source, reading, *bare), bare->value));
}

// ms-swift's own names of DeepSpeed's files, the older ones too.
bool is_named_stage(std::string_view name) {
  if (name.starts_with("default-")) name.remove_prefix(8);
  return has_name("zero0 zero1 zero2 zero3 zero2_offload zero3_offload zero2-offload zero3-offload", name);
}

// What stands in those files (swift/config of its release 4.6): buckets of 200 million up to stage 2, the Trainer's own at stage 3.
RecipeSettings named_stage_of_swift(std::string name) {
  const bool is_older = name.starts_with("default-");  // of release 2: the same, but for this overlap
  if (is_older) name.erase(0, 8);
  const bool is_third = name.starts_with("zero3"), is_on_host = name.ends_with("offload");
  RecipeSettings settings = {{"stage", name.substr(4, 1)}, {"overlap_comm", is_older ? "true" : "false"}};
  if (is_third)
    settings.insert(
        settings.end(),
        {{"reduce_bucket_size", "auto"}, {"stage3_prefetch_bucket_size", "auto"}, {"stage3_param_persistence_threshold", "auto"}});
  else
    settings.insert(settings.end(), {{"reduce_bucket_size", "2e8"}, {"allgather_bucket_size", "2e8"}});
  if (is_on_host) settings.push_back({"offload_optimizer.device", "cpu"});
  if (is_on_host && is_third) settings.push_back({"offload_param.device", "cpu"});
  return settings;
}

// What ms-swift calls fsdp2 (swift/config/fsdp2.json of its release 4).
const RecipeSettings kFsdpOfSwift = {{"fsdp", "full_shard auto_wrap"},
                                     {"fsdp_config.fsdp_version", "2"},
                                     {"fsdp_config.reshard_after_forward", "true"},
                                     {"fsdp_config.activation_checkpointing", "true"}};

// It takes a file, too, which holds both the ways and their settings, or the text of one.
void take_fsdp_of_swift(const RecipeSource& source, const RecipeSetting& named, RecipeReading& reading) {
  const bool is_text = named.value.starts_with("{");
  if (named.value != "fsdp2" && !is_text && !named.value.ends_with(".json")) return;
  RecipeSettings held = kFsdpOfSwift;
  if (named.value != "fsdp2") held = read_json(is_text ? named.value : text_beside(source, reading, named), named.value);
  std::erase_if(reading.settings, [](const RecipeSetting& one) { return one.key == "fsdp"; });
  for (const RecipeSetting& one : held)
    if (!one.key.starts_with("_")) reading.settings.push_back({trainer_key(one.key), one.value});
}

void read_files_beside(const RecipeSource& source, RecipeReading& reading) {
  const RecipeSettings named = reading.settings;
  for (const RecipeSetting& one : named) {
    const auto is_later = [&](const RecipeSetting& other) { return &other > &one && other.key == one.key; };
    if (std::ranges::any_of(named, is_later)) continue;  // the last one counts
    const bool is_layout = has_name("deepspeed deepspeed_config deepspeed_config_file dist_config.config_file", one.key);
    if (one.key == "fsdp" && first_named("swift", named) != nullptr) take_fsdp_of_swift(source, one, reading);
    if (!is_file_name(one.value)) continue;
    if (is_layout && is_named_stage(one.value) && first_named("swift", named) != nullptr)
      append_under("file.zero_optimization.", named_stage_of_swift(one.value), reading);
    if (is_layout && !is_named_stage(one.value)) append_under("file.", read_json(text_beside(source, reading, one), one.value), reading);
    if (one.key == "fsdp_config")
      for (RecipeSetting setting : read_json(text_beside(source, reading, one), one.value))
        reading.settings.push_back({trainer_key("fsdp_config." + setting.key), std::move(setting.value)});
    if (one.key == "config_file") read_file_of_accelerate(source, one, reading);
  }
}

// `swift sft`, and before its release 2 the script behind it, which called the samples of a device a batch.
void take_names_of_swift(RecipeReading& reading) {
  const bool is_script = reading.command.find("llm_sft.py ") != std::string::npos;
  std::string_view found = is_script ? "sft" : "";
  for (const std::string_view subcommand : {"sft", "pt", "rlhf"})
    for (const std::string& start : {fmt::format("swift {} ", subcommand), fmt::format("swift.cli.{} ", subcommand),
                                     fmt::format("swift/cli/{}.py ", subcommand), fmt::format("swift.cli.main {} ", subcommand)})
      if (reading.command.find(start) != std::string::npos) found = subcommand;
  if (found.empty()) return;
  for (RecipeSetting& setting : reading.settings)
    if (setting.key == "batch_size") setting.key = "per_device_train_batch_size";
  reading.settings.push_back({"swift", std::string(found)});
}

// `trl sft`, `accelerate launch trl/examples/scripts/sft.py`: TRL's arguments are the Trainer's, some with other defaults.
void take_names_of_trl(RecipeReading& reading) {
  constexpr std::string_view kStarts[] = {"trl sft ", "trl/examples/scripts/sft.py", "trl/scripts/sft.py", "trl.scripts.sft"};
  if (std::ranges::any_of(kStarts, [&](std::string_view start) { return reading.command.find(start) != std::string::npos; }))
    reading.settings.push_back({"trl", "sft"});
}

// Its first step, by the folder of the script: the others are of preferences.
void take_names_of_deepspeed_chat(RecipeReading& reading) {
  if (reading.command.find("step1_supervised_finetuning/") != std::string::npos) reading.settings.push_back({"deepspeed_chat", "sft"});
}

RecipeReading trainer_settings(const RecipeSource& source) {
  const auto is_known = [&](const std::string& key) {
    return is_known_to(source.program, trainer_setting(source.program, {key, "true"}).key);
  };
  RecipeReading reading;
  if (begins_as_python(source.text)) return reading;  // what it gives its program stands in its code
  if (begins_as_json(source.text))                    // HfArgumentParser takes such a file, too
    reading.settings = read_json(source.text, source.path);
  else if (begins_as_yaml(source.text))
    reading.settings = read_yaml(source.text, source.path);
  else
    reading = read_shell(source.text, source.path, source.given, is_known);
  take_names_of_swift(reading);
  take_names_of_trl(reading);
  take_names_of_deepspeed_chat(reading);
  read_recipe_beside(source, reading);
  if (is_of_oumi(reading.settings)) reading.settings = arguments_of_oumi(reading.settings);
  for (RecipeSetting& setting : reading.settings) setting = trainer_setting(source.program, std::move(setting));
  read_files_beside(source, reading);
  settle_line_of_accelerate(reading);
  return reading;
}

}  // namespace

const Program kTrainer = {
    .name = "trainer",
    .title = "Transformers Trainer",
    .version = "5.24",
    .file = "train.sh",
    .marks =
        "per_device_train_batch_size per-device-train-batch-size per_gpu_train_batch_size sequence_len: dist_config: --use_fsdp "
        "--use_deepspeed --config_file --sft_type swift+sft+--dataset swift+pt+--dataset llamafactory-cli+train axolotl.cli.train "
        "axolotl+train+.yaml step1_supervised_finetuning/ "
        "axolotl+train+.yml src/train.py+.yaml src/train.py+.yml trl+sft+--config trl+sft+--model_name_or_path "
        "oumi+train+-c oumi+train+--config .py+.yaml+--deepspeed+!--deepspeed_ .py+.yml+--deepspeed+!--deepspeed_",
    .fields = kTrainerFields,
    .judge = judge_trainer,
    .files = no_files,
    .settings = trainer_settings,
    .settle =
        [](Draft& draft) {
          settle_trainer(draft);
          settle_saved_on_host(draft);
        },
    .lost = trainer_lost(),
    .without_effect = kTrainerWithoutEffect,
    .training = {.learning_rate = 5e-5, .beta2 = 0.999, .weight_decay = 0, .seed = 42},
    .software = "accelerate",
    .trained_by = "the tool's own arguments",
    .habits = trainer_habits,
    .scripts = kScriptsOfTrainer,
    .decided = decided_of_trainer()};

}  // namespace sim
