// GPT-NeoX: YAML (or its JSON with comments) of Megatron's sizes under names of its own, with DeepSpeed's sections. Only read. What it says becomes
// arguments of Megatron-LM, by rows; the rules behind them are those of Megatron-DeepSpeed.
// Facts: megatron/neox_arguments/{neox_args,deepspeed_args}.py, megatron/model/transformer.py (EleutherAI/gpt-neox).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sim/recipe/accounting.h"
#include "sim/recipe/attention_words.h"
#include "sim/recipe/megatron_network.h"
#include "sim/recipe/recomputed_stages.h"
#include "sim/recipe/said_values.h"

namespace sim {
namespace {

// A value that has no row of its key is told as the argument's.
constexpr Renaming kNeoxValues[] = {
    {"norm", "layernorm", "normalization", "LayerNorm"},
    {"norm", "rmsnorm", "normalization", "RMSNorm"},
    {"pos-emb", "rotary", "position-embedding-type", "rope"},
    {"pos-emb", "learned", "position-embedding-type", "learned_absolute"},
    {"pos-emb", "alibi", "position-embedding-type", "alibi"},
    {"pos-emb", "none", "position-embedding-type", "none"},
    {"activation", "swiglu", "gates", "swiglu"},
    {"activation", "geglu", "gates", "geglu"},
    {"activation", "reglu", "gates", "reglu"},
    {"activation", "bilinear", "gates", "bilinear"},
    {"activation", "glu", "gates", "glu"},
    {"activation", "silu", "swiglu", "true"},  // of the llama kind of feed-forward
    {"data-types.grad-accum-dtype", "fp32", "accumulate-allreduce-grads-in-fp32", "true"},
    {"mlp-type", "llama", "swiglu", "true"},
    {"precision", "bfloat16", "bf16", "true"},
    {"precision", "fp16", "fp16", "true"},
    {"optimizer.type", "Adam", "optimizer", "adam"},
    {"optimizer.type", "AdamW", "optimizer", "adam"},
    {"optimizer.type", "sgd", "optimizer", "sgd"},
    {"use-bias-in-attn-linear", "false", "disable-bias-linear", "true"},
    {"use-bias-in-attn-linear", "False", "disable-bias-linear", "true"},
};
// Whatever the value is; written back by these names.
constexpr Renaming kNeoxNames[] = {
    {"pipe-parallel-size", "", "pipeline-model-parallel-size", ""},
    {"model-parallel-size", "", "tensor-model-parallel-size", ""},
    {"train-micro-batch-size-per-gpu", "", "micro-batch-size", ""},
    {"train-batch-size", "", "global-batch-size", ""},
    {"num-kv-heads", "", "num-query-groups", ""},
    {"intermediate-size", "", "ffn-hidden-size", ""},
    {"rotary-pct", "", "rotary-percent", ""},
    {"rotary-emb-base", "", "rotary-base", ""},
    {"no-weight-tying", "", "untie-embeddings-and-output-weights", ""},
    {"layernorm-epsilon", "", "norm-epsilon", ""},
    {"rms-norm-epsilon", "", "norm-epsilon", ""},
    {"gradient-clipping", "", "clip-grad", ""},
    {"zero-optimization.stage", "", "zero-stage", ""},
    {"zero-optimization.overlap-comm", "", "overlap-grad-reduce", ""},
    {"zero-optimization.reduce-bucket-size", "", "ddp-bucket-size", ""},
    {"fp16.enabled", "", "fp16", ""},
    {"fp16.loss-scale-window", "", "loss-scale-window", ""},
    {"bf16.enabled", "", "bf16", ""},
    {"optimizer.params.lr", "", "lr", ""},
    {"optimizer.params.eps", "", "adam-eps", ""},
    {"optimizer.params.momentum", "", "sgd-momentum", ""},
    {"optimizer.params.weight-decay", "", "weight-decay", ""},
    {"use-qk-layernorm", "", "qk-layernorm", ""},
};

std::string neox_key(std::string key) {
  std::ranges::replace(key, '_', '-');
  return key;
}

// As an argument of Megatron-LM's, where a row says which.
RecipeSetting as_an_argument(const RecipeSetting& setting) {
  constexpr std::string_view kOfDeepSpeed = "deepspeed-extra-args.";  // put into its configuration as they are
  RecipeSetting plain{neox_key(setting.key), setting.value};
  if (plain.key.starts_with(kOfDeepSpeed)) plain.key.erase(0, kOfDeepSpeed.size());
  const std::optional<RecipeSetting> by_value = renamed(plain, kNeoxValues);
  RecipeSetting argument = by_value ? *by_value : renamed(plain, kNeoxNames).value_or(plain);
  argument.written = setting.key;
  return argument;
}

constexpr std::string_view kFormatsOfNeox[] = {"e4m3", "hybrid"};

constexpr Field kOwnOfNeox[] = {
    {"gradient-accumulation-steps", "", [](const ParallelPlan& p) { return written(p.num_microbatches()); },
     [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }, true},
    {"pipeline-model-parallel-size", "", nullptr,  // 0: no pipeline engine
     [](const Value& v, Draft& d) { d.plan.mesh.pipeline = v.text() == "0" ? 1 : v.degree(); }, true},
    {"optimizer.params.betas", "", nullptr, read_pair_of_betas},
    {"zero-optimization.cpu-offload", "", nullptr, [](const Value& v, Draft& d) { d.plan.offload_optimizer = v.boolean(); }},
    {"zero-optimization.cpu-offload-params", "zero-optimization.cpu-offload-param", nullptr,
     [](const Value& v, Draft& d) { d.plan.offload_parameters = v.boolean(); }},
    {"num-experts", "moe-num-experts", nullptr,
     [](const Value& v, Draft&) {
       if (is_on(v.text()) && v.count() > 1)
         v.wrong(fmt::format("is {}: experts of its own, in some of the blocks, which no plan has", v.text()),
                 "import the recipe of a network without experts");
     }},
    {"checkpoint-activations", "", [](const ParallelPlan& p) { return Written(p.recompute == Recompute::None ? "false" : "true"); },
     [](const Value& v, Draft& d) { d.plan.recompute = v.boolean() ? Recompute::Full : Recompute::None; }},
    {"checkpoint-num-layers", "",
     [](const ParallelPlan& p) { return written_if(p.recompute_scope.together > 1, std::to_string(p.recompute_scope.together)); },
     [](const Value& v, Draft& d) { d.plan.recompute_scope.together = blocks_together(v); }},
    {"zero-optimization.reduce-scatter", "", nullptr, read_reduce_scatter},
    {"zero-optimization.stage", "", [](const ParallelPlan& p) { return written(p.zero_stage); }, number_said, false, "zero-stage"},
    {"gates", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text() != "swiglu") v.lost(v.text() + ": taken as SwiGLU, whose products are the same", "mind the function");
     }},
    {"te-fp8-format", "", nullptr, word_said<kFormatsOfNeox>},
    {"te-columnparallel", "", nullptr, flag_said},
    {"te-rowparallel", "", nullptr, flag_said},
    {"te-layernorm-mlp", "", nullptr, flag_said},
    {"te-mha", "", nullptr, flag_said},
    {"te-fp8-wgrad", "", nullptr, flag_said},
    {"zero-optimization.stage3-prefetch-bucket-size", "", nullptr, number_said},
    {"zero-optimization.stage3-param-persistence-threshold", "", nullptr, number_said},
    {"zero-optimization.offload-optimizer.device", "", nullptr, read_offload},
    {"zero-optimization.offload-param.device", "", nullptr, read_offload_of_weights},
    {"zero-optimization.offload-optimizer.buffer-count", "", nullptr, number_said},
    {"zero-optimization.offload-optimizer.pipeline-read", "", nullptr, flag_said},
    {"zero-optimization.offload-optimizer.pipeline-write", "", nullptr, flag_said},
    {"zero-optimization.offload-param.buffer-count", "", nullptr, number_said},
    {"zero-optimization.offload-param.buffer-size", "", nullptr, number_said},
    {"zero-optimization.offload-param.max-in-cpu", "", nullptr, number_said},
    {"zero-optimization.sub-group-size", "", nullptr, number_said},
    {"mlp-multiple-of", "", nullptr, number_said},
    {"fp32-allreduce", "communication-data-type", nullptr,
     [](const Value& v, Draft& d) {
       constexpr std::string_view kTypes[] = {"fp32", "fp16", "bf16", "bfp16", "true", "True"};
       tell_other_word(v, kTypes);
       const bool is_fp32 = v.text() == "fp32" || v.text() == "true" || v.text() == "True";
       if (is_fp32 && said(d, "accumulate-allreduce-grads-in-fp32") == nullptr)
         v.lost("gradients are summed in fp32; the plan's travel in 16 bit", "mind the time of the network");
     }},
    {"gpt-j-residual", "", nullptr, flag_said},
    {"use-bias-in-mlp", "", nullptr, flag_said},
    {"gpt-j-tied", "", nullptr, flag_said},
    {"norm", "", nullptr, [](const Value& v, Draft&) { v.lost(v.text() + ": taken as LayerNorm", "a little time"); }},
    {"pos-emb", "", nullptr, [](const Value& v, Draft&) { v.lost(v.text() + ": taken as learned positions", "a little time and memory"); }},
    {"activation", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text() != "gelu") v.lost(v.text() + ": taken as GELU, whose products are the same but for gates", "mind gated ones");
     }},
    {"attention-config", "", nullptr, only_said},
    {"scaled-upper-triang-masked-softmax-fusion", "", nullptr, flag_said},
    {"scaled-masked-softmax-fusion", "", nullptr, flag_said},
    {"bias-gelu-fusion", "", nullptr, flag_said},
    {"bias-dropout-fusion", "", nullptr, flag_said},
    {"rmsnorm-fusion", "", nullptr, flag_said},
    {"optimizer.type", "", nullptr,
     [](const Value& v, Draft&) { v.lost(fmt::format("is {}, which no plan has: AdamW is taken", v.text()), "mind its state's memory"); }},
};

// What changes in a file is said by its own names: Megatron's rows read alone, and twins of them write.
std::vector<Field> fields_of_neox() {
  constexpr std::string_view kSaidOtherwise =
      "recompute-granularity recompute-method recompute-num-layers recompute-modules use-distributed-optimizer use-megatron-fsdp "
      "data-parallel-sharding-strategy overlap-param-gather ckpt-format pipeline-model-parallel-layout";
  std::vector<Field> all(std::begin(kOwnOfNeox), std::end(kOwnOfNeox));
  for (Field argument : megatron_fields()) {
    const auto name = std::ranges::find(kNeoxNames, argument.key, &Renaming::argument);
    Field twin{name == std::end(kNeoxNames) ? argument.key : name->key, "", argument.write, only_said};
    twin.means = argument.key;
    const bool is_renamed = argument.write != nullptr && twin.key != argument.key;
    if (is_renamed || has_name(kSaidOtherwise, argument.key)) argument.write = nullptr;
    all.push_back(argument);
    if (is_renamed) all.push_back(twin);
  }
  return all;
}
const std::vector<Field> kNeoxFields = fields_of_neox();

std::vector<LostSetting> lost_of_neox() {
  std::vector<LostSetting> all = {
      {"sparsity-config.*", "which tokens attend; the plan's attention is whole"},
      {"partition-activations", "saved activations are cut over tensor ranks; the plan keeps them whole"},
      {"moe-expert-interval moe-*", "experts; the plan has none of them"},
      {"soft-prompt-tuning.* adapter-config.*", "some weights are trained alone; the plan trains all"},
      {"use-mup mup-*", "another start and other rates"},
      {"te-fp8-mha", "attention in 8 bit; the plan's is not"},
      {"comms-logger.enabled", "the host waits behind each collective, beside which nothing runs then; the plan's goes on"},
      {"autotuning.enabled", "batches or work that change while it runs; the plan's do not"},
      {"log-gradient-noise-scale", "gradients of several steps are kept and compared"},
      {"output-layer-parallelism", "another cut of the head over tensor ranks; the plan's is by columns", "but column"},
      {"zero-optimization.contiguous-gradients", "gradients cross from where they are, without a bucket's memory; the plan has its bucket",
       "off"},
  };
  all.insert(all.end(), megatron_lost().begin(), megatron_lost().end());
  return all;
}
const std::vector<LostSetting> kNeoxLost = lost_of_neox();

const std::string kNeoxWithoutEffect =
    std::string(kMegatronWithoutEffect) +
    " rope-fusion layernorm-fusion init-method output-layer-init-method use-bias-in-attn-linear use-bias-in-norms use-wandb "
    "wandb-* tensorboard-* log-* gas steps-per-print wall-clock-breakdown keep-last-n-checkpoints checkpoint-factor extra-save-iters "
    "zero-optimization.allgather-partitions zero-optimization.allgather-bucket-size "
    "zero-optimization.load-from-fp32-weights zero-optimization.elastic-checkpoint fp16.* bf16.* "
    "zero-optimization.stage3-max-* zero-optimization.stage3-gather-* te-fp8-amax-* te-fp8-margin "
    "zero-optimization.offload-param.* zero-optimization.offload-optimizer.* synchronize-each-layer "
    "checkpoint-in-cpu contiguous-checkpointing warmup lr-decay-iters hysteresis launcher no-ssh-check memory-profiling "
    "memory-profiling-path peak-theoretical-tflops use-shared-fs "
    "deepspeed-* is-pipe-parallel attention-softmax-in-fp32 text-gen-type text-generation.* hostfile master-port vocab-file "
    "merge-file data-path train-data-paths test-data-paths valid-data-paths train-data-weights data-impl weight-by-num-documents "
    "weighted-sampler-alpha checkpoint.* checkpoint-validation-with-forward-pass num-workers precision mlp-type allow-chopping pack-impl "
    "optimizer.params.* scheduler.* comms-logger.* csv-monitor.* zero-allow-untested-optimizer autotuning.* make-vocab-size-divisible-by "
    "data-types.* iteration train-iters save load finetune eval-* do-train do-valid do-test checkpoint-scale git-hash ";

RecipeReading neox_settings(const RecipeSource& source) {
  RecipeReading reading{read_yaml(source.text, source.path), {}, {}};
  const auto is_bf16 = [](const RecipeSetting& one) { return one.key == "fp16.type" && (one.value == "bfloat16" || one.value == "bf16"); };
  const bool is_old_bf16 = std::ranges::any_of(reading.settings, is_bf16);  // "fp16": {"type": "bfloat16"} of its release 1
  for (RecipeSetting& setting : reading.settings) {
    if (is_old_bf16 && setting.key == "fp16.enabled") setting.key = "bf16.enabled";
    setting = as_an_argument(setting);
  }
  // Degrees first: others are read with them.
  std::stable_partition(reading.settings.begin(), reading.settings.end(),
                        [](const RecipeSetting& one) { return one.key.ends_with("model-parallel-size"); });
  return reading;
}

// Of a feed-forward of the llama kind: two thirds of four times the width, in multiples of 256.
std::int64_t width_of_llama(std::int64_t hidden) { return (std::int64_t{8} * hidden / 3 + 255) / 256 * 256; }

// A gated activation shares its input among both products: two thirds of the width that is said, each half of them, in multiples.
std::int64_t width_of_gates(std::int64_t said, std::int64_t multiple) {
  const std::int64_t half = said * 2 / 3 / 2;
  return (half + multiple - 1) / multiple * multiple;
}

std::optional<ModelConfig> neox_network(Draft& draft, const RecipeContext& context) {
  draft.said.try_emplace("hidden-dropout", "0");
  draft.said.try_emplace("attention-dropout", "0");
  if (said(draft, "num-query-groups") != nullptr) draft.said["group-query-attention"] = "true";
  const double hidden = number_of(draft, "hidden-size", 0);
  const bool is_of_llama = said(draft, "swiglu") != nullptr;  // a feed-forward without biases
  if (is_of_llama) {
    draft.said.try_emplace("ffn-hidden-size", std::to_string(width_of_llama(static_cast<std::int64_t>(hidden))));
  } else if (said(draft, "gates") != nullptr) {
    const double width = number_of(draft, "ffn-hidden-size", 4 * hidden), multiple = number_of(draft, "mlp-multiple-of", 1);
    draft.said["swiglu"] = "true";
    draft.said["ffn-hidden-size"] =
        std::to_string(width_of_gates(static_cast<std::int64_t>(width), std::max<std::int64_t>(1, static_cast<std::int64_t>(multiple))));
  }
  std::optional<ModelConfig> network = megatron_network(draft, context);
  if (network) network->mlp_bias = !is_of_llama && is_on(text_of(draft, "use-bias-in-mlp", "true"));
  if (network && said(draft, "gpt-j-residual") != nullptr) {
    network->parallel_blocks = true;
    network->shared_norm = said(draft, "gpt-j-tied") != nullptr;
  }
  return network;
}

// Products of Transformer Engine's layers, where they stand in for the network's own.
void settle_scaled_products(Draft& draft) {
  if (said(draft, "te-fp8-format") == nullptr) return;
  const auto has = [&](const char* key) { return said(draft, key) != nullptr; };
  const bool blocks = has("te-layernorm-mlp") && has("te-mha"), linear = has("te-columnparallel") && has("te-rowparallel");
  if (!has("te-layernorm-mlp") && !has("te-mha") && !has("te-columnparallel") && !has("te-rowparallel")) return;
  draft.scales_products = true;
  draft.scales = ScaleRecipe::Delayed;
  if (!blocks && !linear) draft.lost.push_back({"te-fp8-format", "is of some of the products; the plan's all are in 8 bit", "mind time"});
  if (draft.said.contains("te-fp8-wgrad") && !has("te-fp8-wgrad"))
    draft.lost.push_back({"te-fp8-wgrad", "is off: weights' gradients are of products in 16 bit; the plan's are in 8", "mind time"});
  if (!draft.is_fp16) return;
  draft.is_fp16 = false, draft.is_bf16 = true;
  draft.lost.push_back({"fp16", "beside products in 8 bit; the plan has bf16 there, which is as wide", "mind the loss scale alone"});
}

// [[["flash"], 24]], or several kinds with their numbers of layers. Not said: "global", which writes its scores out; softmax and mask are one kernel where
// that is switched on.
void settle_attention_of_neox(Draft& draft) {
  std::string text = text_of(draft, "attention-config", "global");
  const auto takes = [&](std::string_view kind) {
    const std::size_t found = text.find(kind);
    if (found == std::string::npos) return false;
    while (text.find(kind) != std::string::npos) text.erase(text.find(kind), kind.size());
    return true;
  };
  const bool is_flash = takes("flash"), is_global = takes("global");
  takes("all");
  const bool is_other = std::ranges::any_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
  if (is_other || is_flash == is_global) {
    draft.lost.push_back(
        {"attention-config", "has kinds that differ by layer, or are no whole attention; the plan has one kernel", "mind its time"});
    return;
  }
  const bool is_fused =
      said(draft, "scaled-upper-triang-masked-softmax-fusion") != nullptr || said(draft, "scaled-masked-softmax-fusion") != nullptr;
  take_attention("attention-config",
                 is_flash   ? AttentionWord::Flash2
                 : is_fused ? AttentionWord::FusedSoftmax
                            : AttentionWord::Unfused,
                 draft);
}

// Off, unless the file says so (neox_args.py); one kernel of bias and activation is of GELU alone.
void settle_kernels_of_neox(Draft& draft) {
  SoftwareStack& stack = draft.plan.cluster.software;
  const auto is_fused = [&](const char* key) { return said(draft, key) != nullptr; };
  stack.fused_activation = is_fused("bias-gelu-fusion") && said(draft, "swiglu") == nullptr;
  stack.fused_residual = is_fused("bias-dropout-fusion");
  stack.unfused_rms_norm = !is_fused("rmsnorm-fusion");
}

void settle_neox(Draft& draft) {
  if (said(draft, "include") != nullptr)
    draft.unknown.push_back({"include", "starts on these devices alone; the plan has those of --devices", "give --devices to match"});
  if (!draft.fp32_gradients) draft.fp32_gradients = false;  // of the type of the weights, as DeepSpeed has them
  if (!draft.microbatch && !draft.global_batch) draft.microbatch = 1;
  settle_scaled_products(draft);
  draft.said.try_emplace("deepspeed", "true");  // whose stages need not be even
  settle_megatron(draft);
  settle_attention_of_neox(draft);
  settle_kernels_of_neox(draft);
  settle_drives(draft);
  if (draft.plan.zero_stage < 3) return;
  draft.prefetched_elements =
      static_cast<std::int64_t>(std::clamp(number_of(draft, "zero-optimization.stage3-prefetch-bucket-size", 5e7), 0.0, 1e15));
  const double whole = number_of(draft, "zero-optimization.stage3-param-persistence-threshold", 1e5);
  if (!draft.plan.offload_parameters) draft.plan.persistence_threshold = static_cast<std::int64_t>(std::clamp(whole, 0.0, 1e15));
}

void judge_neox(const ParallelPlan& plan, Judgement& judgement) {
  judge_megatron_core(plan, judgement);
  judgement.refuse(plan.chunks > 1, "/chunks", fmt::format("{} chunks a stage: stages are whole there", plan.chunks),
                   "plan with --fix schedule=1f1b");
  judgement.refuse(plan.recompute == Recompute::Selective, "/recompute", "blocks are recomputed whole there, or not at all",
                   "plan with --fix recompute=full or none");
  judgement.refuse(plan.zero_stage >= 2 && plan.mesh.pipeline > 1, "/zero_stage",
                   fmt::format("stage {} beside {} stages of a pipeline: DeepSpeed refuses it", plan.zero_stage, plan.mesh.pipeline),
                   "plan with --fix zero=1");
}

}  // namespace

const Program kNeox = {.name = "neox",
                       .title = "GPT-NeoX",
                       .version = "2.0",
                       .file = "config.yml",
                       .marks = "pipe-parallel-size\": pipe_parallel_size\": pipe-parallel-size: pipe_parallel_size:",
                       .fields = kNeoxFields,
                       .judge = judge_neox,
                       .files = no_files,
                       .settings = neox_settings,
                       .settle = settle_neox,
                       .lost = kNeoxLost,
                       .without_effect = kNeoxWithoutEffect,
                       .training = megatron_training(),
                       .network = neox_network,
                       .software = "megatron-deepspeed",
                       .habits = megatron_habits};

}  // namespace sim
