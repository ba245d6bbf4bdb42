// PyTorch Lightning: the YAML of LightningCLI, its trainer and its optimizer. The strategy is by the plan: DDP, FSDP for stage 3, DeepSpeed for stages 1
// and 2, ModelParallelStrategy (FSDP 2) for tensor degrees; FairScale's sharded DDP of Lightning 1 is read. Network, data and sequence are of the program.
// Facts: pytorch/strategies/{ddp,fsdp,deepspeed,model_parallel,sharded}.py, plugins/precision/{amp,fsdp,half}.py (Lightning-AI/pytorch-lightning).
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accounting.h"
#include "sim/recipe/lightning.h"
#include "sim/recipe/program.h"
#include "sim/recipe/said_values.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kDeepSpeedBucket = 200'000'000;  // elements, as its strategy sets them; DeepSpeed's own default is 500 million
constexpr std::string_view kStrategyClasses = "lightning.pytorch.strategies.";

enum class Trained : std::uint8_t { Plain, Fsdp, DeepSpeed, ModelParallel, Sharded };
struct Strategy {
  std::string_view names;  // as the trainer takes them, and the class
  Trained kind = Trained::Plain;
  std::int32_t stage = 0;
  bool host_optimizer = false, host_weights = false, drives = false;
};
constexpr Strategy kKnown[] = {
    {"auto single_device SingleDeviceStrategy ddp ddp_spawn ddp_fork ddp_notebook ddp_find_unused_parameters_true "
     "ddp_find_unused_parameters_false ddp_spawn_find_unused_parameters_true ddp_spawn_find_unused_parameters_false DDPStrategy"},
    {"fsdp fsdp_native FSDPStrategy DDPFullyShardedNativeStrategy", Trained::Fsdp, 3},
    {"fsdp_cpu_offload fsdp_native_full_shard_offload", Trained::Fsdp, 3, true, true},
    {"deepspeed deepspeed_stage_2 DeepSpeedStrategy", Trained::DeepSpeed, 2},
    {"deepspeed_stage_1", Trained::DeepSpeed, 1},
    {"deepspeed_stage_1_offload", Trained::DeepSpeed, 1, true},
    {"deepspeed_stage_2_offload", Trained::DeepSpeed, 2, true},
    {"deepspeed_stage_3", Trained::DeepSpeed, 3},
    {"deepspeed_stage_3_offload", Trained::DeepSpeed, 3, true, true},
    {"deepspeed_stage_3_offload_nvme", Trained::DeepSpeed, 3, true, true, true},
    {"ModelParallelStrategy", Trained::ModelParallel, 3},
    {"ddp_sharded ddp_sharded_spawn ddp_sharded_find_unused_parameters_false DDPShardedStrategy", Trained::Sharded, 2},
};

Trained kind_of(const ParallelPlan& plan) {
  if (plan.mesh.tensor > 1) return Trained::ModelParallel;
  return plan.zero_stage == 3 ? Trained::Fsdp : plan.zero_stage > 0 ? Trained::DeepSpeed : Trained::Plain;
}

std::string class_of(const ParallelPlan& plan) {
  switch (kind_of(plan)) {
    case Trained::Fsdp: return std::string(kStrategyClasses) + "FSDPStrategy";
    case Trained::DeepSpeed: return std::string(kStrategyClasses) + "DeepSpeedStrategy";
    case Trained::ModelParallel: return std::string(kStrategyClasses) + "ModelParallelStrategy";
    default: return std::string(kStrategyClasses) + (plan.mesh.ranks() > 1 ? "DDPStrategy" : "SingleDeviceStrategy");
  }
}

// Under `mixed`, autocast casts what stays in fp32: weights, their gradients and the optimizer's numbers; FSDP sums gradients in 16 bit, DeepSpeed keeps
// 16-bit weights beside its masters. `true` has one type for all.
PrecisionPolicy trained_in(Precision compute, bool in_one_type, Trained kind) {
  PrecisionPolicy policy(compute);
  if (!is_sixteen_bit(compute)) return policy;
  if (in_one_type) return policy.with(Numbers::Masters, compute).with(Numbers::Moments, compute);
  if (kind == Trained::DeepSpeed) return policy;
  PrecisionPolicy cast = policy.with(Numbers::Weights, Precision::Fp32);
  return kind == Trained::Fsdp ? cast.with(Numbers::Wire, compute) : cast;
}
bool is_in_one_type(const PrecisionPolicy& policy) { return policy.of(Numbers::Masters) == policy.compute(); }

struct TrainerPrecision {
  std::string_view names;  // the first is written
  Precision compute;
  bool in_one_type;
};
constexpr TrainerPrecision kTrainerPrecisions[] = {
    {"32-true 32", Precision::Fp32, true},         {"64-true 64", Precision::Fp64, true},
    {"bf16-mixed bf16", Precision::Bf16, false},   {"16-mixed 16", Precision::Fp16, false},
    {"bf16-true", Precision::Bf16, true},          {"16-true", Precision::Fp16, true},
    {"transformer-engine", Precision::Bf16, true}, {"transformer-engine-float16", Precision::Fp16, true}};

const TrainerPrecision* trainer_precision(std::string_view name) {
  const auto row = std::ranges::find_if(kTrainerPrecisions, [&](const TrainerPrecision& one) { return has_name(one.names, name); });
  return row == std::end(kTrainerPrecisions) ? nullptr : &*row;
}

Written precision_written(const ParallelPlan& plan) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const Precision compute = policy.compute() == Precision::Tf32 ? Precision::Fp32 : policy.compute();
  const auto row = std::ranges::find_if(kTrainerPrecisions, [&](const TrainerPrecision& named) {
    return named.compute == compute && named.in_one_type == (is_in_one_type(policy) || !is_sixteen_bit(compute));
  });
  return words_of(row->names).front();
}

Written for_kind(const ParallelPlan& p, Trained kind, std::string value) { return written_if(kind_of(p) == kind, std::move(value)); }

void read_named_precision(const Value& v, Draft& d) {
  if (trainer_precision(v.text()) == nullptr)
    return v.wrong(fmt::format("is '{}', which no plan says", v.text()), "use bf16-mixed, or 32-true");
  d.scales_products = v.text().starts_with("transformer-engine");
}

void read_class_of_optimizer(const Value& v, Draft& d) {
  constexpr std::pair<std::string_view, OptimizerKind> kNames[] = {{"Adam", OptimizerKind::AdamW},
                                                                   {"AdamW", OptimizerKind::AdamW},
                                                                   {"FusedAdam", OptimizerKind::AdamW},
                                                                   {"AdamW8bit", OptimizerKind::AdamW8bit},
                                                                   {"SGD", OptimizerKind::Sgd},
                                                                   {"DeepSpeedCPUAdam", OptimizerKind::AdamW},
                                                                   {"PagedAdamW", OptimizerKind::AdamW},
                                                                   {"PagedAdamW32bit", OptimizerKind::AdamW},
                                                                   {"PagedAdamW8bit", OptimizerKind::AdamW8bit}};
  const std::string name = leaf_of(v.text());
  d.plan.paged_optimizer = name.starts_with("Paged");
  for (const auto& [known, kind] : kNames)
    if (name == known) return static_cast<void>(d.plan.workload.optimizer = kind);
  v.lost(fmt::format("is {}, which no plan has: its states may be of another size", v.text()), "mind memory");
}

Written sharding_written(const ParallelPlan& p) {
  const bool whole = p.mesh.replicas == 1;
  return for_kind(p, Trained::Fsdp,
                  p.reshard_after_forward ? (whole ? "FULL_SHARD" : "HYBRID_SHARD") : (whole ? "SHARD_GRAD_OP" : "_HYBRID_SHARD_ZERO2"));
}

constexpr std::string_view kAccelerators[] = {"gpu", "cuda", "auto", "cpu", "tpu", "hpu", "mps"};

constexpr Field kLightningFields[] = {
    {"seed_everything", "", [](const ParallelPlan& p) { return written(static_cast<std::int64_t>(p.training.seed)); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text()) && v.text() != "true") d.plan.training.seed = static_cast<std::uint64_t>(std::max<std::int64_t>(0, v.integer()));
     }},
    {"trainer.accelerator", "", [](const ParallelPlan&) { return Written("gpu"); }, word_said<kAccelerators>},
    {"trainer.devices", "trainer.gpus", [](const ParallelPlan& p) { return written(p.cluster.devices_per_host()); }, runs_said, true},
    {"trainer.num_nodes", "", [](const ParallelPlan& p) { return written(p.cluster.hosts()); }, number_said},
    {"trainer.strategy.class_path", "trainer.strategy", [](const ParallelPlan& p) { return Written(class_of(p)); }, only_said, true},
    {"trainer.strategy.init_args.bucket_cap_mb", "",
     [](const ParallelPlan& p) {
       return written_if(kind_of(p) == Trained::Plain && p.mesh.ranks() > 1,
                         fmt::format("{}", std::max<std::int64_t>(1, p.bucket_size.value() >> 20)));
     },
     [](const Value& v, Draft& d) { d.plan.bucket_size = Bytes(std::clamp<std::int64_t>(v.count(), 1, 1 << 20) << 20); }},
    {"trainer.strategy.init_args.sharding_strategy", "", sharding_written,
     [](const Value& v, Draft&) {
       constexpr std::string_view kNames[] = {"FULL_SHARD", "SHARD_GRAD_OP", "HYBRID_SHARD", "_HYBRID_SHARD_ZERO2", "NO_SHARD"};
       v.choice(kNames);
     }},
    {"trainer.strategy.init_args.cpu_offload", "",
     [](const ParallelPlan& p) { return for_kind(p, Trained::Fsdp, fmt::format("{}", p.offload_parameters)); },
     [](const Value& v, Draft& d) { d.plan.offload_parameters = d.plan.offload_optimizer = v.boolean(); }},
    {"trainer.strategy.init_args.stage", "",
     [](const ParallelPlan& p) { return for_kind(p, Trained::DeepSpeed, std::to_string(p.zero_stage)); }, number_said},
    {"trainer.strategy.init_args.offload_optimizer", "",
     [](const ParallelPlan& p) { return for_kind(p, Trained::DeepSpeed, fmt::format("{}", p.offload_optimizer)); },
     [](const Value& v, Draft& d) { d.plan.offload_optimizer = v.boolean(); }},
    {"trainer.strategy.init_args.offload_parameters", "", nullptr,
     [](const Value& v, Draft& d) { d.plan.offload_parameters = v.boolean(); }},
    {"trainer.strategy.init_args.offload_optimizer_device", "", nullptr,
     [](const Value& v, Draft& d) { read_place(v, d, OnDrive::Optimizer); }},
    {"trainer.strategy.init_args.offload_params_device", "", nullptr, [](const Value& v, Draft& d) { read_place(v, d, OnDrive::Weights); }},
    {"trainer.strategy.init_args.reduce_bucket_size", "",
     [](const ParallelPlan& p) { return for_kind(p, Trained::DeepSpeed, std::to_string(elements_of_bucket(p))); },
     [](const Value& v, Draft& d) { d.bucket_elements = v.count(); }},
    {"trainer.strategy.init_args.data_parallel_size", "",
     [](const ParallelPlan& p) { return for_kind(p, Trained::ModelParallel, std::to_string(p.mesh.data)); },
     [](const Value& v, Draft& d) {
       if (v.text() != "auto") d.shard = v.degree();
     }},
    {"trainer.strategy.init_args.tensor_parallel_size", "",
     [](const ParallelPlan& p) { return for_kind(p, Trained::ModelParallel, std::to_string(p.mesh.tensor)); },
     [](const Value& v, Draft& d) {
       if (v.text() != "auto") d.plan.mesh.tensor = v.degree();
     },
     true},
    {"trainer.strategy.init_args.activation_checkpointing_policy", "trainer.strategy.init_args.activation_checkpointing", nullptr,
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.plan.recompute = Recompute::Full;
     }},
    {"trainer.strategy.init_args.auto_wrap_policy", "", nullptr, only_said},
    {"trainer.precision", "", precision_written, read_named_precision},
    {"trainer.accumulate_grad_batches", "", [](const ParallelPlan& p) { return written(p.num_microbatches()); },
     [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }},
    {"trainer.gradient_clip_val", "", [](const ParallelPlan& p) { return written_number(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = is_on(v.text()) ? v.number() : 0; }},
    {"trainer.gradient_clip_algorithm", "", nullptr,
     [](const Value& v, Draft&) {
       constexpr std::string_view kNames[] = {"norm", "value"};
       tell_other_word(v, kNames);
       if (v.text() == "value") v.lost("clips each number by itself; the plan clips by the norm of all", "mind time: a norm is summed");
     }},
    {"data.init_args.batch_size", "data.batch_size data.init_args.train_batch_size data.train_batch_size", nullptr,
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }},
    {"optimizer.class_path", "optimizer",
     [](const ParallelPlan& p) { return Written(p.workload.optimizer == OptimizerKind::Sgd ? "torch.optim.SGD" : "torch.optim.AdamW"); },
     read_class_of_optimizer},
    {"optimizer.init_args.lr", "", [](const ParallelPlan& p) { return written_number(p.training.learning_rate); },
     [](const Value& v, Draft& d) { d.plan.training.learning_rate = v.number(); }},
    {"optimizer.init_args.weight_decay", "", [](const ParallelPlan& p) { return written_number(p.training.weight_decay); },
     [](const Value& v, Draft& d) { d.plan.training.weight_decay = v.number(); }},
    {"optimizer.init_args.betas", "",
     [](const ParallelPlan& p) {
       return written_if(p.workload.optimizer != OptimizerKind::Sgd, fmt::format("[{}, {}]", p.training.beta1, p.training.beta2));
     },
     read_pair_of_betas},
    {"optimizer.init_args.eps", "",
     [](const ParallelPlan& p) { return written_if(p.workload.optimizer != OptimizerKind::Sgd, fmt::format("{}", p.training.epsilon)); },
     [](const Value& v, Draft& d) { d.plan.training.epsilon = v.number(); }},
    {"optimizer.init_args.momentum", "",
     [](const ParallelPlan& p) { return written_if(p.workload.optimizer == OptimizerKind::Sgd, fmt::format("{}", p.training.momentum)); },
     [](const Value& v, Draft& d) { d.plan.training.momentum = v.number(1); }},
};

constexpr LostSetting kLightningLost[] = {
    {"trainer.strategy.init_args.config", "a configuration of DeepSpeed's own: import that file"},
    {"trainer.strategy.init_args.ddp_comm_hook", "gradients that are encoded on their way"},
    {"trainer.strategy.init_args.gradient_as_bucket_view", "gradients stay in their buckets: one copy of them less than the plan has"},
    {"trainer.strategy.init_args.find_unused_parameters", "the host looks for unused weights before each backward: a little time"},
    {"trainer.strategy.init_args.model_averaging_period", "steps that ranks take alone; the plan's all meet"},
    {"trainer.strategy.init_args.mixed_precision trainer.plugins", "types of their own; the plan has those of the precision"},
    {"trainer.strategy.init_args.device_mesh", "ranks that share one copy of the weights; the plan has those of a node"},
    {"trainer.deterministic", "deterministic kernels are slower than the plan's"},
    {"trainer.strategy.init_args.process_group_backend", "messages by another library; the plan's are NCCL's", "but nccl"},
    {"trainer.sync_batchnorm trainer.detect_anomaly trainer.profiler", "exchanges and waits that the plan's network has not"},
    {"trainer.overfit_batches trainer.limit_train_batches", "fewer steps, of the same time"},
    {"optimizer.init_args.*", "a setting of the optimizer that no plan has"},
    {"model.*", "the network is of the program's code; the plan has the one that is given"},
};
constexpr std::string_view kLightningWithoutEffect =
    "trainer.logger trainer.logger.* trainer.callbacks trainer.callbacks.* trainer.max_* trainer.min_* trainer.val_check_interval "
    "trainer.check_val_every_n_epoch trainer.limit_val_batches trainer.limit_test_batches trainer.limit_predict_batches "
    "trainer.fast_dev_run "
    "trainer.num_sanity_val_steps trainer.log_every_n_steps trainer.enable_* trainer.benchmark "
    "trainer.inference_mode "
    "trainer.use_distributed_sampler trainer.reload_dataloaders_every_n_epochs trainer.default_root_dir trainer.barebones "
    "trainer.model_registry trainer.strategy.init_args.state_dict_type trainer.strategy.init_args.save_distributed_checkpoint "
    "trainer.strategy.init_args.timeout "
    "trainer.strategy.init_args.static_graph trainer.strategy.init_args.start_method "
    "trainer.strategy.init_args.allgather_bucket_size trainer.strategy.init_args.logging_* trainer.strategy.init_args.use_orig_params "
    "lr_scheduler lr_scheduler.* ckpt_path weights_only data data.* config fit.* verbosity";

// Behind the last dot of the class, or the trainer's short name.
const Strategy* strategy_of(const Draft& draft) {
  const std::string name = text_of(draft, "trainer.strategy.class_path", "auto");
  const auto row = std::ranges::find_if(kKnown, [&](const Strategy& one) { return has_name(one.names, leaf_of(name)); });
  return row == std::end(kKnown) ? nullptr : &*row;
}

void settle_native_fsdp(Draft& draft) {
  const std::string how = text_of(draft, "trainer.strategy.init_args.sharding_strategy", "FULL_SHARD");
  draft.shard = how == "NO_SHARD" ? 1 : -1;
  draft.plan.reshard_after_forward = how == "FULL_SHARD" || how == "HYBRID_SHARD";
  if (how.find("HYBRID") != std::string::npos) draft.replicate = draft.plan.cluster.nodes();
  draft.reduces_each = true;  // its trainer leaves no_sync to DDP
  if (said(draft, "trainer.strategy.init_args.auto_wrap_policy") == nullptr)
    draft.notes.push_back(
        {"trainer.strategy",
         "names no auto_wrap_policy: where configure_model wraps nothing the network is one unit; the plan gathers block by block",
         "give auto_wrap_policy, or --fix layers_per_unit"});
}

// "auto": tensor ranks within a node, data ranks over nodes.
void settle_model_parallel(Draft& draft) {
  if (text_of(draft, "trainer.strategy.init_args.tensor_parallel_size", "auto") == "auto")
    draft.plan.mesh.tensor = draft.plan.cluster.devices_per_node();
  if (!draft.shard) draft.shard = draft.plan.cluster.nodes();
  draft.reduces_each = true;
}

// OSS and ShardedDataParallel: gradients to the owner of the tensor, which broadcasts what it stepped.
void settle_sharded(Draft& draft) {
  draft.plan.zero_stage = 2;
  draft.plan.state_shards = StateShards::Tensors;
  draft.plan.weight_sync = WeightSync::Broadcast;
}

void settle_strategy(Draft& draft, const Strategy& strategy) {
  if (strategy.host_optimizer) draft.plan.offload_optimizer = true;
  if (strategy.host_weights) draft.plan.offload_parameters = true;
  if (strategy.drives) draft.plan.on_drive = OnDrive::Both;
  switch (strategy.kind) {
    case Trained::Plain: return;
    case Trained::Fsdp: return settle_native_fsdp(draft);
    case Trained::ModelParallel: return settle_model_parallel(draft);
    case Trained::Sharded: return settle_sharded(draft);
    case Trained::DeepSpeed:
      draft.plan.zero_stage =
          static_cast<std::int32_t>(std::clamp(number_of(draft, "trainer.strategy.init_args.stage", strategy.stage), 0.0, 3.0));
      draft.reduces_each = draft.plan.zero_stage >= 2;
      settle_drives(draft);
      draft.bucket_elements = draft.bucket_elements.value_or(kDeepSpeedBucket);
  }
}

// "auto" and -1: all of a node.
void settle_devices(Draft& draft) {
  const std::string devices = text_of(draft, "trainer.devices", "auto");
  const double nodes = number_of(draft, "trainer.num_nodes", 1);
  if (devices == "auto" || devices == "-1") return;
  const bool is_list = devices.starts_with("[");
  const auto listed = static_cast<double>(std::ranges::count(devices, ',') + 1);
  const double count = is_list ? listed : number_of(draft, "trainer.devices", 1);
  draft.processes = static_cast<std::int64_t>(std::clamp(count * nodes, 1.0, 1e6));
}

// "[{class_path: a.B, init_args: {...}}, ...]", or one alone.
std::vector<std::string> callbacks_of(const Draft& draft) {
  constexpr std::string_view kClass = "class_path: ";
  std::vector<std::string> found;
  if (const std::string alone = text_of(draft, "trainer.callbacks.class_path", ""); !alone.empty()) found.push_back(alone);
  const std::string text = text_of(draft, "trainer.callbacks", "");
  for (std::size_t at = text.find(kClass); at != std::string::npos; at = text.find(kClass, at + 1)) {
    const std::size_t begin = at + kClass.size();
    found.push_back(text.substr(begin, text.find_first_of(",}]", begin) - begin));
  }
  return found;
}

// Some callbacks change the batch, the accumulation or what stays in memory.
void tell_other_callbacks(Draft& draft) {
  constexpr std::string_view kIdle =
      "ModelCheckpoint LearningRateMonitor TQDMProgressBar RichProgressBar ProgressBar EarlyStopping Timer ModelSummary RichModelSummary "
      "ThroughputMonitor DeviceStatsMonitor OnExceptionCheckpoint LambdaCallback";
  for (const std::string& name : callbacks_of(draft))
    if (!has_name(kIdle, leaf_of(name)))
      draft.unknown.push_back({"trainer.callbacks",
                               fmt::format("'{}' is not known; it might change batch, accumulation or memory", shown(name)),
                               "see what it does"});
}

void settle_lightning(Draft& draft) {
  tell_other_callbacks(draft);
  const Strategy* strategy = strategy_of(draft);
  if (strategy == nullptr) {
    const std::string name = text_of(draft, "trainer.strategy.class_path", "auto");
    return draft.wrong.push_back(
        {"trainer.strategy", fmt::format("is {}: no plan is for it", name), "use DDP, FSDP, DeepSpeed or ModelParallelStrategy"});
  }
  if (text_of(draft, "trainer.strategy.class_path", "auto").ends_with("unused_parameters_true"))
    draft.lost.push_back({"trainer.strategy", "the host looks for unused weights before each backward", "mind a little time"});
  settle_devices(draft);
  settle_strategy(draft, *strategy);
  if (!draft.accumulation_steps) draft.accumulation_steps = 1;
  const TrainerPrecision* const precision = trainer_precision(text_of(draft, "trainer.precision", "32-true"));
  if (precision == nullptr) return;  // told
  PrecisionPolicy policy = trained_in(precision->compute, precision->in_one_type, strategy->kind);
  if (draft.scales_products) policy = policy.with(ScaleRecipe::Delayed, false);
  draft.plan.workload.precision = policy;
}

void judge_mesh_of_lightning(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  for (const auto& [name, degree] : {std::pair{"pipeline", mesh.pipeline}, {"context", mesh.context}, {"expert", mesh.expert}})
    judgement.refuse(degree > 1, fmt::format("/mesh/{}", name),
                     fmt::format("{} {}: none of its strategies has such a degree", name, degree),
                     fmt::format("plan with --fix {}=1, or export to another program", name));
  judgement.refuse(mesh.cuts_experts_apart(), "/mesh/expert_tensor", "experts have no degrees there", "plan without expert_tensor");
  judgement.refuse(mesh.tensor > 1 && plan.zero_stage != 3 && mesh.data > 1, "/mesh/tensor",
                   fmt::format("tensor {} with stage {}: ModelParallelStrategy shards data ranks by FSDP 2", mesh.tensor, plan.zero_stage),
                   "plan with --fix zero=3");
  judgement.refuse(mesh.replicas > 1 && (kind_of(plan) != Trained::Fsdp || mesh.replicas != plan.cluster.nodes()), "/mesh/replicas",
                   fmt::format("{} replicas: its HYBRID_SHARD has one a node", mesh.replicas), "plan with --fix replicas=1");
}

void judge_lightning(const ParallelPlan& plan, Judgement& judgement) {
  judge_mesh_of_lightning(plan, judgement);
  const PrecisionPolicy& policy = plan.workload.precision;
  const Trained kind = kind_of(plan);
  const bool several = plan.num_microbatches() > 1, each = kind != Trained::Plain && !(kind == Trained::DeepSpeed && plan.zero_stage == 1);
  judgement.note(
      true, "/workload",
      fmt::format("sequence {} and global batch {} are of the program's data", plan.workload.sequence, plan.workload.global_batch),
      fmt::format("load batches of {}; give --sequence and --microbatch on import", plan.microbatch_size));
  judgement.note(kind == Trained::Fsdp, "/zero_stage", "no file says which blocks are wrapped",
                 "give auto_wrap_policy the class of your block");
  judgement.note(kind == Trained::ModelParallel, "/mesh/tensor", "the layers that are cut are of configure_model",
                 "cut them there with parallelize_module");
  judgement.note(several && each != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
                 each ? "gradients are reduced with every microbatch there" : "gradients are reduced with the last microbatch there",
                 "simulate the plan imported again");
  judgement.note(policy.compute() == Precision::Tf32, "/workload/precision", "tf32 is of the program",
                 "call torch.set_float32_matmul_precision(\"high\")");
  const PrecisionPolicy kept = trained_in(policy.compute(), is_in_one_type(policy), kind);
  judgement.note(policy != kept, "/workload/precision", fmt::format("numbers are kept as \"{}\" there", to_text(kept)),
                 "simulate the plan imported again");
  judgement.note(policy != kept && kind == Trained::DeepSpeed, "/bucket_size", "buckets count gradients, of another type there",
                 "simulate the plan imported again");
  judgement.refuse(plan.sequence_parallel, "/sequence_parallel", "is of configure_model there", "plan with --fix sequence_parallel=false");
  judgement.refuse(plan.offload_optimizer != plan.offload_parameters && kind != Trained::DeepSpeed, "/offload_optimizer",
                   "FSDP offloads parameters with the optimizer, or nothing", "plan with --fix offload_optimizer=false");
  judgement.refuse(plan.offload_parameters && kind != Trained::Fsdp, "/offload_parameters", "parameters go to the host under FSDP",
                   "plan with --fix zero=3");
  judgement.refuse(plan.recompute_scope != RecomputeScope{}, "/recompute_scope", "is of the program's code, and no file says it",
                   "leave it out of the plan");
  judgement.note(plan.recompute != Recompute::None, "/recompute",
                 fmt::format("recompute {} is of the program", sim::at(kRecomputeNames, plan.recompute)),
                 "give activation_checkpointing_policy the class of your block, or checkpoint it in the program");
  judgement.refuse(kind == Trained::ModelParallel && !plan.reshard_after_forward, "/reshard_after_forward", "is of configure_model there",
                   "plan with --fix reshard=true");
  note_units(plan, judgement);
  note_reshard(plan, judgement);
}

bool says_types(const PrecisionPolicy& policy) {
  constexpr Trained kAll[] = {Trained::Plain, Trained::Fsdp, Trained::DeepSpeed};
  return std::ranges::any_of(kAll, [&](Trained kind) { return policy == trained_in(policy.compute(), is_in_one_type(policy), kind); });
}

void lightning_habits(ParallelPlan& plan) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const Trained kind = kind_of(plan);
  plan.workload.precision = trained_in(policy.compute(), is_in_one_type(policy), kind);
  plan.bucket_size = kind == Trained::DeepSpeed ? plan.bytes(Numbers::Gradients) * kDeepSpeedBucket : Bytes(25 << 20);
  plan.layers_per_unit = 1;
  plan.prefetch = 1;
}

std::vector<RecipeFile> lightning_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan&) {
  return {{std::string(kLightning.file), yaml_text(head, settings)}};
}
// Hydra's _target_ is a class_path, and what stands beside it are its init_args.
void name_strategy(RecipeSettings& settings) {
  constexpr std::string_view kStrategy = "trainer.strategy.";
  if (first_named("trainer.strategy._target_", settings) == nullptr) return;
  for (RecipeSetting& one : settings) {
    if (!one.key.starts_with(kStrategy)) continue;
    const std::string name = one.key.substr(kStrategy.size());
    one.key = std::string(kStrategy) + (name == "_target_" ? "class_path" : "init_args." + name);
  }
}

// Hydra makes the trainer from a file of its own: its arguments stand at the top there.
RecipeReading lightning_settings(const RecipeSource& source) {
  if (begins_as_python(source.text))
    throw InputError(source.path, {{"", "is Python, and what it gives Lightning's Trainer stands in its code",
                                    "give the YAML of its LightningCLI; else meshwright plan --for lightning, with its degrees by --fix"}});
  RecipeSettings settings = read_yaml(source.text, source.path);
  const RecipeSetting* const made = first_named("_target_", settings);
  const bool is_trainer = made != nullptr && leaf_of(made->value) == "Trainer" &&
                          (made->value.starts_with("lightning.") || made->value.starts_with("pytorch_lightning."));
  std::erase_if(settings, [&](const RecipeSetting& one) { return is_trainer && one.key == "_target_"; });
  if (is_trainer)
    for (RecipeSetting& one : settings) one.key = "trainer." + one.key;
  name_strategy(settings);
  return {std::move(settings), {}, {}};
}

}  // namespace

std::optional<PrecisionPolicy> precision_of_lightning(std::string_view name, bool by_fsdp) {
  const TrainerPrecision* const row = trainer_precision(name);
  if (row == nullptr) return std::nullopt;
  return trained_in(row->compute, row->in_one_type, by_fsdp ? Trained::Fsdp : Trained::Plain);
}

const Program kLightning = {.name = "lightning",
                            .title = "Lightning",
                            .version = "2.6.0",
                            .file = "lightning.yaml",
                            .marks = "accumulate_grad_batches: seed_everything: num_sanity_val_steps: lightning.pytorch.strategies",
                            .fields = kLightningFields,
                            .judge = judge_lightning,
                            .files = lightning_files,
                            .settings = lightning_settings,
                            .settle = settle_lightning,
                            .lost = kLightningLost,
                            .without_effect = kLightningWithoutEffect,
                            .training = {.learning_rate = 1e-3, .beta2 = 0.999, .weight_decay = 0.01, .gradient_clip = 0},
                            .software = "fsdp1",
                            .trained_by = "the LightningModule",
                            .habits = lightning_habits,
                            .says_types = says_types};

}  // namespace sim
