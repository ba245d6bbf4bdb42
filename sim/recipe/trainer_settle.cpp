// The Trainer's arguments put together: what stands in other files is read by the rows of their own programs.
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accelerate_line.h"
#include "sim/recipe/accounting.h"
#include "sim/recipe/fsdp_words.h"
#include "sim/recipe/program.h"
#include "sim/recipe/trainer.h"
#include "sim/recipe/trainer_adapters.h"

namespace sim {
namespace {

constexpr std::int64_t kUsualTrainerBatch = 8, kUsualChatBatch = 16, kUsualChatLength = 512, kUsualCutoff = 2048, kOlderCutoff = 1024,
                       kUsualLength = 1024;

bool is_true(const Draft& draft, const std::string& key) { return said(draft, key) != nullptr; }

// The settings of another file; nobody is to be told that this program does not know them.
RecipeSettings taken_under(const std::string& before, Draft& draft) {
  RecipeSettings found;
  for (const auto& [key, value] : draft.said)
    if (key.starts_with(before)) found.push_back({key.substr(before.size()), value});
  std::erase_if(draft.unknown, [&](const Violation& one) { return one.where.starts_with(before); });
  return found;
}

// torchrun and deepspeed count by node, accelerate launch counts all. What the text leaves open is the cluster's.
void settle_launch(Draft& draft) {
  const double all = number_of(draft, "num_processes", 0);
  if (all > 0)
    draft.processes = static_cast<std::int64_t>(std::clamp(all, 1.0, 1e6));
  else if (!is_true(draft, "launch.num_processes"))
    take_processes(draft);
}

// `--train_bsz_per_gpu 1`: a batch by a name of its own, which nobody here knows.
bool has_own_batch(const Draft& draft) {
  return std::ranges::any_of(draft.unknown, [](const Violation& one) {
    const bool is_batch = one.where.find("bsz") != std::string::npos || one.where.find("batch") != std::string::npos;
    return is_batch && one.where.find("eval") == std::string::npos && one.where.find('.') == std::string::npos;
  });
}

// `accelerate launch --use_deepspeed mine.py --lr 1e-4`: who is started takes none of the Trainer's usual arguments, but others.
bool starts_its_own(const Draft& draft) {
  constexpr const char* kOfTrainer[] = {
      "output_dir", "learning_rate", "num_train_epochs", "model_name_or_path", "per_device_eval_batch_size", "do_train",
      "deepspeed",  "logging_steps", "save_steps",       "max_length",         "global_batch_size"};
  const bool by_accelerate = draft.said.contains("use_deepspeed") || draft.said.contains("fsdp") || draft.said.contains("num_processes");
  return by_accelerate && !is_of_swift(draft) && !is_of_trl(draft) && !is_of_axolotl(draft) && !is_of_llama_factory(draft) &&
         std::ranges::none_of(kOfTrainer, [&](const char* key) { return draft.said.contains(key); });
}

// A line that says a layout and no size at all is of a program of its own, whose batch is its own, too.
bool says_no_size(const Draft& draft) {
  if (!draft.microbatch && starts_its_own(draft)) return true;
  if (draft.said.contains("train_batch_size") && !draft.said.contains("file.train_batch_size")) return true;  // by a name of its own
  if (!draft.microbatch && (has_own_batch(draft) || draft.said.contains("batch_size"))) return true;
  const bool is_named = is_of_axolotl(draft) || is_of_swift(draft) || is_of_llama_factory(draft);
  return !is_named && !draft.accumulation_steps && !draft.global_batch && !draft.sequence && draft.said.contains("config_file");
}

void settle_microbatch(Draft& draft) {
  const bool starts_small = is_of_axolotl(draft) || is_of_swift(draft);
  if (says_no_size(draft)) {
    if (draft.microbatch_beside == 0)
      draft.wrong.push_back({"per_device_train_batch_size", "is not in the file, and no other size is: whoever is started has its own",
                             "give --microbatch, --global-batch and --sequence as that program has them"});
    draft.microbatch = std::max<std::int64_t>(1, draft.microbatch_beside);
    return;
  }
  draft.microbatch = starts_small ? 1 : is_of_deepspeed_chat(draft) ? kUsualChatBatch : kUsualTrainerBatch;
  draft.notes.push_back({"per_device_train_batch_size",
                         fmt::format("is not in the file: {} is taken, as this program has by itself", *draft.microbatch),
                         "write it, if it is another"});
}

// Of SFTConfig, release 1.16 (trl/trainer/base_config.py, sft_config.py).
void take_habits_of_trl(Draft& draft) {
  if (!draft.sequence) {
    draft.sequence = kUsualLength;
    draft.notes.push_back({"max_length", fmt::format("is not in the file: {} tokens are taken, as TRL has by itself now", kUsualLength),
                           "write it, if it is another"});
  }
  if (draft.said.contains("gradient_checkpointing")) return;
  draft.plan.recompute = Recompute::Full;
  draft.notes.push_back({"gradient_checkpointing", "is not in the file: blocks are computed again, as TRL has by itself now",
                         "write false, if they are not"});
}

// LLaMA-Factory cuts samples by cutoff_len alone: max_length is of texts that it generates.
void settle_cutoff(Draft& draft) {
  if (!is_of_llama_factory(draft)) return;
  const bool says_other = draft.said.contains("max_length"), is_older = draft.launch.command.find("train_bash.py") != std::string::npos;
  if (says_other) {
    draft.sequence.reset();
    if (draft.said.contains("cutoff_len")) draft.sequence = size_said(draft, "cutoff_len", kUsualCutoff);
    draft.notes.push_back({"max_length", "is of texts that it generates; samples are cut by cutoff_len", "write cutoff_len"});
  }
  if (draft.sequence) return;
  draft.sequence = is_older ? kOlderCutoff : kUsualCutoff;
  draft.notes.push_back({"cutoff_len",
                         fmt::format("is not in the file: {} tokens are taken, as LLaMA-Factory has by itself{}", *draft.sequence,
                                     is_older ? " where train_bash.py starts it" : " now"),
                         "write it, if it is another"});
}

void settle_samples(Draft& draft) {
  if (!draft.microbatch) settle_microbatch(draft);
  if (draft.global_batch && is_of_second_factory(draft)) draft.accumulation_steps.reset();
  if (!draft.accumulation_steps && is_of_swift(draft))  // as many as make 16 samples a step
    draft.accumulation_steps = std::max<std::int64_t>(
        1, (16 + *draft.microbatch * draft.plan.cluster.devices - 1) / (*draft.microbatch * draft.plan.cluster.devices));
  if (!draft.accumulation_steps && !draft.global_batch && !says_no_size(draft)) draft.accumulation_steps = 1;
  settle_cutoff(draft);
  if (!draft.sequence && is_of_deepspeed_chat(draft)) {
    draft.sequence = kUsualChatLength;
    draft.notes.push_back({"max_seq_len",
                           fmt::format("is not in the file: {} tokens are taken, as DeepSpeed-Chat has by itself", kUsualChatLength),
                           "write it, if it is another"});
  }
  if (is_of_trl(draft)) take_habits_of_trl(draft);
  const bool cuts_texts = is_of_llama_factory(draft) && text_of(draft, "stage", "") == "pt" && text_of(draft, "packing", "true") != "false";
  const bool are_blocks = draft.said.contains("block_size") || cuts_texts;  // run_clm.py, and a pretraining there: rows of one length
  if (draft.sequence && !are_blocks && !is_true(draft, "packing")) note_unpacked(*draft.sequence, draft);
  if (is_true(draft, "packing"))
    draft.lost.push_back(
        {"packing", "several documents share a row, and attention may end with each; the plan's spans the row", "mind attention's time"});
  if (is_of_swift(draft) && !draft.said.contains("gradient_checkpointing")) draft.plan.recompute = Recompute::Full;  // its default
  if (is_of_llama_factory(draft))
    draft.plan.recompute =
        is_true(draft, "disable_gradient_checkpointing") || !is_on(text_of(draft, "enable_activation_checkpointing", "true"))
            ? Recompute::None
            : Recompute::Full;
  if (const std::string* const name = said(draft, "model_name_or_path"))
    draft.notes.push_back(
        {"model_name_or_path", shown(*name) + ": the network of the plan is the one of --model", "see that it is the same"});
}

// Mixed by autocast, or one type for all; which was asked for.
struct TrainedTypes {
  Precision compute = Precision::Fp32;
  bool is_mixed = false;
};
Precision type_named(std::string_view name) {
  if (has_name("bfloat16 torch.bfloat16 bf16", name)) return Precision::Bf16;
  return has_name("float16 torch.float16 fp16 half", name) ? Precision::Fp16 : Precision::Fp32;
}

// Axolotl on a GPU that has bf16; ms-swift with a network whose file says so.
bool takes_bf16_itself(const Draft& draft) {
  const std::string loaded = in_lower_case(text_of(draft, "torch_dtype", "auto"));
  const bool is_factorys = is_of_llama_factory(draft) && text_of(draft, "finetuning_type", "lora") == "lora";  // as the checkpoint is
  const bool has_default = is_of_axolotl(draft) || is_of_trl(draft) || is_factorys || (is_of_swift(draft) && loaded == "auto");
  return has_default && !draft.said.contains("bf16") && !draft.said.contains("fp16");
}

TrainedTypes types_of(Draft& draft) {
  const bool bf16 = is_true(draft, "bf16"), fp16 = is_true(draft, "fp16");
  if (bf16 && fp16) draft.wrong.push_back({"bf16", "and fp16 are both on", "choose one precision"});
  if (is_true(draft, "pure_bf16") || text_of(draft, "bf16", "") == "full") return {Precision::Bf16, false};
  if (is_of_second_factory(draft) && !draft.said.contains("bf16")) return {Precision::Bf16, true};
  if (bf16 || fp16) return {bf16 ? Precision::Bf16 : Precision::Fp16, true};
  if (takes_bf16_itself(draft)) {
    draft.notes.push_back(
        {"bf16", "is not in the file: taken as bf16, as this program does by itself", "write the type, if it is another"});
    return {Precision::Bf16, true};
  }
  // Of the line that starts it, or of its file; the Trainer leaves it where it has no type of its own.
  const std::string launch = text_of(draft, "mixed_precision", text_of(draft, "launch.mixed_precision", "no"));
  if (launch == "fp8") return {Precision::Bf16, true};
  if (const Precision launched = type_named(launch); launched != Precision::Fp32) return {launched, true};
  const Precision loaded = type_named(text_of(draft, "torch_dtype", is_of_deepspeed_chat(draft) ? "fp16" : ""));
  if (loaded == Precision::Fp32 && is_true(draft, "tf32")) return {Precision::Tf32, false};
  return {loaded, false};
}

// Autocast leaves weights as they were loaded; FSDP of Accelerate makes them fp32, and DeepSpeed keeps masters.
PrecisionPolicy policy_of(const TrainedTypes& types, Draft& draft, bool is_plain) {
  PrecisionPolicy policy(types.compute);
  if (!is_sixteen_bit(types.compute) || draft.plan.model.adapters) return policy;
  PrecisionPolicy one = policy.with(Numbers::Masters, types.compute).with(Numbers::Moments, types.compute);
  if (!types.is_mixed) return one;
  if (!is_plain) return policy;
  const std::string loaded = text_of(draft, "torch_dtype", is_of_axolotl(draft) || is_of_swift(draft) ? "bf16" : "");
  if (is_sixteen_bit(type_named(loaded))) return one;
  if (loaded.empty() || loaded == "auto")
    draft.unknown.push_back({"torch_dtype", "does not say in which type weights are loaded: taken as fp32, as Transformers 4 does",
                             "write torch_dtype: bfloat16, if they are"});
  return policy.with(Numbers::Weights, Precision::Fp32);
}

enum class ShardedBy : std::uint8_t { Nobody, DeepSpeed, Fsdp };

// "full_shard auto_wrap offload", or true.
void settle_fsdp(Draft& draft) {
  std::string how = text_of(draft, "fsdp", "");
  std::ranges::replace_if(
      how, [](char c) { return std::string_view("[],'\"").find(c) != std::string_view::npos; }, ' ');
  for (const std::string& word : words_of(how))
    if (!has_name("true True full_shard shard_grad_op no_shard hybrid_shard hybrid_shard_zero2 auto_wrap offload", word))
      draft.wrong.push_back({"fsdp", fmt::format("holds '{}', which is none of its ways", shown(word)),
                             "use full_shard, shard_grad_op, no_shard or hybrid_shard, with auto_wrap and offload"});
  const std::string sharded = in_lower_case(text_of(draft, "fsdp.reshard_after_forward", "true"));
  const std::string all = " " + how + " " + sharded + " ";
  const auto has = [&](std::string_view word) { return all.find(" " + std::string(word) + " ") != std::string::npos; };
  const bool is_whole = has("no_shard") || has("3"), keeps_in_node = has("hybrid_shard_zero2") || has("5");  // FSDP 1 has numbers, too
  draft.plan.reshard_after_forward = !has("shard_grad_op") && !has("2") && !has("false") && !keeps_in_node;
  if (is_whole) draft.replicate = draft.plan.cluster.devices;
  if (!draft.shard) draft.shard = is_whole ? 1 : -1;
  if (keeps_in_node || has("hybrid_shard") || has("4")) draft.replicate = draft.plan.cluster.nodes();
  const bool on_host = has("offload") || is_true(draft, "fsdp.offload_params");
  draft.plan.offload_parameters = draft.plan.offload_optimizer = on_host;
  if (is_true(draft, "fsdp.activation_checkpointing")) draft.plan.recompute = Recompute::Full;
  const bool is_second = how == "true" || draft.said.contains("fsdp.version") ||  // FSDP 2, which wraps blocks by itself
                         (draft.said.contains("fsdp.reshard_after_forward") && (sharded == "true" || sharded == "false"));
  const bool asks_for_none = text_of(draft, "fsdp.transformer_layer_cls_to_wrap", "") == "NO_WRAP";
  const bool wraps = has("auto_wrap") || (is_second && !draft.is_fsdp_of_launcher) || is_true(draft, "fsdp.transformer_layer_cls_to_wrap");
  if (!wraps || asks_for_none) settle_one_unit(draft, "fsdp");
}

// What the Trainer fills in where DeepSpeed's file says "auto"; what both say must be the same, as it asks itself.
void read_deepspeed_of_trainer(Draft& draft, const RecipeSettings& file) {
  RecipeSettings settings;
  for (const RecipeSetting& one : filled_by_accelerate(file, draft))
    if (one.value != "auto" || one.key.starts_with("zero_optimization.")) settings.push_back(one);
  const std::optional<std::int64_t> micro = draft.microbatch, steps = draft.accumulation_steps;
  const std::optional<Precision> precision = draft.precision;
  const TrainingSettings training = draft.plan.training;
  const auto asks = [&](bool differs, std::string_view key) {
    if (differs)
      draft.wrong.push_back({std::string(key), "is another in DeepSpeed's file than in the arguments, which the Trainer refuses",
                             "write \"auto\" in DeepSpeed's file"});
  };
  read_settings(kDeepSpeed, settings, draft);
  asks(draft.microbatch != micro, "train_micro_batch_size_per_gpu");
  asks(draft.accumulation_steps != steps, "gradient_accumulation_steps");
  asks(precision && draft.precision != precision, "bf16.enabled");
  if (!said(draft, "optimizer.type")) draft.plan.training = training;
  kDeepSpeed.settle(draft);
}

// DeepSpeed-Chat's scripts, Accelerate's own arguments, names of ms-swift.
void settle_named_stage(Draft& draft) {
  const std::string named = text_of(draft, "deepspeed", "");
  for (const std::string_view name : {"zero0", "zero1", "zero2", "zero3"})
    if (named.find(name) != std::string::npos) draft.plan.zero_stage = name.back() - '0';
  if (named.ends_with("offload")) draft.plan.offload_optimizer = true, draft.plan.offload_parameters = draft.plan.zero_stage == 3;
  if (is_true(draft, "offload")) draft.plan.offload_optimizer = true, draft.plan.offload_parameters = draft.plan.zero_stage == 3;
  settle_engine_of_deepspeed(draft);
  draft.plan.workload.precision = draft.precision.value_or(Precision::Fp32);
  if (draft.plan.zero_stage == 3 && !draft.plan.offload_parameters)  // small parameters stay whole
    draft.plan.persistence_threshold = is_of_deepspeed_chat(draft) ? 10'000 : 100'000;
}

// Accelerate's stage, where neither its file nor the line says one; what both say of the steps must be the same for the Trainer.
void settle_engine_of_launcher(Draft& draft, std::optional<std::int64_t> by_launcher) {
  const bool is_by_launcher = text_of(draft, "distributed_type", "") == "DEEPSPEED" || is_true(draft, "use_deepspeed");
  if (!is_by_launcher) return;
  if (!draft.said.contains("zero_stage") && !draft.said.contains("deepspeed_config.zero_stage") && !is_true(draft, "deepspeed"))
    take_stage_of_accelerate(draft, "zero_stage");
  if (by_launcher && by_launcher != draft.accumulation_steps.value_or(1))
    draft.unknown.push_back(
        {"deepspeed_config.gradient_accumulation_steps",
         fmt::format("is {} in Accelerate's file, and {} on the line: the Trainer refuses that, and other programs take "
                     "the file's; the plan has the line's",
                     *by_launcher, draft.accumulation_steps.value_or(1)),
         "make both equal"});
}

// `--fsdp "shard_grad_op auto_wrap"` behind a launcher with FSDP: the Trainer's stands above it (training_args.py).
bool has_ways_of_fsdp(Draft& draft) {
  const std::string ways = in_lower_case(text_of(draft, "fsdp", ""));
  if (!is_on(ways) || ways == "true") return false;
  draft.unknown.push_back({"fsdp", fmt::format("is {} for the Trainer, and Accelerate shards, too: the Trainer's counts", shown(ways)),
                           "leave one of them out"});
  return true;
}

// Axolotl shards where anything stands under fsdp_config; a version beside none asks for nothing (utils/trainer.py, prepare_optim_env, release 0.19.0).
bool is_fsdp_of_axolotl(Draft& draft) {
  if (!is_of_axolotl(draft)) return false;
  const auto asks = [](const auto& one) {
    return one.first.starts_with("fsdp.") && !has_name("fsdp.version fsdp.final_state_dict_type", one.first);
  };
  if (draft.shard || std::ranges::any_of(draft.said, asks)) return true;
  if (draft.said.contains("fsdp.version"))
    draft.unknown.push_back(
        {"fsdp_version", "stands without fsdp_config, and then nothing is sharded", "write fsdp_config, if that is meant"});
  return false;
}

void refuse_two_engines(Draft& draft) {
  draft.wrong.push_back({"deepspeed", "is asked for by the Trainer, and FSDP by Accelerate's file: a training has one of both",
                         "leave one of them out; for DeepSpeed write distributed_type: DEEPSPEED"});
}

ShardedBy settle_layout(Draft& draft) {
  const RecipeSettings launch = taken_under("launch.", draft);
  const bool had_processes = draft.processes.has_value() && draft.are_processes_certain;
  const std::optional<std::int64_t> processes = draft.processes, steps = draft.accumulation_steps;
  draft.accumulation_steps.reset();
  if (!launch.empty()) read_settings(kAccelerate, launch, draft);
  const std::optional<std::int64_t> by_launcher = draft.accumulation_steps;
  if (had_processes) draft.processes = processes;
  draft.accumulation_steps = steps;  // the Trainer's own
  const RecipeSettings file = taken_under("file.", draft);
  const std::string kind = text_of(draft, "distributed_type", "");
  const bool asks_for_deepspeed = !file.empty() || is_true(draft, "deepspeed");
  if (asks_for_deepspeed && kind == "FSDP") return refuse_two_engines(draft), settle_unit_of_accelerate(draft), ShardedBy::Fsdp;
  if (!file.empty()) return read_deepspeed_of_trainer(draft, file), ShardedBy::DeepSpeed;
  const bool by_name = is_true(draft, "deepspeed") || is_true(draft, "use_deepspeed") || draft.said.contains("zero_stage");
  if (by_name || kind == "DEEPSPEED") {
    settle_engine_of_launcher(draft, by_launcher);
    return settle_named_stage(draft), ShardedBy::DeepSpeed;
  }
  if (kind == "FSDP" && !has_ways_of_fsdp(draft)) return settle_unit_of_accelerate(draft), ShardedBy::Fsdp;
  if (!is_true(draft, "fsdp") && !is_fsdp_of_axolotl(draft)) return ShardedBy::Nobody;
  return settle_fsdp(draft), ShardedBy::Fsdp;
}

// Accelerate's products in 8 bit: of torchao, or of Transformer Engine.
void settle_scales_of_trainer(Draft& draft) {
  if (!draft.scales_products) return;
  const bool by_engine = has_name("te msamp TE MSAMP", text_of(draft, "fp8_backend", "torchao"));
  draft.plan.workload.precision =
      PrecisionPolicy(Precision::Bf16).with(by_engine ? ScaleRecipe::Delayed : ScaleRecipe::Tensorwise, draft.gathers_scaled);
}

// A process for all devices, where no launcher starts more.
void tell_of_one_process(Draft& draft) {
  const std::int32_t devices = draft.plan.cluster.devices;
  if (devices > 1 && starts_strangers(draft))
    draft.unknown.push_back({"LOCAL_RANK",
                             "is nowhere set, and srun starts the Trainer without it: each process then trains for itself, with all "
                             "devices that it sees; the plan has one training",
                             "start it by srun torchrun, or import it with --devices 1"});
  if (devices == 1 || !starts_one_process(draft)) return;
  draft.lost.push_back(
      {"",
       fmt::format("the line starts one process, which has {} devices: it copies all weights to each for every microbatch, or "
                   "deals blocks out over them; the plan has a process on each",
                   devices),
       "start it by torchrun or accelerate (ms-swift: NPROC_PER_NODE), or import it with --devices 1"});
}

}  // namespace

bool is_of_axolotl(const Draft& draft) { return draft.said.contains("sequence_len"); }
bool is_of_llama_factory(const Draft& draft) { return draft.said.contains("finetuning_type") || draft.said.contains("cutoff_len"); }
bool is_of_second_factory(const Draft& draft) { return draft.said.contains("dist_config.name"); }
bool is_of_swift(const Draft& draft) { return is_on(text_of(draft, "swift", "")); }
bool is_of_trl(const Draft& draft) { return draft.said.contains("trl"); }
bool is_of_deepspeed_chat(const Draft& draft) {
  if (draft.said.contains("deepspeed_chat")) return true;
  return draft.said.contains("zero_stage") && text_of(draft, "deepspeed", "") == "true" && !draft.said.contains("use_deepspeed");
}

void read_loaded_type(const Value& v, Draft&) {
  const std::string name = leaf_of(v.text());  // torch.bfloat16
  if (is_on(name) && !has_name("auto AUTO bf16 bfloat16 fp16 float16 half fp32 float32 float", name))
    v.unknown(fmt::format("is {}, which is no type known here: taken as fp32", shown(v.text())), "use bfloat16, float16 or float32");
}

void read_type_switch(const Value& v, Draft&) {
  if (!v.is_unknown() && !has_name("true false yes no on off 1 0 auto full null none", in_lower_case(v.text())))
    v.unknown(fmt::format("is {}, which is neither true nor false: taken as true", shown(v.text())), "write true or false");
}

// Of accelerate's line.
void read_launched_type(const Value& v, Draft& d) {
  d.scales_products = d.scales_products || v.text() == "fp8";
  if (!has_name("no fp8 bf16 fp16 bfloat16 float16 fp32 float32", v.text()))
    v.wrong(fmt::format("is '{}'", shown(v.text())), "use no, bf16, fp16 or fp8");
}

void settle_trainer(Draft& draft) {
  settle_launch(draft);
  tell_of_one_process(draft);
  settle_samples(draft);
  settle_adapters(draft);
  const TrainedTypes types = types_of(draft);
  if (is_sixteen_bit(types.compute)) draft.precision = types.compute;
  const ShardedBy whose = settle_layout(draft);
  if (whose == ShardedBy::DeepSpeed) {
    draft.shard.reset(), draft.replicate.reset();
    draft.bucket_elements = draft.bucket_elements.value_or(kBucketOfDeepSpeed);
    draft.reduces_each = draft.plan.zero_stage >= 2;
    if (draft.scales_products)
      draft.lost.push_back({"fp8", "products of fewer bits beside DeepSpeed; the plan has none", "mind time and memory"});
    return settle_norms(draft, draft.plan.zero_stage == 3);
  }
  draft.plan.workload.precision = policy_of(types, draft, whose == ShardedBy::Nobody);
  settle_scales_of_trainer(draft);
  settle_norms(draft, whose == ShardedBy::Fsdp);
  if (whose == ShardedBy::Nobody)
    draft.unknown.push_back({"deepspeed",
                             "and fsdp are not named: taken as plain data parallel; a file of who starts it may say another layout",
                             "import the command line that starts it, with its files beside"});
}

}  // namespace sim
