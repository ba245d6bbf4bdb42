// DeepSpeed: the configuration file (ds_config.json). Its pipeline is a matter of the program (PipelineModule), so a plan with stages is refused.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/recipe/program.h"

namespace sim {
namespace {

constexpr std::int64_t kFar = 1'000'000'000'000;  // parameters: never reached, so that weights stay

bool is_stage_three(const ParallelPlan& plan) { return plan.zero_stage == 3; }
bool has_precision(const ParallelPlan& plan, Precision precision) { return plan.workload.precision == precision; }
Written optimizer_value(const ParallelPlan& plan, bool of_adam, double value) {
  return written_if(of_adam == (plan.workload.optimizer == OptimizerKind::AdamW), fmt::format("{}", value));
}
void known(const Value&, Draft&) {}

void read_betas(const Value& value, Draft& draft) {
  double first = 0, second = 0;
  const int read = std::sscanf(value.text().c_str(), "[%lf,%lf]", &first, &second);
  if (read != 2 || !(first >= 0 && first <= 1 && second >= 0 && second <= 1))
    return value.wrong(fmt::format("is '{}', and betas are two shares", value.text()), "write [0.9, 0.95]");
  draft.plan.training.beta1 = first;
  draft.plan.training.beta2 = second;
}

constexpr Field kDeepSpeedFields[] = {
    {"train_batch_size", "", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) { d.global_batch = v.integer(); }},
    {"train_micro_batch_size_per_gpu", "", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.integer(); }},
    {"gradient_accumulation_steps", "", [](const ParallelPlan& p) { return written(p.num_microbatches()); },
     [](const Value& v, Draft& d) { d.accumulation_steps = v.integer(); }},
    {"gradient_clipping", "", [](const ParallelPlan& p) { return written_number(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = v.number(); }},
    {"optimizer.type", "", [](const ParallelPlan& p) { return Written(p.workload.optimizer == OptimizerKind::AdamW ? "AdamW" : "SGD"); },
     [](const Value& v, Draft& d) {
       d.plan.workload.optimizer = v.text() == "SGD" ? OptimizerKind::Sgd : OptimizerKind::AdamW;
       if (v.text() != "SGD" && v.text() != "AdamW" && v.text() != "Adam")
         v.note(fmt::format("is {}: a plan knows AdamW and SGD, and takes AdamW", v.text()), "mind its state's memory");
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
    {"bf16.enabled", "bfloat16.enabled", [](const ParallelPlan& p) { return written_flag(has_precision(p, Precision::Bf16)); },
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.precision = Precision::Bf16;
     }},
    {"fp16.enabled", "", [](const ParallelPlan& p) { return written_flag(has_precision(p, Precision::Fp16)); },
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.precision = Precision::Fp16;
     }},
    {"fp16.loss_scale", "", [](const ParallelPlan& p) { return written_if(has_precision(p, Precision::Fp16), "0"); },
     known},  // 0: it moves
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
       return written_if(is_sixteen_bit(p.workload.precision),
                         p.workload.fp32_gradients ? "fp32" : std::string(kPrecisionNames[static_cast<std::size_t>(p.workload.precision)]));
     },
     [](const Value& v, Draft& d) { d.fp32_gradients = v.text() == "fp32"; }},
    {"communication_data_type", "",
     [](const ParallelPlan& p) {
       return written_if(is_sixteen_bit(p.workload.precision), p.workload.fp32_gradients           ? "fp32"
                                                               : has_precision(p, Precision::Bf16) ? "bfp16"
                                                                                                   : "fp16");
     },
     known},
    {"zero_optimization.stage", "", [](const ParallelPlan& p) { return written(p.zero_stage); },
     [](const Value& v, Draft& d) {
       const std::int64_t stage = v.integer();
       d.plan.zero_stage = static_cast<std::int32_t>(std::clamp<std::int64_t>(stage, 0, 3));
       if (stage != d.plan.zero_stage) v.wrong(fmt::format("is {}", stage), "use 0, 1, 2 or 3");
     }},
    {"zero_optimization.overlap_comm", "", [](const ParallelPlan& p) { return written_flag(p.zero_stage > 0); }, known},
    {"zero_optimization.contiguous_gradients", "", nullptr, known},
    {"zero_optimization.reduce_scatter", "", nullptr, known},
    {"zero_optimization.allgather_partitions", "", nullptr, known},
    {"zero_optimization.reduce_bucket_size", "", [](const ParallelPlan& p) { return written(elements_of_bucket(p)); },
     [](const Value& v, Draft& d) { d.bucket_elements = v.integer(); }},
    {"zero_optimization.allgather_bucket_size", "", [](const ParallelPlan& p) { return written(elements_of_bucket(p)); }, known},
    {"zero_optimization.stage3_prefetch_bucket_size", "",
     [](const ParallelPlan& p) { return written_if(is_stage_three(p), p.prefetch ? "50000000" : "0"); },
     [](const Value& v, Draft& d) { d.plan.prefetch = v.integer() > 0; }},
    {"zero_optimization.stage3_param_persistence_threshold", "", [](const ParallelPlan& p) { return written_if(is_stage_three(p), "0"); },
     [](const Value& v, Draft&) {
       if (v.integer() > 0) v.note("keeps small parameters whole, which a plan does not", "use 0");
     }},
    {"zero_optimization.stage3_max_live_parameters", "",
     [](const ParallelPlan& p) { return written_if(is_stage_three(p), std::to_string(kFar)); }, known},
    {"zero_optimization.stage3_max_reuse_distance", "",
     [](const ParallelPlan& p) { return written_if(is_stage_three(p), p.reshard_after_forward ? "0" : std::to_string(kFar)); },
     [](const Value& v, Draft& d) { d.plan.reshard_after_forward = v.integer() < kFar; }},
    {"zero_optimization.zero_hpz_partition_size", "",
     [](const ParallelPlan& p) { return written_if(p.mesh.reshard > 1, std::to_string(p.mesh.reshard)); },
     [](const Value& v, Draft& d) { d.plan.mesh.reshard = v.degree(); }},
    {"zero_optimization.mics_shard_size", "", nullptr, [](const Value& v, Draft& d) { d.shard = v.integer(); }},  // of releases before 0.19
    {"zero_optimization.offload_optimizer.device", "", [](const ParallelPlan& p) { return written_if(p.offload_optimizer, "cpu"); },
     read_offload},
    {"zero_optimization.offload_optimizer.pin_memory", "", [](const ParallelPlan& p) { return written_flag(p.offload_optimizer); }, known},
    {"zero_optimization.offload_param.device", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text() != "none") v.note("offloads parameters, too, which a plan does not", "mind memory and time");
     }},
    {"tensor_parallel.autotp_size", "", [](const ParallelPlan& p) { return written_if(p.mesh.tensor > 1, std::to_string(p.mesh.tensor)); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.text() == "0" ? 1 : v.degree(); }},
    {"sequence_parallel_size", "", [](const ParallelPlan& p) { return written_if(p.mesh.context > 1, std::to_string(p.mesh.context)); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(), d.plan.context_algorithm = ContextAlgorithm::AllToAll; }},
    {"expert_parallel.enabled", "", [](const ParallelPlan& p) { return written_flag(p.mesh.expert > 1); }, known},
    {"expert_parallel.autoep_size", "", [](const ParallelPlan& p) { return written_if(p.mesh.expert > 1, std::to_string(p.mesh.expert)); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }},
    {"expert_parallel.expert_tensor_parallel_size", "",
     [](const ParallelPlan& p) { return written_if(p.mesh.expert > 1 && p.mesh.tensor > 1, std::to_string(p.mesh.tensor)); }, known},
};

void judge_deepspeed(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  const Precision precision = plan.workload.precision;
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
                               kContextAlgorithmNames[static_cast<std::size_t>(plan.context_algorithm)]),
                   "plan with --fix context_algorithm=all_to_all");
  judgement.refuse(mesh.replicas > 1, "/mesh/replicas",
                   fmt::format("{} replicas of {} shards: MiCS, which had them, was removed", mesh.replicas, mesh.shards()),
                   "plan with --fix replicas=1, or export to Accelerate or torchtitan");
  judgement.refuse(precision == Precision::Fp64 || precision == Precision::Tf32, "/workload/precision",
                   fmt::format("there is no setting for {}", kPrecisionNames[static_cast<std::size_t>(precision)]),
                   "plan with --precision bf16, fp16 or fp32");
  judgement.refuse(mesh.tensor > 1 && mesh.context > 1, "/mesh/context",
                   fmt::format("AutoTP {} and Ulysses {} do not go together", mesh.tensor, mesh.context),
                   "plan with --fix context=1 or tensor=1");
  judgement.refuse(plan.offload_optimizer && plan.zero_stage == 0, "/offload_optimizer", "the optimizer goes to the host under ZeRO alone",
                   "plan with --fix zero=1");
  note_units(plan, judgement);
  const bool several = plan.num_microbatches() > 1;
  judgement.note(several && (plan.zero_stage >= 2) != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
                 plan.zero_stage >= 2 ? "gradients are reduced with every microbatch there, in the plan with the last"
                                      : "gradients are reduced with the last microbatch there, in the plan with each",
                 "simulate the plan imported again");
  judgement.note(true, "/workload/sequence", fmt::format("sequence {} is of the program", plan.workload.sequence),
                 fmt::format("feed samples of {} tokens; give --sequence on import", plan.workload.sequence));
  judgement.note(plan.recompute != Recompute::None, "/recompute",
                 fmt::format("recompute {} is of the program", kRecomputeNames[static_cast<std::size_t>(plan.recompute)]),
                 "call model.gradient_checkpointing_enable()");
  judgement.note(plan.vocabulary_multiple != 128, "/vocabulary_multiple", "the vocabulary is the model's",
                 fmt::format("pad it to a multiple of {}", plan.vocabulary_multiple));
  judgement.note(mesh.context > 1, "", "Ulysses needs its attention registered",
                 "pass mpu=UlyssesSPAttentionHF.register_with_transformers(...) to deepspeed.initialize");
  judgement.note(plan.zero_stage != 3 && !plan.prefetch, "/prefetch", "has a meaning for stage 3 alone", "nothing to do");
  judgement.note(true, "/training", "schedule of the learning rate, seed and checkpoints are of the program", "set them there");
}

std::vector<RecipeFile> deepspeed_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan&) {
  return {{std::string(kDeepSpeed.file), json_text(head, settings)}};
}
RecipeSettings deepspeed_settings(const std::string& text, const std::string& file) { return read_json(text, file); }

void settle_deepspeed(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  plan.workload.precision = draft.precision.value_or(Precision::Fp32);
  plan.workload.fp32_gradients =
      is_sixteen_bit(plan.workload.precision) && draft.fp32_gradients.value_or(plan.workload.precision == Precision::Bf16);
  if (!draft.bucket_elements) draft.bucket_elements = 500'000'000;
  draft.reduces_each = plan.zero_stage >= 2;
  if (!draft.shard) return;
  const std::int64_t copies = plan.cluster.devices / plan.mesh.tensor,
                     shards = std::max<std::int64_t>(1, *draft.shard);  // MiCS: replicas of groups
  plan.mesh.replicas = static_cast<std::int32_t>(std::max<std::int64_t>(1, copies / shards));
  draft.shard.reset();
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
                            .settle = settle_deepspeed};

}  // namespace sim
