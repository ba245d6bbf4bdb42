// DeepSpeed: the configuration file (ds_config.json). Its pipeline is a matter of the program (PipelineModule), so a plan with stages is refused.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/plan/drives.h"
#include "sim/recipe/program.h"
#include "sim/recipe/said_values.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::int64_t kFar = 1'000'000'000'000;  // parameters: never reached, so that weights stay

constexpr std::string_view kPersistence = "zero_optimization.stage3_param_persistence_threshold";
constexpr std::int64_t kUsualPersistence = 100'000;

bool is_stage_three(const ParallelPlan& plan) { return plan.zero_stage == 3; }
bool has_precision(const ParallelPlan& plan, Precision precision) { return plan.workload.precision.compute() == precision; }
Written optimizer_value(const ParallelPlan& plan, bool of_adam, double value) {
  return written_if(of_adam == (plan.workload.optimizer == OptimizerKind::AdamW), fmt::format("{}", value));
}

void read_betas(const Value& value, Draft& draft) {
  double first = 0, second = 0;
  const int read = std::sscanf(value.text().c_str(), " [ %lf , %lf", &first, &second);
  if (read != 2 || !(first >= 0 && first <= 1 && second >= 0 && second <= 1))
    return value.wrong(fmt::format("is '{}', and betas are two shares", value.text()), "write [0.9, 0.95]");
  draft.plan.training.beta1 = first;
  draft.plan.training.beta2 = second;
}

// ZeRO++: int8 for what is gathered, int4 for what is reduced; both are of stage 3.
bool says_codecs(const PrecisionPolicy& policy) { return !policy.gradient_codec() || policy.gradient_codec().codec == Codec::Int4; }

bool is_kept_in_bf16(const PrecisionPolicy& policy) {
  return keeps_all_in_bf16(policy) && policy.of(Numbers::Gradients) == Precision::Bf16 && policy.of(Numbers::Wire) == Precision::Bf16;
}

void read_quantized_gradients(const Value& value, Draft& draft) {
  if (!value.boolean()) return;
  draft.gradient_codec.codec = Codec::Int4;
  value.note(
      "leaves vectors, and tensors that 2 x ranks do not divide, as they are; buckets of a plan always divide, and go encoded as a whole",
      "nothing to do");
}

// Elements: each buffer takes the largest shard of a parameter.
Written buffer_of_weights(const ParallelPlan& plan) {
  if (!plan.has_on_drive(OnDrive::Weights)) return {};
  std::int64_t largest = Drives::kWeightBuffer;
  const ModelGraph model = make_model_graph(plan);
  for (LayerIndex layer{0}; layer <= model.head(); ++layer)
    for (const Parameter& parameter : model.layer(layer).parameters)
      largest = std::max(largest, (parameter.elements() + plan.mesh.shards() - 1) / plan.mesh.shards());
  return written_if(largest > Drives::kWeightBuffer, std::to_string(largest));
}

bool overlaps_reduce(const ParallelPlan& plan) { return plan.cluster.software.name.empty() || plan.cluster.software.overlap_reduce; }

constexpr std::string_view kTypesOfSums[] = {"fp32", "fp16", "bf16"};
constexpr std::string_view kReducedTypes[] = {"fp32", "fp16", "bf16", "bfp16"};
std::string reduced_type(const ParallelPlan& p) {
  return reduces_in_fp32(p) ? "fp32" : has_precision(p, Precision::Bf16) ? "bf16" : "fp16";
}

constexpr std::string_view kNotPinned = "transfers from memory that is not pinned: slower than the plan's";

constexpr Field kDeepSpeedFields[] = {
    {"train_batch_size", "", nullptr,  // not written: it counts ranks of a tensor group apart, which read the same samples
     [](const Value& v, Draft& d) { d.global_batch = v.count(); }, true},
    {"train_micro_batch_size_per_gpu", "", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }, true},
    {"gradient_accumulation_steps", "", [](const ParallelPlan& p) { return written(p.num_microbatches()); },
     [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }, true},
    {"gradient_clipping", "", [](const ParallelPlan& p) { return written_number(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = v.number(); }},
    {"optimizer.type", "", [](const ParallelPlan& p) { return Written(p.workload.optimizer == OptimizerKind::AdamW ? "AdamW" : "SGD"); },
     [](const Value& v, Draft& d) {
       d.plan.workload.optimizer = v.text() == "SGD" ? OptimizerKind::Sgd : OptimizerKind::AdamW;
       if (v.text() != "SGD" && v.text() != "AdamW" && v.text() != "Adam")
         v.lost(fmt::format("is {}: a plan knows AdamW and SGD, and takes AdamW", v.text()), "mind its state's memory and its time");
     }},
    {"optimizer.params.lr", "", [](const ParallelPlan& p) { return written_number(p.training.learning_rate); },
     [](const Value& v, Draft& d) { d.plan.training.learning_rate = v.number(); }},
    {"optimizer.params.betas", "",
     [](const ParallelPlan& p) {
       return written_if(p.workload.optimizer == OptimizerKind::AdamW, fmt::format("[{},{}]", p.training.beta1, p.training.beta2));
     },
     read_betas},
    {"optimizer.params.eps", "", [](const ParallelPlan& p) { return optimizer_value(p, true, p.training.epsilon); },
     [](const Value& v, Draft& d) { d.plan.training.epsilon = v.number(); }},
    {"optimizer.params.momentum", "", [](const ParallelPlan& p) { return optimizer_value(p, false, p.training.momentum); },
     [](const Value& v, Draft& d) { d.plan.training.momentum = v.number(1); }},
    {"optimizer.params.weight_decay", "", [](const ParallelPlan& p) { return written_number(p.training.weight_decay); },
     [](const Value& v, Draft& d) { d.plan.training.weight_decay = v.number(); }},
    {"zero_allow_untested_optimizer", "",
     [](const ParallelPlan& p) { return written_flag(p.zero_stage > 0 && p.workload.optimizer == OptimizerKind::Sgd); }, flag_said},
    {"bf16.enabled", "bfloat16.enabled", [](const ParallelPlan& p) { return written_flag(has_precision(p, Precision::Bf16)); },
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.is_bf16 = true, d.precision = Precision::Bf16;
     }},
    {"bf16.bf16_master_weights_and_grads", "", [](const ParallelPlan& p) { return written_flag(keeps_all_in_bf16(p.workload.precision)); },
     flag_said},
    {"bf16.bf16_optimizer_states", "", [](const ParallelPlan& p) { return written_flag(keeps_all_in_bf16(p.workload.precision)); },
     flag_said},
    {"fp16.enabled", "", [](const ParallelPlan& p) { return written_flag(has_precision(p, Precision::Fp16)); },
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.is_fp16 = true, d.precision = Precision::Fp16;
     }},
    {"fp16.loss_scale", "", [](const ParallelPlan& p) { return written_if(has_precision(p, Precision::Fp16), "0"); },
     number_said},  // 0: it moves
    {"fp16.initial_scale_power", "",
     [](const ParallelPlan& p) {
       return written_if(has_precision(p, Precision::Fp16), fmt::format("{:.0f}", std::log2(p.training.initial_loss_scale)));
     },
     [](const Value& v, Draft& d) { d.plan.training.initial_loss_scale = std::exp2(v.number(100)); }},
    {"fp16.loss_scale_window", "",
     [](const ParallelPlan& p) { return written_if(has_precision(p, Precision::Fp16), std::to_string(p.training.loss_scale_window)); },
     [](const Value& v, Draft& d) { d.plan.training.loss_scale_window = std::clamp<std::int64_t>(v.integer(), 1, 1'000'000'000); }},
    {"data_types.grad_accum_dtype", "",
     [](const ParallelPlan& p) {
       return written_if(is_sixteen_bit(p.workload.precision.compute()),
                         std::string(sim::at(kPrecisionNames, p.workload.precision.of(Numbers::Gradients))));
     },
     [](const Value& v, Draft& d) {
       tell_other_word(v, kTypesOfSums);
       d.fp32_gradients = v.text() == "fp32";
     }},
    {"communication_data_type", "",
     [](const ParallelPlan& p) { return written_if(is_sixteen_bit(p.workload.precision.compute()), reduced_type(p)); },
     word_said<kReducedTypes>},  // see reduced_types
    {"seq_parallel_communication_data_type", "",
     [](const ParallelPlan& p) {
       return written_if(p.mesh.context > 1 && is_sixteen_bit(p.workload.precision.compute()), reduced_type(p));
     },
     word_said<kReducedTypes>},
    {"zero_optimization.stage", "", [](const ParallelPlan& p) { return written(p.zero_stage); },
     [](const Value& v, Draft& d) {
       const std::int64_t stage = v.integer();
       d.plan.zero_stage = static_cast<std::int32_t>(std::clamp<std::int64_t>(stage, 0, 3));
       if (stage != d.plan.zero_stage) v.wrong(fmt::format("is {}", stage), "use 0, 1, 2 or 3");
     },
     true},
    {"zero_optimization.reduce_scatter", "", nullptr, read_reduce_scatter},
    {"zero_optimization.overlap_comm", "",
     [](const ParallelPlan& p) { return written_if(p.zero_stage > 0, overlaps_reduce(p) ? "true" : "false"); },
     [](const Value& v, Draft& d) {
       if (v.text() != "auto") d.overlaps_reduce = v.boolean();
     }},
    {"zero_optimization.reduce_bucket_size", "", [](const ParallelPlan& p) { return written(elements_of_bucket(p)); },
     [](const Value& v, Draft& d) { d.bucket_elements = v.integer(); }},
    {"zero_optimization.allgather_bucket_size", "", [](const ParallelPlan& p) { return written(elements_of_bucket(p)); }, number_said},
    {"zero_optimization.stage3_prefetch_bucket_size", "zero_optimization.prefetch_bucket_size",
     [](const ParallelPlan& p) { return is_stage_three(p) ? written(elements_gathered_ahead(p)) : Written(); },
     [](const Value& v, Draft& d) { d.prefetched_elements = v.integer(); }},
    {"zero_optimization.stage3_param_persistence_threshold", "zero_optimization.param_persistence_threshold",
     [](const ParallelPlan& p) { return written_if(is_stage_three(p), std::to_string(p.persistence_threshold)); },
     [](const Value& v, Draft& d) {
       d.plan.persistence_threshold = v.integer();
       if (v.integer() < 0) v.wrong(fmt::format("is {}", v.text()), "use 100000, or 0");
     }},
    {"zero_optimization.stage3_model_persistence_threshold", "zero_optimization.model_persistence_threshold", nullptr,
     [](const Value& v, Draft&) {
       v.lost("parameters stay whole up to so many elements of all of them; the plan's all do that are small", "leave it out");
     }},
    {"zero_optimization.stage3_max_live_parameters", "",
     [](const ParallelPlan& p) { return written_if(is_stage_three(p), std::to_string(kFar)); }, number_said},
    {"zero_optimization.stage3_max_reuse_distance", "",
     [](const ParallelPlan& p) { return written_if(is_stage_three(p), p.reshard_after_forward ? "0" : std::to_string(kFar)); },
     [](const Value& v, Draft& d) { d.plan.reshard_after_forward = v.integer() < kFar; }},
    {"zero_optimization.zero_hpz_partition_size", "",
     [](const ParallelPlan& p) { return written_if(p.mesh.reshard > 1, std::to_string(p.mesh.reshard)); },
     [](const Value& v, Draft& d) {
       d.plan.mesh.reshard = v.degree();
       d.plan.kept_until = d.plan.mesh.reshard > 1 ? KeptUntil::Step : KeptUntil::Backward;
     }},
    {"zero_optimization.zero_quantized_weights", "",
     [](const ParallelPlan& p) { return written_flag(bool(p.workload.precision.weight_codec())); },
     [](const Value& v, Draft& d) { d.weight_codec.codec = v.boolean() ? Codec::Int8 : Codec::None; }},
    {"zero_optimization.zero_quantized_gradients", "",
     [](const ParallelPlan& p) { return written_flag(bool(p.workload.precision.gradient_codec())); }, read_quantized_gradients},
    {"zero_optimization.mics_shard_size", "", nullptr, [](const Value& v, Draft& d) { d.shard = v.integer(); }},  // of releases before 0.19
    {"zero_optimization.offload_optimizer.device", "",
     [](const ParallelPlan& p) { return written_if(p.offload_optimizer, offload_text(p, OnDrive::Optimizer)); }, read_offload},
    {"zero_optimization.offload_optimizer.nvme_path", "",
     [](const ParallelPlan& p) { return written_if(p.has_on_drive(OnDrive::Optimizer), "/local_nvme"); }, only_said},
    {"zero_optimization.offload_optimizer.pin_memory", "", [](const ParallelPlan& p) { return written_flag(p.offload_optimizer); },
     [](const Value& v, Draft& d) {
       const bool is_pinned = v.text() == "auto" || v.boolean();
       if (!is_pinned && text_of(d, "zero_optimization.offload_optimizer.device", "none") != "none")
         v.lost(std::string(kNotPinned), "pin it, or mind time");
     }},
    {"zero_optimization.offload_optimizer.ratio", "",
     [](const ParallelPlan& p) { return p.offload_share < 1 ? written_number(p.offload_share) : Written(); },
     [](const Value& v, Draft& d) { d.plan.offload_share = v.number(); }},
    {"zero_optimization.offload_param.buffer_size", "", buffer_of_weights, number_said},
    {"zero_optimization.offload_optimizer.buffer_count", "", nullptr, number_said},
    {"zero_optimization.offload_optimizer.pipeline_read", "", nullptr, flag_said},
    {"zero_optimization.offload_optimizer.pipeline_write", "", nullptr, flag_said},
    {"zero_optimization.offload_param.buffer_count", "", nullptr, number_said},
    {"zero_optimization.offload_param.max_in_cpu", "", nullptr, number_said},
    {"zero_optimization.sub_group_size", "", nullptr, number_said},
    {"zero_optimization.cpu_offload", "", nullptr, [](const Value& v, Draft& d) { d.plan.offload_optimizer = v.boolean(); }},  // before 0.4
    {"zero_optimization.offload_param.device", "",
     [](const ParallelPlan& p) { return written_if(p.offload_parameters, offload_text(p, OnDrive::Weights)); }, read_offload_of_weights},
    {"zero_optimization.offload_param.nvme_path", "",
     [](const ParallelPlan& p) { return written_if(p.has_on_drive(OnDrive::Weights), "/local_nvme"); }, only_said},
    {"zero_optimization", "", nullptr,  // true: stage 1
     [](const Value& v, Draft& d) { d.plan.zero_stage = is_on(v.text()) && v.boolean() ? 1 : 0; }},
    {"tensor_parallel.autotp_size", "", [](const ParallelPlan& p) { return written_if(p.mesh.tensor > 1, std::to_string(p.mesh.tensor)); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.text() == "0" ? 1 : v.degree(); }, true},
    {"sequence_parallel_size", "", [](const ParallelPlan& p) { return written_if(p.mesh.context > 1, std::to_string(p.mesh.context)); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(), d.plan.context_algorithm = ContextAlgorithm::AllToAll; }, true},
    {"expert_parallel.enabled", "", [](const ParallelPlan& p) { return written_flag(p.mesh.expert > 1); }, flag_said},
    {"expert_parallel.autoep_size", "", [](const ParallelPlan& p) { return written_if(p.mesh.expert > 1, std::to_string(p.mesh.expert)); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }},
    {"expert_parallel.expert_tensor_parallel_size", "",
     [](const ParallelPlan& p) { return written_if(p.mesh.expert > 1 && p.mesh.tensor > 1, std::to_string(p.mesh.expert_cut())); },
     [](const Value& v, Draft& d) {
       if (v.degree() != d.plan.mesh.tensor) d.plan.mesh.expert_tensor = v.degree();
     }},
};

constexpr LostSetting kLostOfDeepSpeed[] = {
    {"fp8.enabled fp8 weight_quantization.* compression_training.*", "values of fewer bits; the plan has none"},
    {"amp.enabled torch_autocast.enabled fp16.fp16_master_weights_and_grads data_types.param_dtype",
     "types of weights and states that the plan does not have"},
    {"activation_checkpointing.partition_activations activation_checkpointing.cpu_checkpointing",
     "saved activations elsewhere; the plan keeps them"},
    {"zero_optimization.cpu_offload_params zero_optimization.cpu_offload_param zero_optimization.zenflow.*",
     "where weights and states are, or when the host steps them; the plan's host steps once a step"},
    {"pipeline.stages pipeline.partition", "stages of a PipelineModule; the plan has one"},
    {"elasticity.enabled autotuning.enabled curriculum_learning.enabled data_efficiency.enabled progressive_layer_drop.enabled "
     "sparsity",
     "batches or work that change while it runs; the plan's do not"},
    {"sparse_attention.mode", "attention of fewer pairs, where the network asks for it; the plan has all"},
    {"zero_optimization.max_live_parameters zero_optimization.max_reuse_distance",
     "how many parameters stay whole at once; the plan has those of two blocks"},
    {"sparse_gradients zero_optimization.use_all_reduce_for_fetch_params zero_optimization.mics_hierarchical_params_gather",
     "another way of the network"},
    {"compile.enabled compile.deepcompile graph_harvesting", "compiled kernels, or passes in graphs"},
    {"activation_checkpointing.synchronize_checkpoint_boundary", "the host waits at each unit that is computed again; the plan's goes on"},
    {"comms_logger.enabled", "the host waits behind each collective, beside which nothing runs then; the plan's goes on"},  // timed_op()
    {"zero_optimization.zero_quantized_nontrainable_weights", "frozen weights in 8 bit; the plan keeps them as they are"},
    {"memory_breakdown", "the host collects its garbage around each pass; the plan's goes on"},
    {"optimizer.params.torch_adam", "the optimizer of PyTorch, on the host, too; the plan has DeepSpeed's one kernel"},
    {"optimizer.params.amsgrad", "a third state of each weight; the plan has two"},
    {"optimizer.params.fp32_optimizer_states", "states on the host are as wide as weights; the plan's are in fp32", "off"},
    {"zero_optimization.offload_param.pin_memory zero_optimization.cpu_offload_use_pin_memory", kNotPinned, "off"},
    {"zero_force_ds_cpu_optimizer", "another optimizer steps on the host; the plan has DeepSpeed's", "off"},
    {"zero_optimization.contiguous_gradients", "gradients cross from where they are, without a bucket's memory; the plan has its bucket",
     "off"},
    {"zero_optimization.memory_efficient_linear", "gathered weights stay until the backward has used them; the plan gathers them again",
     "off"},
    {"zero_optimization.stage3_module_granularity_threshold zero_optimization.module_granularity_threshold",
     "small modules are gathered with those around them; the plan gathers block by block"},
    {"pipeline.activation_checkpoint_interval", "what a PipelineModule recomputes; the plan has what --recompute says"},
    {"hybrid_engine.enabled", "an engine that generates beside the training, with weights and caches of its own"},
    {"bf16.immediate_grad_update", "gradients in 16 bit go as soon as they are summed: less memory than the plan's"},
    {"managed_gradient_accumulation", "the program's code says when gradients are reduced", "off"},
    {"tensor_parallel.tp_size tensor_parallel.tp.tp_size", "tensor ranks of inference; those of training are autotp_size", "but 1"},
};
constexpr std::string_view kDeepSpeedWithoutEffect =
    "comms_config.* steps_per_print wall_clock_breakdown dump_state comms_logger.* flops_profiler.* tensorboard.* wandb.* "
    "csv_monitor.* "
    "comet.* monitor_config.* "
    "scheduler.* prescale_gradients gradient_predivide_factor gradient_allreduce_op checkpoint.* aio.* nebula.* timers.* disable_allgather "
    "zero_optimization.allgather_partitions "
    "zero_optimization.round_robin_gradients "
    "zero_optimization.offload_optimizer.* zero_optimization.offload_param.* "
    "zero_optimization.stage3_gather_* "
    "zero_optimization.gather_16bit_weights_on_model_save zero_optimization.load_from_fp32_weights zero_optimization.elastic_checkpoint "
    "zero_optimization.ignore_unused_parameters zero_optimization.log_trace_cache_warnings "
    "zero_optimization.legacy_stage1 zero_optimization.mics_hierarchical* "
    "fp16.* bf16.* amp.opt_level activation_checkpointing.* train_iters dataloader_drop_last log_level "
    "local_rank seed disable_python_gc "
    "optimizer.params.adam_w_mode optimizer.params.bias_correction "
    "optimizer.params.freeze_step optimizer.legacy_fusion "
    "optimizer.params.cuda_aware optimizer.params.comm_backend_name torch_autocast.* curriculum_learning.* "
    "data_efficiency.* autotuning.* elasticity.* "
    "tensor_parallel.* data_types.buffer_dtype use_data_before_expert_parallelism expert_parallel.* data_parallel_size "
    "checkpoint_tag_validation "
    "progressive_layer_drop.* pipeline.* compile.* hybrid_engine.* inference.* mesh_param _* comment* ";

void judge_deepspeed(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  const Precision precision = plan.workload.precision.compute();
  judgement.refuse(
      mesh.pipeline > 1, "/mesh/pipeline",
      fmt::format(
          "{} stages of schedule {}: DeepSpeed takes stages from PipelineModule in the program, knows 1f1b alone and nothing interleaved",
          mesh.pipeline, plan.schedule),
      "plan with --fix pipeline=1, or export to Megatron-LM or torchtitan");
  judgement.refuse(plan.sequence_parallel, "/sequence_parallel", "AutoTP does not cut norms along the sequence",
                   "plan with --fix sequence_parallel=false");
  judgement.refuse(mesh.context > 1 && plan.context_algorithm != ContextAlgorithm::AllToAll, "/context_algorithm",
                   fmt::format("context degree {} by {}: Ulysses exchanges heads, and that alone", mesh.context,
                               sim::at(kContextAlgorithmNames, plan.context_algorithm)),
                   "plan with --fix context_algorithm=all_to_all");
  judgement.refuse(mesh.replicas > 1, "/mesh/replicas",
                   fmt::format("{} replicas of {} shards: MiCS, which had them, was removed", mesh.replicas, mesh.shards()),
                   "plan with --fix replicas=1, or export to Accelerate or torchtitan");
  judgement.refuse(keeps_all_in_bf16(plan.workload.precision) && (plan.zero_stage == 0 || plan.offload_optimizer), "/workload/precision",
                   "masters and moments in bf16 are of stages 1 to 3, and of optimizers on the device",
                   "plan with --fix zero=2 --fix offload_optimizer=false, or without masters=bf16");
  judgement.refuse(precision == Precision::Fp64 || precision == Precision::Tf32, "/workload/precision",
                   fmt::format("there is no setting for {}", sim::at(kPrecisionNames, precision)),
                   "plan with --precision bf16, fp16 or fp32");
  judgement.refuse(mesh.tensor > 1 && mesh.context > 1, "/mesh/context",
                   fmt::format("AutoTP {} and Ulysses {} do not go together", mesh.tensor, mesh.context),
                   "plan with --fix context=1 or tensor=1");
  judgement.refuse(plan.zero_stage == 0 && reduces_in_fp32(plan), "/workload/precision",
                   "without ZeRO gradients have the type of the weights", "plan with --fix zero=1, or without --fp32-gradients");
  judgement.refuse(plan.zero_stage != 3 && bool(plan.workload.precision.gradient_codec()), "/workload/precision",
                   fmt::format("wire={} is of stage 3 there", to_text(plan.workload.precision.gradient_codec())), "plan with --fix zero=3");
  judgement.refuse(plan.offload_share < 1 && plan.zero_stage != 3, "/offload_share",
                   fmt::format("a share of the optimizer goes to the host in stage 3 alone, and this is stage {}", plan.zero_stage),
                   "plan with --fix zero=3, or leave it out");
  judgement.refuse(plan.offload_optimizer && plan.zero_stage == 0, "/offload_optimizer", "the optimizer goes to the host under ZeRO alone",
                   "plan with --fix zero=1");
  note_units(plan, judgement);
  judgement.note(mesh.reshard > 1 && plan.kept_until == KeptUntil::Backward, "/kept_until",
                 "what neighbours keep lasts until the step there, in the plan until the backward",
                 "say kept_until step in the plan, or plan for DeepSpeed");
  const bool several = plan.num_microbatches() > 1;
  judgement.note(several && (plan.zero_stage >= 2) != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
                 plan.zero_stage >= 2 ? "gradients are reduced with every microbatch there, in the plan with the last"
                                      : "gradients are reduced with the last microbatch there, in the plan with each",
                 "simulate the plan imported again");
  judgement.note(true, "/workload/sequence", fmt::format("sequence {} is of the program", plan.workload.sequence),
                 fmt::format("feed samples of {} tokens; give --sequence on import", plan.workload.sequence));
  judgement.refuse(plan.recompute_scope != RecomputeScope{}, "/recompute_scope",
                   fmt::format("\"{}\" is of the program's code, and no file says it", to_text(plan.recompute_scope)),
                   "leave it out of the plan, or export to Megatron-LM");
  judgement.note(plan.recompute != Recompute::None, "/recompute",
                 fmt::format("recompute {} is of the program", sim::at(kRecomputeNames, plan.recompute)),
                 "call model.gradient_checkpointing_enable()");
  judgement.note(plan.vocabulary_multiple != 128, "/vocabulary_multiple", "the vocabulary is the model's",
                 fmt::format("pad it to a multiple of {}", plan.vocabulary_multiple));
  judgement.note(mesh.context > 1, "", "Ulysses needs its attention registered",
                 "pass mpu=UlyssesSPAttentionHF.register_with_transformers(...) to deepspeed.initialize");
  judgement.note(plan.zero_stage != 3 && plan.prefetch != 1, "/prefetch", "has a meaning for stage 3 alone", "nothing to do");
  judgement.note(true, "/training", "schedule of the learning rate, seed and checkpoints are of the program", "set them there");
}

std::vector<RecipeFile> deepspeed_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan&) {
  return {{std::string(kDeepSpeed.file), json_text(head, settings)}};
}
// What it takes where the file is silent: gradients of the type of the weights, buckets of 500 million elements.
RecipeReading deepspeed_settings(const RecipeSource& source) { return {read_json(source.text, source.path), {}, {}}; }

// DeepSpeed sums among a node's ranks before anything goes across; a plan names such neighbours once, for this and for hpZ.
void settle_codecs(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const bool is_ignored = draft.gradient_codec && plan.zero_stage != 3;
  if (is_ignored) draft.gradient_codec = {};
  if (is_ignored)
    draft.notes.push_back({"zero_optimization.zero_quantized_gradients",
                           fmt::format("is of stage 3, and this is stage {}", plan.zero_stage), "it is left out, as DeepSpeed does"});
  if (draft.gradient_codec && plan.mesh.reshard == 1)
    draft.notes.push_back({"zero_optimization.zero_quantized_gradients",
                           "sums among the ranks of a node first, and the plan in one exchange of all",
                           "name the neighbours: zero_hpz_partition_size, or --fix reshard_ranks"});
  plan.workload.precision = plan.workload.precision.with_weight_codec(draft.weight_codec);
  if (draft.gradient_codec) plan.workload.precision = plan.workload.precision.with_gradient_codec(draft.gradient_codec);
}

// What stays whole where a file is silent, and where the Trainer fills it in (transformers: integrations/deepspeed.py).
void settle_persistence(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const auto found = draft.said.find(std::string(kPersistence));
  if (found == draft.said.end()) plan.persistence_threshold = kUsualPersistence;
  if (found != draft.said.end() && found->second == "auto") plan.persistence_threshold = 10 * plan.model.hidden;
  const bool goes_elsewhere = plan.offload_parameters || plan.mesh.reshard > 1 || draft.weight_codec || draft.gradient_codec;
  const bool is_lost = plan.zero_stage == 3 && plan.persistence_threshold > 0 && goes_elsewhere;
  if (is_lost)
    draft.notes.push_back({std::string(kPersistence),
                           fmt::format("{}: parameters up to that stay whole there; with offload_param, hpZ or codecs the plan's do not",
                                       plan.persistence_threshold),
                           "a little memory and a few gathers; or use 0"});
  if (plan.zero_stage != 3 || is_lost) plan.persistence_threshold = 0;
}

// Sub-groups of stage 3 alone are dealt out (deepspeed/runtime/zero/stage3.py); elsewhere the ratio is not read.
void settle_share(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  if (plan.offload_share == 1 || (plan.zero_stage == 3 && plan.offload_optimizer && !plan.offload_parameters)) return;
  draft.notes.push_back(
      {"zero_optimization.offload_optimizer.ratio",
       fmt::format("{}: the plan has it with stage 3 and weights on the device; all of the optimizer lies on the host", plan.offload_share),
       "mind memory and time"});
  plan.offload_share = 1;
}

// Gradients cross in the type of the products, whatever they are added up in (communication_data_type of runtime/engine.py).
PrecisionPolicy reduced_types(const Draft& draft) {
  const PrecisionPolicy mixed = mixed_precision(draft.precision.value_or(Precision::Fp32), draft.fp32_gradients.value_or(false));
  Precision wire = mixed.compute();
  const std::string word = draft.plan.mesh.context > 1 ? text_of(draft, "seq_parallel_communication_data_type", "fp32")
                                                       : text_of(draft, "communication_data_type", "");
  for (const Precision named : {Precision::Fp32, Precision::Bf16, Precision::Fp16})
    if (word == sim::at(kPrecisionNames, named)) wire = named;
  return mixed.with(Numbers::Wire, wire);
}

// No fp32 beside the weights (stages 1 to 3): with bf16_optimizer_states moments have that type, too.
PrecisionPolicy kept_types(const Draft& draft) {
  PrecisionPolicy mixed = reduced_types(draft);
  if (mixed.compute() != Precision::Bf16 || !flag_of(draft, "bf16.bf16_master_weights_and_grads", false)) return mixed;
  const bool are_bf16 = flag_of(draft, "bf16.bf16_optimizer_states", false);
  return mixed.with(Numbers::Masters, Precision::Bf16).with(Numbers::Moments, are_bf16 ? Precision::Bf16 : Precision::Fp32);
}

// Weights are gathered ahead as long as fewer than that are whole.
void tell_few_live(const Draft& draft, std::vector<Violation>& lost) {
  const std::string key = "zero_optimization.stage3_max_live_parameters";
  const ModelConfig& model = draft.plan.model;
  const double live = number_of(draft, key, 1e9),
               matrix = static_cast<double>(model.hidden) * static_cast<double>(std::max(model.hidden, model.ffn));
  if (draft.plan.zero_stage == 3 && live < static_cast<double>(draft.prefetched_elements.value_or(50'000'000)) + matrix)
    lost.push_back(
        {key, "fewer than a matrix and what is gathered ahead: that is gathered later than the plan's", "mind the time of the network"});
}

void settle_deepspeed(Draft& draft) {
  tell_few_live(draft, draft.lost);
  settle_share(draft);
  ParallelPlan& plan = draft.plan;
  settle_engine_of_deepspeed(draft);
  if (plan.zero_stage > 0)  // its default: stage 3 alone (runtime/zero/config.py)
    plan.cluster.software.overlap_reduce = draft.overlaps_reduce.value_or(plan.zero_stage == 3);
  if (draft.is_bf16 && draft.is_fp16) draft.wrong.push_back({"bf16", "and fp16 are both enabled", "enable one precision"});
  const auto is_auto = [&](const std::string& key) { return draft.said.contains(key) && draft.said.at(key) == "auto"; };
  if (!draft.precision && (is_auto("bf16.enabled") || is_auto("fp16.enabled"))) {
    draft.precision = is_auto("bf16.enabled") ? Precision::Bf16 : Precision::Fp16;
    draft.unknown.push_back({is_auto("bf16.enabled") ? "bf16.enabled" : "fp16.enabled",
                             fmt::format("is \"auto\", the Trainer's: taken as {}", sim::at(kPrecisionNames, *draft.precision)),
                             "write true or false, if it is not"});
  }
  plan.workload.precision = kept_types(draft);
  if (plan.zero_stage == 0 && plan.workload.precision.of(Numbers::Masters) == Precision::Bf16)
    draft.wrong.push_back({"bf16.bf16_master_weights_and_grads", "is of stages 1 to 3", "use a stage, or leave it out"});
  settle_codecs(draft);
  settle_persistence(draft);
  if (!draft.bucket_elements)  // the Trainer and Accelerate fill it in (transformers: integrations/deepspeed.py)
    draft.bucket_elements = is_auto("zero_optimization.reduce_bucket_size") ? plan.model.hidden * plan.model.hidden : kBucketOfDeepSpeed;
  if (draft.global_batch && plan.mesh.tensor > 1) {
    draft.notes.push_back({"train_batch_size",
                           fmt::format("counts the {} ranks of a tensor group apart, which read the same samples", plan.mesh.tensor),
                           "it is divided by them"});
    draft.global_batch = *draft.global_batch / plan.mesh.tensor;
  }
  draft.accumulates_once = draft.microbatch || draft.global_batch;
  draft.reduces_each = plan.zero_stage >= 2;
  if (!draft.shard) return;
  const std::int64_t copies = plan.cluster.devices / plan.mesh.tensor,
                     shards = std::max<std::int64_t>(1, *draft.shard);  // MiCS: replicas of groups
  plan.mesh.replicas = static_cast<std::int32_t>(std::max<std::int64_t>(1, copies / shards));
  draft.shard.reset();
}

void deepspeed_habits(ParallelPlan& plan) {
  if (plan.zero_stage != 3) plan.prefetch = 1;  // nothing is gathered ahead
  plan.vocabulary_multiple = 128;
  const bool has_second_copy = plan.zero_stage == 3 && plan.reshard_after_forward && plan.mesh.reshard > 1 && !plan.model.adapters;
  plan.kept_until = has_second_copy ? KeptUntil::Step : KeptUntil::Backward;
}

}  // namespace

const Program kDeepSpeed = {.name = "deepspeed",
                            .title = "DeepSpeed",
                            .version = "0.19.8",
                            .file = "ds_config.json",
                            .marks = "\"zero_optimization\" \"train_micro_batch_size_per_gpu\" \"train_batch_size\"",
                            .fields = kDeepSpeedFields,
                            .judge = judge_deepspeed,
                            .files = deepspeed_files,
                            .settings = deepspeed_settings,
                            .settle = settle_deepspeed,
                            .lost = kLostOfDeepSpeed,
                            .without_effect = kDeepSpeedWithoutEffect,
                            .training = {.learning_rate = 1e-3,
                                         .beta2 = 0.999,
                                         .weight_decay = 0,
                                         .momentum = 0,
                                         .gradient_clip = 0,
                                         .loss_scale_rule = LossScaleRule::DeepSpeed,
                                         .loss_scale_window = 1000},
                            .software = "deepspeed",
                            .trained_by = "the script that it starts, as by PEFT",
                            .habits = deepspeed_habits,
                            .says_codecs = says_codecs,
                            .says_types = is_kept_in_bf16};

}  // namespace sim
