// Hugging Face Accelerate: the file of `accelerate launch --config_file`. One of three kinds, by the plan: DeepSpeed for stages 1 and 2, FSDP 2 with a
// parallelism_config for stage 3 and tensor degrees, else plain data parallel. The Trainer has batch and sequence: the file has no names for them.
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accelerate_line.h"
#include "sim/recipe/accounting.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/fsdp_words.h"
#include "sim/recipe/program.h"
#include "sim/recipe/said_values.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"

namespace sim {
namespace {

constexpr std::string_view kStrategiesOfContext[] = {"alltoall",
                                                     "allgather"};  // in the order of ContextAlgorithm: PyTorch's ring goes by all-to-all

bool is_by_deepspeed(const ParallelPlan& p) { return p.zero_stage == 1 || p.zero_stage == 2; }
bool is_by_fsdp(const ParallelPlan& p) { return p.zero_stage == 3 || (p.zero_stage == 0 && p.mesh.copies() == 1 && p.mesh.tensor > 1); }
bool is_plain(const ParallelPlan& p) { return !is_by_deepspeed(p) && !is_by_fsdp(p); }
std::string truth(bool value) { return value ? "true" : "false"; }
Written fsdp_number(const ParallelPlan& p, std::int64_t number) { return written_if(is_by_fsdp(p), std::to_string(number)); }
Written deepspeed_number(const ParallelPlan& p, std::int64_t number) { return written_if(is_by_deepspeed(p), std::to_string(number)); }

Written kind_written(const ParallelPlan& p) {
  return Written(is_by_deepspeed(p) ? "DEEPSPEED" : is_by_fsdp(p) ? "FSDP" : p.mesh.ranks() > 1 ? "MULTI_GPU" : "NO");
}
void read_kind(const Value& v, Draft& d) {
  if (v.text() == "FSDP" && !d.shard) d.shard = -1;
  if (v.text() == "DEEPSPEED") d.reduces_each = d.reduces_each.value_or(false);
  constexpr std::string_view kKinds[] = {"NO", "MULTI_GPU", "FSDP", "DEEPSPEED"};
  if (std::find(std::begin(kKinds), std::end(kKinds), v.text()) == std::end(kKinds))
    v.wrong(fmt::format("is {}: no plan is for it", v.text()), "give a configuration of GPUs");
}

// Of FSDP 1. FSDP 2 has a truth value instead, and passes over the strategy (FullyShardedDataParallelPlugin).
bool is_second_fsdp(const Draft& d) { return text_of(d, "fsdp_config.fsdp_version", "1") == "2"; }
void read_strategy(const Value& v, Draft& d) {
  constexpr std::string_view kOld[] = {"FULL_SHARD", "SHARD_GRAD_OP", "1", "2"};
  constexpr std::string_view kUncut[] = {"NO_SHARD", "3"}, kCopies[] = {"HYBRID_SHARD", "4", "HYBRID_SHARD_ZERO2", "5"};
  std::string text = v.text();
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (is_second_fsdp(d)) {
    if (text != "FULL_SHARD" && text != "1")
      v.note(fmt::format("is {}, of FSDP 1; version 2 passes over it", shown(v.text())),
             "write fsdp_reshard_after_forward: false, if that is meant");
    return;
  }
  if (std::ranges::find(kUncut, text) != std::end(kUncut))
    return static_cast<void>(d.shard = 1), static_cast<void>(d.replicate = d.plan.cluster.devices);
  if (std::ranges::find(kCopies, text) != std::end(kCopies)) {  // shards within a node, copies over nodes
    d.replicate = d.plan.cluster.nodes();
    d.plan.reshard_after_forward = text == "HYBRID_SHARD" || text == "4";
    return;
  }
  d.plan.reshard_after_forward = Value({"fsdp_sharding_strategy", text}, d).choice(kOld) % 2 == 0;
}

// Its launcher always names a strategy to FSDP 1, FULL_SHARD by itself, which stands above this.
void read_reshard(const Value& v, Draft& d) {
  if (is_second_fsdp(d)) return static_cast<void>(d.plan.reshard_after_forward = v.boolean());
  const std::string text = in_lower_case(v.text());
  if (text != "true" && text != "full_shard")
    v.note(fmt::format("is {}, of FSDP 2; version 1 passes over it, and takes fsdp_sharding_strategy, or FULL_SHARD", shown(v.text())),
           "write fsdp_version: 2, or the strategy, if that is meant");
}

constexpr std::string_view kEnvironments[] = {"LOCAL_MACHINE", "AMAZON_SAGEMAKER"};
constexpr std::string_view kStateDicts[] = {"FULL_STATE_DICT", "LOCAL_STATE_DICT", "SHARDED_STATE_DICT"};
constexpr std::string_view kBackends[] = {"AO", "TE", "MSAMP"};

constexpr Field kAccelerateFields[] = {
    {"compute_environment", "", [](const ParallelPlan&) { return Written("LOCAL_MACHINE"); }, word_said<kEnvironments>},
    {"distributed_type", "", kind_written, read_kind, true},
    {"num_machines", "", [](const ParallelPlan& p) { return written(p.cluster.nodes()); }, number_said},
    {"num_processes", "", [](const ParallelPlan& p) { return written(p.mesh.ranks()); },
     [](const Value& v, Draft& d) { d.processes = v.count(); }, true},
    {"machine_rank", "", [](const ParallelPlan&) { return Written("0"); }, number_said},
    {"mixed_precision", "",
     [](const ParallelPlan& p) {
       return Written(is_sixteen_bit(p.workload.precision.compute()) ? std::string(sim::at(kPrecisionNames, p.workload.precision.compute()))
                                                                     : "no");
     },
     [](const Value& v, Draft& d) {
       constexpr std::string_view kNames[] = {"no", "bf16", "fp16", "fp8"};
       constexpr Precision kPrecisions[] = {Precision::Fp32, Precision::Bf16, Precision::Fp16, Precision::Bf16};
       const std::size_t name = Value({"mixed_precision", in_lower_case(v.text())}, d).choice(kNames);  // its launcher takes BF16, too
       d.precision = kPrecisions[name];
       d.scales_products = d.scales_products || kNames[name] == "fp8";
     }},
    {"fp8_config.backend", "", nullptr,
     [](const Value& v, Draft& d) {
       tell_other_word(v, kBackends);
       if (v.text() == "AO") d.scales = ScaleRecipe::Tensorwise;
     }},
    {"deepspeed_config.zero_stage", "", [](const ParallelPlan& p) { return deepspeed_number(p, p.zero_stage); },
     [](const Value& v, Draft& d) {
       constexpr std::string_view kStages[] = {"0", "1", "2", "3"};
       if (v.text() == "auto") return;
       d.plan.zero_stage = static_cast<std::int32_t>(v.choice(kStages));
       d.reduces_each = d.plan.zero_stage >= 2;
     },
     true},
    {"deepspeed_config.gradient_accumulation_steps", "gradient_accumulation_steps",
     [](const ParallelPlan& p) { return deepspeed_number(p, p.num_microbatches()); },
     [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }},
    {"deepspeed_config.gradient_clipping", "",
     [](const ParallelPlan& p) { return written_if(is_by_deepspeed(p), fmt::format("{}", p.training.gradient_clip)); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = v.number(); }},
    {"deepspeed_config.deepspeed_config_file", "", nullptr, only_said},  // accelerate_settings() reads it
    {"deepspeed_config.offload_param_device", "",
     [](const ParallelPlan& p) { return written_if(is_by_deepspeed(p) && p.offload_parameters, "cpu"); }, read_offload_of_weights},
    {"deepspeed_config.offload_optimizer_device", "",
     [](const ParallelPlan& p) { return written_if(is_by_deepspeed(p) && p.offload_optimizer, "cpu"); }, read_offload},
    {"deepspeed_config.zero3_init_flag", "", [](const ParallelPlan& p) { return written_if(is_by_deepspeed(p), "false"); }, flag_said},
    {"fsdp_config.fsdp_version", "", [](const ParallelPlan& p) { return fsdp_number(p, 2); }, number_said},
    {"fsdp_config.fsdp_auto_wrap_policy", "", [](const ParallelPlan& p) { return written_if(is_by_fsdp(p), "TRANSFORMER_BASED_WRAP"); },
     read_wrapping},
    {"fsdp_config.fsdp_transformer_layer_cls_to_wrap", "", nullptr, only_said},
    {"fsdp_config.fsdp_backward_prefetch", "fsdp_config.fsdp_backward_prefetch_policy", nullptr, read_backward_prefetch},
    {"fsdp_config.fsdp_reshard_after_forward", "",
     [](const ParallelPlan& p) { return written_if(is_by_fsdp(p), truth(p.reshard_after_forward)); }, read_reshard},
    {"fsdp_config.fsdp_sharding_strategy", "", nullptr, read_strategy, true},  // FSDP 1
    {"fsdp_config.fsdp_activation_checkpointing", "",
     [](const ParallelPlan& p) { return written_if(is_by_fsdp(p), truth(p.recompute == Recompute::Full)); },
     [](const Value& v, Draft& d) { d.plan.recompute = v.boolean() ? Recompute::Full : Recompute::None; }},
    {"fsdp_config.fsdp_state_dict_type", "", [](const ParallelPlan& p) { return written_if(is_by_fsdp(p), "SHARDED_STATE_DICT"); },
     word_said<kStateDicts>},
    {"fsdp_config.fsdp_offload_params", "", [](const ParallelPlan& p) { return written_if(is_by_fsdp(p), truth(p.offload_parameters)); },
     [](const Value& v, Draft& d) { d.plan.offload_optimizer = d.plan.offload_parameters = v.boolean(); }},
    {"parallelism_config.parallelism_config_dp_replicate_size", "", [](const ParallelPlan& p) { return fsdp_number(p, p.mesh.replicas); },
     [](const Value& v, Draft& d) { d.replicate = v.degree(); }},
    {"parallelism_config.parallelism_config_dp_shard_size", "",
     [](const ParallelPlan& p) { return fsdp_number(p, p.mesh.data / p.mesh.replicas); },
     [](const Value& v, Draft& d) { d.shard = v.degree(); }},
    {"parallelism_config.parallelism_config_tp_size", "", [](const ParallelPlan& p) { return fsdp_number(p, p.mesh.tensor); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.degree(); }, true},
    {"parallelism_config.parallelism_config_cp_size", "", [](const ParallelPlan& p) { return fsdp_number(p, p.mesh.context); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(); }},
    {"parallelism_config.parallelism_config_sp_size", "", nullptr,  // DeepSpeed's Ulysses
     [](const Value& v, Draft& d) {
       if (v.degree() > 1) d.plan.mesh.context = v.degree(), d.plan.context_algorithm = ContextAlgorithm::AllToAll;
     }},
    {"parallelism_config.parallelism_config_cp_comm_strategy", "",
     [](const ParallelPlan& p) {
       return written_if(is_by_fsdp(p) && p.mesh.context > 1,
                         std::string(kStrategiesOfContext[p.context_algorithm == ContextAlgorithm::AllGather ? 1 : 0]));
     },
     [](const Value& v, Draft& d) { d.plan.context_algorithm = static_cast<ContextAlgorithm>(v.choice(kStrategiesOfContext)); }},
};

void note_the_trainer(const ParallelPlan& plan, Judgement& judgement) {
  judgement.note(
      true, "/workload",
      fmt::format("sequence {}, global batch {} and the optimizer are of the program", plan.workload.sequence, plan.workload.global_batch),
      "set them there; give --sequence and --global-batch on import");
  judgement.note(true, "/microbatch_size", fmt::format("microbatch {} is of the program", plan.microbatch_size),
                 fmt::format("use per_device_train_batch_size={} and gradient_accumulation_steps={}; give --microbatch on import",
                             plan.microbatch_size, plan.num_microbatches()));
  judgement.note(true, "/training", "rates, seed and checkpoints are of the program", "set them there");
  judgement.note(plan.vocabulary_multiple != 128, "/vocabulary_multiple", "the vocabulary is the model's",
                 fmt::format("pad it to a multiple of {}", plan.vocabulary_multiple));
}

void judge_accelerate(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  const bool by_fsdp = is_by_fsdp(plan);
  judgement.refuse(mesh.pipeline > 1, "/mesh/pipeline", fmt::format("{} stages: Accelerate trains without a pipeline", mesh.pipeline),
                   "plan with --fix pipeline=1, or export to Megatron-LM or torchtitan");
  judgement.refuse(mesh.cuts_experts_apart(), "/mesh/expert_tensor", "experts have no degrees there", "plan without expert_tensor");
  judgement.refuse(mesh.expert > 1, "/mesh/expert", fmt::format("experts over {} ranks: there is no such degree", mesh.expert),
                   "plan with --fix expert=1");
  judgement.refuse(plan.sequence_parallel, "/sequence_parallel", "tensor parallel follows the model's tp_plan, which leaves norms whole",
                   "plan with --fix sequence_parallel=false");
  judgement.refuse(
      !by_fsdp && mesh.tensor > 1, "/mesh/tensor",
      fmt::format("tensor {} with stage {} over {} data ranks: tensor degrees need FSDP", mesh.tensor, plan.zero_stage, mesh.data),
      "plan with --fix zero=3");
  judgement.refuse(!by_fsdp && mesh.context > 1, "/mesh/context",
                   fmt::format("context {} with stage {}: context degrees need FSDP", mesh.context, plan.zero_stage),
                   "plan with --fix zero=3");
  judgement.refuse(mesh.context > 1 && plan.head_ranks() > 1, "/context_algorithm",
                   "all_to_all is DeepSpeed's there, which has no context ranks beside FSDP",
                   "plan with --fix context_algorithm=ring or all_gather");
  judgement.refuse(mesh.replicas > 1 && (!by_fsdp || mesh.data % mesh.replicas != 0 || mesh.data == mesh.replicas), "/mesh/replicas",
                   fmt::format("{} replicas of stage {} over {} data ranks", mesh.replicas, plan.zero_stage, mesh.data),
                   "plan with --fix replicas=1, or zero=3 and replicas that divide the data degree");
  judgement.refuse(plan.workload.precision.compute() == Precision::Fp64, "/workload/precision", "there is no setting for fp64",
                   "plan with --precision bf16, fp16 or fp32");
  judgement.refuse(plan.offload_optimizer && !plan.offload_parameters && !is_by_deepspeed(plan), "/offload_optimizer",
                   "FSDP offloads parameters with the optimizer, or nothing",
                   "plan with --fix zero=1 or zero=2, or offload_optimizer=false");
  judgement.refuse(!is_plain(plan) && is_sixteen_bit(plan.workload.precision.compute()) &&
                       plan.workload.precision.of(Numbers::Weights) == Precision::Fp32,
                   "/workload/precision", "FSDP and DeepSpeed gather weights of 16 bit there", "plan without weights=fp32");
  note_the_trainer(plan, judgement);
  note_units(plan, judgement);
  note_reshard(plan, judgement);
  judgement.note(plan.workload.precision.compute() == Precision::Tf32, "/workload/precision", "tf32 is of the program",
                 "set torch.backends.cuda.matmul.allow_tf32");
  judgement.refuse(plan.recompute_scope != RecomputeScope{}, "/recompute_scope",
                   fmt::format("\"{}\" is of the program's code, and no file says it", to_text(plan.recompute_scope)),
                   "leave it out of the plan, or export to Megatron-LM");
  judgement.note(plan.recompute == Recompute::Selective || (plan.recompute == Recompute::Full && !by_fsdp), "/recompute",
                 fmt::format("recompute {} is of the program", sim::at(kRecomputeNames, plan.recompute)),
                 plan.recompute == Recompute::Full ? "use gradient_checkpointing=True"
                                                   : "a fused attention kernel needs none; otherwise use recompute=full");
  judgement.note(reduces_in_fp32(plan), "/workload/precision", "gradients are reduced in the mixed precision",
                 "change reduce_dtype in the program");
  judgement.note(is_plain(plan) && plan.bucket_size != Bytes(25 << 20), "/bucket_size", "PyTorch's buckets have 25 MiB",
                 "use DistributedDataParallelKwargs(bucket_cap_mb=...)");
  judgement.note(is_by_deepspeed(plan), "/bucket_size", "DeepSpeed's buckets have 500 million elements",
                 "give a deepspeed_config_file: export to deepspeed");
  judgement.note(plan.zero_stage == 3 && mesh.copies() == 1, "/zero_stage", "one rank has nothing to share", "nothing to do");
  judgement.note(plan.prefetch != 1, "/prefetch", "FSDP 2 gathers one unit ahead", "nothing to do");
  const bool several = plan.num_microbatches() > 1, each = plan.zero_stage == 2;
  judgement.note(several && each != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
                 each ? "DeepSpeed reduces gradients with every microbatch" : "gradients are reduced with the last microbatch there",
                 "simulate the plan imported again");
}

std::vector<RecipeFile> accelerate_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan&) {
  return {{std::string(kAccelerate.file), yaml_text(head, settings)}};
}

constexpr LostSetting kLostOfAccelerate[] = {
    {"fp8_config.*", "how products in 8 bit are cast; in the plan as the backend usually does"},
    {"dynamo_config.dynamo_backend dynamo_backend", "compiled kernels"},
    {"ipex_config.ipex ipex_config.use_xpu use_xpu tpu_* megatron_lm_config.*", "another machine or program"},
    {"fsdp_config.fsdp_min_num_params", "units of so many parameters; the plan gathers block by block"},
    {"fsdp_config.fsdp_cpu_offload", "parameters on the host; the plan has them on the device"},
};
constexpr std::string_view kAccelerateWithoutEffect =
    "use_cpu debug downcast_bf16 enable_cpu_affinity main_process_ip main_process_port main_training_function rdzv_backend same_network "
    "gpu_ids command_file commands "
    "tpu_env tpu_use_cluster tpu_use_sudo deepspeed_config.zero3_save_16bit_model deepspeed_config.deepspeed_multinode_launcher "
    "deepspeed_config.deepspeed_hostfile "
    "deepspeed_config.offload_*_nvme_path deepspeed_config.offload_optimizer_nvme_path deepspeed_config.offload_param_nvme_path "
    "deepspeed_config.deepspeed_moe_layer_cls_names deepspeed_config.deepspeed_exclusion_filter "
    "deepspeed_config.deepspeed_inclusion_filter dynamo_config.* dynamo_config.dynamo_use_fullgraph fsdp_config.fsdp "
    "fsdp_config.fsdp_forward_prefetch "
    "fsdp_config.fsdp_cpu_ram_efficient_loading "
    "fsdp_config.fsdp_sync_module_states fsdp_config.fsdp_use_orig_params "
    "ipex_config.* mpirun_config.* log_with "
    "parallelism_config.parallelism_config_sp_backend parallelism_config.parallelism_config_sp_seq_length* ";

// A script that writes its file starts another program with it, whose options are read.
bool is_script(const std::string& text) { return !begins_as_yaml(text) && text.find(" --") != std::string::npos && !text.starts_with("{"); }

// Its launcher puts the prefix in front of names that lack it (accelerate/commands/launch.py, _validate_launch_command).
void prefix_as_its_launcher(RecipeSetting& setting) {
  constexpr std::string_view kSection = "fsdp_config.";
  if (!setting.key.starts_with(kSection) || setting.key.substr(kSection.size()).starts_with("fsdp")) return;
  setting.written = setting.key;
  setting.key.insert(kSection.size(), "fsdp_");
}

// FSDP's section counts where that is what distributed_type asks for (accelerate/commands/launch.py).
void leave_unused_section(RecipeReading& reading) {
  const RecipeSetting* const kind = first_named("distributed_type", reading.settings);
  if (kind != nullptr && kind->value == "FSDP") return;
  const std::string problem = kind == nullptr ? "stands without a distributed_type, which would ask for it: it is not read"
                                              : "stands beside distributed_type " + kind->value + ", which does not use it: it is not read";
  if (std::erase_if(reading.settings, [](const RecipeSetting& one) { return one.key.starts_with("fsdp_config.fsdp_"); }) > 0)
    reading.unknown.push_back({"fsdp_config", problem, "write distributed_type: FSDP, if that is meant"});
}

// A DeepSpeed configuration beside the file says more than the file: its settings stand under their own names.
RecipeReading accelerate_settings(const RecipeSource& source) {
  if (is_script(source.text)) return read_shell(source.text, source.path, source.given, {});
  RecipeReading reading{read_yaml(source.text, source.path), {}, source.documents};
  for (RecipeSetting& one : reading.settings) prefix_as_its_launcher(one);
  leave_unused_section(reading);
  const auto named = std::find_if(reading.settings.begin(), reading.settings.end(),
                                  [](const RecipeSetting& one) { return one.key == "deepspeed_config.deepspeed_config_file"; });
  if (named == reading.settings.end() || !is_on(named->value)) return reading;
  for (RecipeSetting& setting : read_json(text_beside(source, reading, *named), named->value))
    reading.settings.push_back({"file." + setting.key, setting.value});
  return reading;
}

// Read by DeepSpeed's own rows.
void read_of_deepspeed(Draft& draft) {
  RecipeSettings settings;
  for (const auto& [key, value] : draft.said)
    if (key.starts_with("file.")) settings.push_back({key.substr(5), value});
  if (settings.empty()) return;
  std::erase_if(draft.unknown, [](const Violation& one) { return one.where.starts_with("file."); });
  draft.plan.training = kDeepSpeed.training;
  read_settings(kDeepSpeed, filled_by_accelerate(std::move(settings), draft), draft);
  kDeepSpeed.settle(draft);
  draft.reduces_each = draft.plan.zero_stage >= 2;
}

// Without a kind of distribution its launcher starts the program once, whatever num_processes says.
void settle_processes(Draft& draft) {
  if (text_of(draft, "distributed_type", "") != "NO" || draft.processes.value_or(1) == 1) return;
  draft.notes.push_back({"num_processes", fmt::format("is {}, and distributed_type NO starts one process", *draft.processes),
                         "write MULTI_GPU, if several are meant"});
  draft.processes = 1;
}

// gpu_ids: "0,1,2": each process has one of them.
void judge_listed_devices(Draft& draft) {
  const std::string list = text_of(draft, "gpu_ids", "all");
  const auto listed = static_cast<std::int64_t>(std::ranges::count(list, ',')) + 1;
  const std::int64_t machines = static_cast<std::int64_t>(number_of(draft, "num_machines", 1));
  if (list == "all" || !draft.processes || machines != 1 || listed >= *draft.processes) return;
  draft.wrong.push_back(
      {"gpu_ids", fmt::format("lists {}, and num_processes is {}", counted(listed, "device"), *draft.processes), "correct one of them"});
}

PrecisionPolicy cast_from_fp32(const PrecisionPolicy& policy) { return policy.as_it_follows().with(Numbers::Weights, Precision::Fp32); }
bool says_weights_in_fp32(const PrecisionPolicy& policy) { return is_sixteen_bit(policy.compute()) && policy == cast_from_fp32(policy); }

// DeepSpeed's own, which Accelerate leaves as they are.
void settle_defaults_of_deepspeed(Draft& draft) {
  draft.shard.reset(), draft.replicate.reset();
  draft.bucket_elements = draft.bucket_elements.value_or(kBucketOfDeepSpeed);
  const bool has_file = said(draft, "deepspeed_config.deepspeed_config_file") != nullptr;
  if (draft.plan.zero_stage == 3 && !has_file && !draft.plan.offload_parameters) draft.plan.persistence_threshold = 100'000;
}

// Where neither the file nor one of DeepSpeed's says it.
void settle_stage_of_deepspeed(Draft& draft) {
  const bool says_stage = draft.said.contains("deepspeed_config.zero_stage");
  if (text_of(draft, "distributed_type", "") != "DEEPSPEED" || says_stage || said(draft, "deepspeed_config.deepspeed_config_file")) return;
  take_stage_of_accelerate(draft, "deepspeed_config.zero_stage");
  draft.reduces_each = true;
}

void settle_accelerate(Draft& draft) {
  settle_processes(draft);
  judge_listed_devices(draft);
  settle_stage_of_deepspeed(draft);
  read_of_deepspeed(draft);
  if (draft.reduces_each) settle_engine_of_deepspeed(draft);
  draft.plan.workload.precision = products_of(draft, draft.precision.value_or(Precision::Fp32), ScaleRecipe::Delayed);
  if (draft.reduces_each && draft.plan.mesh.context > 1)  // DeepSpeed's seq_parallel_communication_data_type
    draft.plan.workload.precision = draft.plan.workload.precision.with(Numbers::Wire, Precision::Fp32);
  settle_unit_of_accelerate(draft);
  if (draft.reduces_each) settle_defaults_of_deepspeed(draft);
  const bool is_copied = !draft.reduces_each && !draft.shard && !draft.replicate;
  if (!is_copied || !is_sixteen_bit(draft.plan.workload.precision.compute()) || draft.scales_products) return;
  draft.plan.workload.precision = cast_from_fp32(draft.plan.workload.precision);
  draft.notes.push_back({"mixed_precision", "casts weights that stay in fp32, whose gradients cross in fp32: the plan's, too",
                         "plan without weights=fp32, where they are loaded in 16 bit"});
}

// Gradients are reduced in the type of the products; DeepSpeed's buckets have 500 million of them, PyTorch's 25 MiB; FSDP 2 gathers ahead.
void accelerate_habits(ParallelPlan& plan) {
  plan.workload.precision = plan.workload.precision.as_it_follows();
  if (is_plain(plan) && is_sixteen_bit(plan.workload.precision.compute()) && !plan.workload.precision.scales() && !plan.model.adapters)
    plan.workload.precision = cast_from_fp32(plan.workload.precision);
  plan.bucket_size = is_by_deepspeed(plan) ? plan.bytes(Numbers::Gradients) * kBucketOfDeepSpeed : Bytes(25 << 20);
  plan.prefetch = 1;
  plan.vocabulary_multiple = 128;
}

}  // namespace

const Program kAccelerate = {.name = "accelerate",
                             .title = "Accelerate",
                             .version = "1.15.0",
                             .file = "accelerate.yaml",
                             .marks = "distributed_type: distributed_type\": compute_environment:",
                             .fields = kAccelerateFields,
                             .judge = judge_accelerate,
                             .files = accelerate_files,
                             .settings = accelerate_settings,
                             .settle = settle_accelerate,
                             .lost = kLostOfAccelerate,
                             .without_effect = kAccelerateWithoutEffect,
                             .software = "accelerate",
                             .trained_by = "the script that it starts, as by PEFT",
                             .habits = accelerate_habits,
                             .says_types = says_weights_in_fp32};

}  // namespace sim
