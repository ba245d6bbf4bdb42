// Megatron-LM: arguments of pretrain_gpt.py, as a shell script. Not its --yaml-cfg: that is another schema, of which most arguments are missing.
// Ranks stand as ours do: tensor fastest, then context, data, pipeline (its default order tp-cp-ep-dp-pp).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/recipe/program.h"

namespace sim {
namespace {

constexpr std::string_view kContextTypes[] = {"p2p", "all_gather", "a2a"};  // in the order of ContextAlgorithm
constexpr std::string_view kStrategies[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};
constexpr std::int64_t kMostBlocks = 10'000;

// "Et*6|t*6|t*6L": embedding, blocks of each virtual stage in the model's order, head with the loss.
std::string layout_text(const ParallelPlan& plan) {
  std::string text = "E";
  for (const std::int64_t blocks : blocks_of(plan)) text += (text.size() > 1 ? "|" : "") + (blocks == 0 ? "" : fmt::format("t*{}", blocks));
  return text + "L";
}

// The same, and what people write: commas, (t|)*3, ttt. Parentheses do not nest there either.
std::string unrolled(const std::string& layout) {
  std::string text;
  for (std::size_t at = 0; at < layout.size() && std::ssize(text) < 4 * kMostBlocks;) {
    const std::size_t close = layout[at] == '(' ? std::min(layout.find(')', at), layout.size() - 1) : at;
    const std::string part = layout[at] == '(' ? layout.substr(at + 1, close - at - 1) : std::string(1, layout[at]);
    std::int64_t times = 1;
    at = close + 1;
    if (at < layout.size() && layout[at] == '*') {
      const char* const end = std::from_chars(layout.data() + at + 1, layout.data() + layout.size(), times).ptr;
      at = static_cast<std::size_t>(end - layout.data());
    }
    for (std::int64_t time = 0; time < std::clamp<std::int64_t>(times, 0, kMostBlocks); ++time) text += part;
  }
  return text;
}

void read_layout(const Value& value, Draft& draft) {
  draft.blocks = {0};
  for (const char c : unrolled(value.text())) {
    if (c == '|')
      draft.blocks.push_back(0);
    else if (c == 't')
      ++draft.blocks.back();
    else if (c != 'E' && c != 'L' && c != ',')
      return value.wrong(fmt::format("has a '{}'; a plan knows E, t and L", c), "leave other layers out");
  }
  const auto parts = std::ssize(draft.blocks);
  if (parts % draft.plan.mesh.pipeline == 0) draft.plan.chunks = static_cast<std::int32_t>(parts / draft.plan.mesh.pipeline);
}

void add_processes(const Value& value, Draft& draft) {
  if (!value.text().starts_with("$")) draft.processes = draft.processes.value_or(1) * value.degree();
}

template <auto size>
Written model_size(const ParallelPlan& plan) {
  return written(plan.model.*size);
}
template <auto size>
void check_model_size(const Value& value, Draft& draft) {
  value.must_be(draft.plan.model.*size);
}
template <auto size>
Written training_number(const ParallelPlan& plan) {
  return written_number(static_cast<double>(plan.training.*size));
}
template <auto size>
void read_training_number(const Value& value, Draft& draft) {
  if constexpr (std::is_same_v<std::remove_reference_t<decltype(draft.plan.training.*size)>, double>)
    draft.plan.training.*size = value.number();
  else
    draft.plan.training.*size = std::clamp<std::int64_t>(value.integer(), 0, 1'000'000'000);
}
void of_the_model(const Value&, Draft&) {}  // config.json says it

bool has_latent(const ParallelPlan& plan) { return plan.model.attention.kind == AttentionKind::Latent; }
bool uses_fsdp(const ParallelPlan& plan) { return plan.zero_stage >= 2; }

std::string expert_layers(const ParallelPlan& plan) {
  const std::int64_t dense = plan.model.experts->first_dense_layers;
  return fmt::format("([0]*{}+[1]*{})", dense, plan.model.layers - dense);
}

constexpr Field kMegatronFields[] = {
    {"num-layers", "", model_size<&ModelConfig::layers>, check_model_size<&ModelConfig::layers>},
    {"hidden-size", "", model_size<&ModelConfig::hidden>, check_model_size<&ModelConfig::hidden>},
    {"ffn-hidden-size", "", model_size<&ModelConfig::ffn>, check_model_size<&ModelConfig::ffn>},
    {"num-attention-heads", "", model_size<&ModelConfig::heads>, check_model_size<&ModelConfig::heads>},
    {"group-query-attention", "", [](const ParallelPlan& p) { return written_flag(p.model.kv_heads != p.model.heads && !has_latent(p)); },
     of_the_model},
    {"num-query-groups", "",
     [](const ParallelPlan& p) {
       return written_if(p.model.kv_heads != p.model.heads && !has_latent(p), std::to_string(p.model.kv_heads));
     },
     check_model_size<&ModelConfig::kv_heads>},
    {"kv-channels", "", [](const ParallelPlan& p) { return written_if(!has_latent(p), std::to_string(p.model.head_dim)); },
     check_model_size<&ModelConfig::head_dim>},
    {"multi-latent-attention", "", [](const ParallelPlan& p) { return written_flag(has_latent(p)); }, of_the_model},
    {"q-lora-rank", "",
     [](const ParallelPlan& p) {
       return written_if(has_latent(p) && p.model.attention.q_lora > 0, std::to_string(p.model.attention.q_lora));
     },
     of_the_model},
    {"kv-lora-rank", "", [](const ParallelPlan& p) { return written_if(has_latent(p), std::to_string(p.model.attention.kv_lora)); },
     of_the_model},
    {"qk-head-dim", "", [](const ParallelPlan& p) { return written_if(has_latent(p), std::to_string(p.model.attention.qk_nope)); },
     of_the_model},
    {"qk-pos-emb-head-dim", "", [](const ParallelPlan& p) { return written_if(has_latent(p), std::to_string(p.model.attention.qk_rope)); },
     of_the_model},
    {"v-head-dim", "", [](const ParallelPlan& p) { return written_if(has_latent(p), std::to_string(p.model.attention.v_dim)); },
     of_the_model},
    {"num-experts", "",
     [](const ParallelPlan& p) {
       return written_if(p.model.experts.has_value(), std::to_string(p.model.experts.value_or(ExpertForm{}).experts));
     },
     [](const Value& v, Draft& d) { v.must_be(d.plan.model.experts.value_or(ExpertForm{}).experts); }},
    {"moe-router-topk", "",
     [](const ParallelPlan& p) {
       return written_if(p.model.experts.has_value(), std::to_string(p.model.experts.value_or(ExpertForm{}).topk));
     },
     [](const Value& v, Draft& d) { v.must_be(d.plan.model.experts.value_or(ExpertForm{}).topk); }},
    {"moe-ffn-hidden-size", "",
     [](const ParallelPlan& p) {
       return written_if(p.model.experts.has_value(), std::to_string(p.model.experts.value_or(ExpertForm{}).expert_ffn));
     },
     [](const Value& v, Draft& d) { v.must_be(d.plan.model.experts.value_or(ExpertForm{}).expert_ffn); }},
    {"moe-shared-expert-intermediate-size", "",
     [](const ParallelPlan& p) {
       return written_if(p.model.experts.value_or(ExpertForm{}).shared_ffn > 0,
                         std::to_string(p.model.experts.value_or(ExpertForm{}).shared_ffn));
     },
     of_the_model},
    {"moe-layer-freq", "",
     [](const ParallelPlan& p) {
       return written_if(p.model.experts.value_or(ExpertForm{}).first_dense_layers > 0, p.model.experts ? expert_layers(p) : "");
     },
     of_the_model},
    {"moe-token-dispatcher-type", "", [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), "alltoall"); },
     of_the_model},
    {"max-position-embeddings", "", [](const ParallelPlan& p) { return written(std::max(p.model.max_positions, p.workload.sequence)); },
     of_the_model},
    {"position-embedding-type", "",
     [](const ParallelPlan& p) { return Written(p.model.position == Position::Rotary ? "rope" : "learned_absolute"); }, of_the_model},
    {"rotary-base", "",
     [](const ParallelPlan& p) { return written_if(p.model.position == Position::Rotary, fmt::format("{:.0f}", p.model.rope_theta)); },
     of_the_model},
    {"normalization", "", [](const ParallelPlan& p) { return Written(p.model.norm == Norm::RmsNorm ? "RMSNorm" : "LayerNorm"); },
     of_the_model},
    {"norm-epsilon", "", [](const ParallelPlan& p) { return written_number(p.model.norm_epsilon); }, of_the_model},
    {"swiglu", "", [](const ParallelPlan& p) { return written_flag(p.model.gated_mlp && p.model.activation == Activation::Silu); },
     of_the_model},
    {"disable-bias-linear", "", [](const ParallelPlan& p) { return written_flag(!p.model.mlp_bias); }, of_the_model},
    {"add-qkv-bias", "", [](const ParallelPlan& p) { return written_flag(p.model.attention_bias); }, of_the_model},
    {"untie-embeddings-and-output-weights", "", [](const ParallelPlan& p) { return written_flag(!p.model.tied_embeddings); }, of_the_model},
    {"attention-dropout", "", [](const ParallelPlan& p) { return written_number(p.model.attention_dropout); }, of_the_model},
    {"hidden-dropout", "", [](const ParallelPlan& p) { return written_number(p.model.residual_dropout); }, of_the_model},
    {"vocab-size", "", model_size<&ModelConfig::vocabulary>, check_model_size<&ModelConfig::vocabulary>},
    {"make-vocab-size-divisible-by", "",
     [](const ParallelPlan& p) { return written(p.vocabulary_multiple / p.mesh.tensor); },  // times T there
     [](const Value& v, Draft& d) { d.plan.vocabulary_multiple = v.degree(); }},
    {"seq-length", "encoder-seq-length", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) { d.sequence = v.integer(); }},
    {"micro-batch-size", "", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.integer(); }},
    {"global-batch-size", "", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) { d.global_batch = v.integer(); }},
    {"tensor-model-parallel-size", "", [](const ParallelPlan& p) { return written(p.mesh.tensor); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.degree(); }},
    {"sequence-parallel", "", [](const ParallelPlan& p) { return written_flag(p.sequence_parallel); },
     [](const Value& v, Draft& d) { d.plan.sequence_parallel = v.boolean(); }},
    {"pipeline-model-parallel-size", "", [](const ParallelPlan& p) { return written(p.mesh.pipeline); },
     [](const Value& v, Draft& d) { d.plan.mesh.pipeline = v.degree(); }},
    {"pipeline-model-parallel-layout", "", [](const ParallelPlan& p) { return written_if(p.mesh.pipeline > 1, layout_text(p)); },
     read_layout},
    {"num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size", nullptr,
     [](const Value& v, Draft& d) { d.plan.chunks = v.degree(); }},
    {"num-layers-per-virtual-pipeline-stage", "", nullptr, [](const Value& v, Draft& d) { d.blocks_of_chunk = v.degree(); }},
    {"decoder-first-pipeline-num-layers", "", nullptr, [](const Value& v, Draft& d) { d.first_blocks = v.degree(); }},
    {"decoder-last-pipeline-num-layers", "", nullptr, [](const Value& v, Draft& d) { d.last_blocks = v.degree(); }},
    {"context-parallel-size", "", [](const ParallelPlan& p) { return written(p.mesh.context); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(); }},
    {"cp-comm-type", "",
     [](const ParallelPlan& p) {
       return written_if(p.mesh.context > 1, std::string(kContextTypes[static_cast<std::size_t>(p.context_algorithm)]));
     },
     [](const Value& v, Draft& d) {
       d.plan.context_algorithm =
           v.text() == "allgather" ? ContextAlgorithm::AllGather : static_cast<ContextAlgorithm>(v.choice(kContextTypes));
     }},
    {"expert-model-parallel-size", "",
     [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), std::to_string(p.mesh.expert)); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }},
    {"expert-tensor-parallel-size", "",
     [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), std::to_string(p.mesh.tensor)); },
     [](const Value& v, Draft& d) {
       if (v.degree() != d.plan.mesh.tensor)
         v.wrong(fmt::format("is {}, and a plan cuts experts over the tensor ranks, {}", v.text(), d.plan.mesh.tensor),
                 "meshwright estimate knows others");
     }},
    {"use-distributed-optimizer", "", [](const ParallelPlan& p) { return written_flag(p.zero_stage >= 1); },
     [](const Value& v, Draft& d) { d.plan.zero_stage = std::max(d.plan.zero_stage, v.boolean() ? 1 : 0); }},
    {"use-megatron-fsdp", "use-custom-fsdp", [](const ParallelPlan& p) { return written_flag(uses_fsdp(p)); }, of_the_model},
    {"data-parallel-sharding-strategy", "",
     [](const ParallelPlan& p) { return written_if(uses_fsdp(p), std::string(kStrategies[p.zero_stage])); },
     [](const Value& v, Draft& d) { d.plan.zero_stage = static_cast<std::int32_t>(v.choice(kStrategies)); }},
    {"ckpt-format", "", [](const ParallelPlan& p) { return written_if(uses_fsdp(p), "fsdp_dtensor"); }, of_the_model},
    {"num-distributed-optimizer-instances", "",
     [](const ParallelPlan& p) { return written_if(p.mesh.replicas > 1, std::to_string(p.mesh.replicas)); },
     [](const Value& v, Draft& d) { d.plan.mesh.replicas = v.degree(); }},
    {"overlap-grad-reduce", "", [](const ParallelPlan&) { return written_flag(true); }, of_the_model},
    {"overlap-param-gather", "", [](const ParallelPlan& p) { return written_flag(p.zero_stage == 3 && p.prefetch); },
     [](const Value& v, Draft& d) { d.plan.prefetch = v.boolean(); }},
    {"ddp-bucket-size", "", [](const ParallelPlan& p) { return written(elements_of_bucket(p)); },
     [](const Value& v, Draft& d) { d.bucket_elements = v.integer(); }},
    {"bf16", "", [](const ParallelPlan& p) { return written_flag(p.workload.precision == Precision::Bf16); },
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.precision = Precision::Bf16;
     }},
    {"fp16", "", [](const ParallelPlan& p) { return written_flag(p.workload.precision == Precision::Fp16); },
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.precision = Precision::Fp16;
     }},
    {"accumulate-allreduce-grads-in-fp32", "", [](const ParallelPlan& p) { return written_flag(p.workload.fp32_gradients); },
     [](const Value& v, Draft& d) { d.fp32_gradients = v.boolean(); }},
    {"grad-reduce-in-bf16", "",
     [](const ParallelPlan& p) { return written_flag(p.workload.precision == Precision::Bf16 && !p.workload.fp32_gradients); },
     [](const Value& v, Draft& d) { d.fp32_gradients = !v.boolean(); }},
    {"recompute-granularity", "",
     [](const ParallelPlan& p) {
       return written_if(p.recompute != Recompute::None, std::string(kRecomputeNames[static_cast<std::size_t>(p.recompute)]));
     },
     [](const Value& v, Draft& d) { d.plan.recompute = static_cast<Recompute>(v.choice(kRecomputeNames)); }},
    {"recompute-activations", "", nullptr,
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.plan.recompute = Recompute::Selective;
     }},
    {"recompute-modules", "", [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Selective, "core_attn"); },
     [](const Value& v, Draft&) {
       if (v.text() != "core_attn")
         v.note(fmt::format("'{}': a plan recomputes attention's core alone", v.text()), "other modules would need another price");
     }},
    {"recompute-method", "", [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Full, "uniform"); }, of_the_model},
    {"recompute-num-layers", "", [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Full, "1"); },
     [](const Value& v, Draft&) {
       if (v.text() != "1") v.note(fmt::format("is {}: a plan recomputes every layer, one by one", v.text()), "use 1");
     }},
    {"optimizer-cpu-offload", "", [](const ParallelPlan& p) { return written_flag(p.offload_optimizer); },
     [](const Value& v, Draft& d) { d.plan.offload_optimizer = v.boolean(); }},
    {"optimizer-offload-fraction", "", [](const ParallelPlan& p) { return written_if(p.offload_optimizer, "1.0"); },
     [](const Value& v, Draft&) {
       if (v.number() != 1) v.note(fmt::format("is {}: a plan offloads all of the optimizer, or nothing", v.text()), "use 1.0");
     }},
    {"use-precision-aware-optimizer", "", [](const ParallelPlan& p) { return written_flag(p.offload_optimizer); },
     of_the_model},  // the offload asks for it
    {"optimizer", "", [](const ParallelPlan& p) { return Written(p.workload.optimizer == OptimizerKind::Sgd ? "sgd" : "adam"); },
     [](const Value& v, Draft& d) { d.plan.workload.optimizer = v.text() == "sgd" ? OptimizerKind::Sgd : OptimizerKind::AdamW; }},
    {"lr", "", training_number<&TrainingSettings::learning_rate>, read_training_number<&TrainingSettings::learning_rate>},
    {"min-lr", "", training_number<&TrainingSettings::minimum_learning_rate>,
     read_training_number<&TrainingSettings::minimum_learning_rate>},
    {"lr-decay-style", "", [](const ParallelPlan& p) { return Written(p.training.decay_steps > 0 ? "cosine" : "constant"); }, of_the_model},
    {"lr-warmup-iters", "", [](const ParallelPlan& p) { return written(p.training.warmup_steps); },
     [](const Value& v, Draft& d) { d.plan.training.warmup_steps = std::max<std::int64_t>(0, v.integer()); }},
    {"lr-decay-iters", "",
     [](const ParallelPlan& p) { return written_if(p.training.decay_steps > 0, std::to_string(p.training.decay_steps)); },
     [](const Value& v, Draft& d) { d.plan.training.decay_steps = std::max<std::int64_t>(0, v.integer()); }},
    {"weight-decay", "", training_number<&TrainingSettings::weight_decay>, read_training_number<&TrainingSettings::weight_decay>},
    {"adam-beta1", "", training_number<&TrainingSettings::beta1>, [](const Value& v, Draft& d) { d.plan.training.beta1 = v.number(1); }},
    {"adam-beta2", "", training_number<&TrainingSettings::beta2>, [](const Value& v, Draft& d) { d.plan.training.beta2 = v.number(1); }},
    {"adam-eps", "", training_number<&TrainingSettings::epsilon>, read_training_number<&TrainingSettings::epsilon>},
    {"sgd-momentum", "", training_number<&TrainingSettings::momentum>, read_training_number<&TrainingSettings::momentum>},
    {"clip-grad", "", training_number<&TrainingSettings::gradient_clip>, read_training_number<&TrainingSettings::gradient_clip>},
    {"initial-loss-scale", "", training_number<&TrainingSettings::initial_loss_scale>,
     read_training_number<&TrainingSettings::initial_loss_scale>},
    {"loss-scale-window", "", training_number<&TrainingSettings::loss_scale_window>,
     read_training_number<&TrainingSettings::loss_scale_window>},
    {"seed", "", training_number<&TrainingSettings::seed>,
     [](const Value& v,
        Draft& d) { d.plan.training.seed = static_cast<std::uint64_t>(std::clamp<std::int64_t>(v.integer(), 0, kLargestSeed)); }},
    {"nnodes", "", nullptr, add_processes},
    {"nproc-per-node", "", nullptr, add_processes},
};

void judge_megatron(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  const Precision precision = plan.workload.precision;
  judgement.refuse(mesh.pipeline > 1 && plan.schedule != "1f1b" && plan.schedule != "interleaved", "/schedule",
                   fmt::format("Megatron-LM performs 1f1b and interleaved, not {}", plan.schedule),
                   "plan with --fix schedule=1f1b or interleaved; torchtitan takes any order");
  judgement.refuse(precision == Precision::Fp64 || precision == Precision::Tf32, "/workload/precision",
                   fmt::format("there is no argument for {}", kPrecisionNames[static_cast<std::size_t>(precision)]),
                   "plan with --precision bf16, fp16 or fp32");
  judgement.refuse(plan.model.experts && mesh.tensor > 1 && !plan.sequence_parallel, "/sequence_parallel",
                   fmt::format("experts on tensor degree {} train with sequence parallel alone", mesh.tensor),
                   "plan with --fix sequence_parallel=true");
  judgement.refuse(mesh.expert > 1 && precision == Precision::Fp16, "/workload/precision",
                   fmt::format("expert degree {} does not train in fp16", mesh.expert), "plan with --precision bf16");
  judgement.refuse(mesh.context > 1 && plan.workload.sequence % (2 * mesh.context) != 0, "/mesh/context",
                   fmt::format("sequence {} is no multiple of 2 x context {}", plan.workload.sequence, mesh.context),
                   "plan with another context degree");
  judgement.refuse(plan.zero_stage == 3 && !plan.reshard_after_forward, "/reshard_after_forward",
                   "optim_grads_params frees weights after the forward", "plan with --fix reshard=true");
  judgement.refuse(plan.zero_stage == 0 && mesh.replicas > 1, "/mesh/replicas",
                   fmt::format("{} replicas need an optimizer that is cut", mesh.replicas), "plan with --fix zero=1");
  judgement.refuse(plan.offload_optimizer && plan.zero_stage != 1, "/offload_optimizer",
                   fmt::format("the optimizer on the host goes with the distributed optimizer, not with stage {}", plan.zero_stage),
                   "plan with --fix zero=1");
  note_units(plan, judgement);
  note_reshard(plan, judgement);
  const bool several = plan.num_microbatches() > 1;
  judgement.note(several && uses_fsdp(plan) != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
                 uses_fsdp(plan) ? "gradients are reduced with every microbatch there, in the plan with the last"
                                 : "gradients are reduced with the last microbatch there, in the plan with each",
                 "simulate the plan imported again");
  judgement.note(plan.model.gated_mlp && plan.model.activation != Activation::Silu, "/model", "a gated feed-forward is SwiGLU there",
                 "change the activation in pretrain_gpt.py");
  judgement.note(plan.zero_stage != 3 && !plan.prefetch, "/prefetch", "has a meaning for stage 3 alone", "nothing to do");
  judgement.note(plan.training.checkpoint_interval > 0 || plan.training.loss_scale_rule != LossScaleRule::PyTorch, "/training",
                 "how often is saved, and how the loss scale follows overflows, is left to the program", "add --save and --save-interval");
  judgement.note(true, "", "data, tokenizer and the number of iterations are not of the plan", "give them behind the script's name");
}

std::vector<RecipeFile> megatron_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  const bool one_connection = !uses_fsdp(plan) && (plan.mesh.tensor > 1 || plan.mesh.context > 1);
  const std::string command =
      fmt::format("{}torchrun --nnodes {} --nproc-per-node {} pretrain_gpt.py", one_connection ? "CUDA_DEVICE_MAX_CONNECTIONS=1 " : "",
                  plan.cluster.nodes(), plan.cluster.devices_per_node());
  return {{std::string(kMegatron.file), shell_text(head, settings, command)}};
}

RecipeSettings megatron_settings(const std::string& text, const std::string& file) {
  RecipeSettings settings = text.find("--") != std::string::npos ? read_shell(text, file) : read_yaml(text, file);
  for (RecipeSetting& setting : settings) {
    setting.key = leaf_of(setting.key);
    std::replace(setting.key.begin(), setting.key.end(), '_', '-');
  }
  // Degrees first: others are read with them.
  std::stable_partition(settings.begin(), settings.end(), [](const RecipeSetting& one) {
    return one.key == "tensor-model-parallel-size" || one.key == "pipeline-model-parallel-size";
  });
  return settings;
}

void settle_uneven(Draft& draft) {
  const std::int64_t stages = draft.plan.mesh.pipeline, layers = draft.plan.model.layers, chunks = draft.plan.chunks;
  const std::int64_t named = (draft.first_blocks ? 1 : 0) + (draft.last_blocks ? 1 : 0);
  const std::int64_t rest = layers - draft.first_blocks.value_or(0) - draft.last_blocks.value_or(0), others = stages - named;
  if (others < 1 || rest < others * chunks || rest % (others * chunks) != 0 || draft.first_blocks.value_or(chunks) % chunks != 0 ||
      draft.last_blocks.value_or(chunks) % chunks != 0)
    return draft.wrong.push_back({"decoder-first-pipeline-num-layers",
                                  fmt::format("first {} and last {} of {} blocks leave {} for {} stages of {} chunks",
                                              draft.first_blocks.value_or(0), draft.last_blocks.value_or(0), layers, rest, others, chunks),
                                  "correct them"});
  for (std::int64_t part = 0; part < stages * chunks; ++part) {
    const std::int64_t stage = part % stages;
    const std::int64_t blocks = stage == 0 && draft.first_blocks           ? *draft.first_blocks
                                : stage == stages - 1 && draft.last_blocks ? *draft.last_blocks
                                                                           : rest / others;
    draft.blocks.push_back(blocks / chunks);
  }
}

void settle_megatron(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  if (draft.blocks_of_chunk)
    plan.chunks = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(plan.model.layers / (plan.mesh.pipeline * *draft.blocks_of_chunk), 1, kMostBlocks));
  if (plan.mesh.pipeline == 1) plan.chunks = 1;
  plan.schedule = plan.chunks > 1 ? "interleaved" : "1f1b";
  if ((draft.first_blocks || draft.last_blocks) && draft.blocks.empty() && plan.mesh.pipeline > 1) settle_uneven(draft);
  plan.workload.precision = draft.precision.value_or(Precision::Fp32);
  plan.workload.fp32_gradients =
      is_sixteen_bit(plan.workload.precision) && draft.fp32_gradients.value_or(plan.workload.precision == Precision::Bf16);
  plan.vocabulary_multiple *= draft.plan.mesh.tensor;
  draft.reduces_each = uses_fsdp(plan);
}

}  // namespace

const Program kMegatron = {
    .name = "megatron",
    .title = "Megatron-LM",
    .version = "core_v0.16.1",
    .file = "pretrain.sh",
    .marks = "--tensor-model-parallel-size --pipeline-model-parallel-size --micro-batch-size tensor_model_parallel_size: pretrain_gpt.py",
    .fields = kMegatronFields,
    .judge = judge_megatron,
    .files = megatron_files,
    .settings = megatron_settings,
    .settle = settle_megatron};

}  // namespace sim
