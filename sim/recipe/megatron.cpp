// Megatron-LM: arguments of pretrain_gpt.py, as a shell script. Not its --yaml-cfg: that is another schema, of which most arguments are missing.
// Ranks stand as ours do: tensor fastest, then context, data, pipeline (its default order tp-cp-ep-dp-pp).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/model/model_words.h"
#include "sim/plan/field_words.h"
#include "sim/recipe/accelerate_megatron.h"
#include "sim/recipe/accounting.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/megatron_adapters.h"
#include "sim/recipe/megatron_hybrid.h"
#include "sim/recipe/megatron_layout.h"
#include "sim/recipe/megatron_network.h"
#include "sim/recipe/megatron_residency.h"
#include "sim/recipe/megatron_stages.h"
#include "sim/recipe/megatron_words.h"
#include "sim/recipe/nemo_hydra.h"
#include "sim/recipe/network.h"
#include "sim/recipe/primus.h"
#include "sim/recipe/program.h"
#include "sim/recipe/recomputed_stages.h"
#include "sim/recipe/started.h"
#include "sim/units/at.h"

namespace sim {
namespace {

void refuse_experts(const ExpertForm& form, Judgement& judgement) {
  judgement.refuse(form.score == RouterScore::Sigmoid && form.renormalised != (form.topk > 1), "/model/norm_topk_prob",
                   "sigmoid scores of several experts are divided by their sum there, and of one are not", "change norm_topk_prob");
  judgement.refuse(form.score == RouterScore::Softmax && form.renormalised && form.topk == 1, "/model/norm_topk_prob",
                   "one expert's score is not divided by itself there", "change norm_topk_prob");
}

// A recipe carries its network, or is refused.
void refuse_networks(const ModelConfig& model, Judgement& judgement) {
  judgement.refuse(model.gated_mlp && model.activation != Activation::Silu, "/model/hidden_act", "a gated feed-forward is SwiGLU there",
                   "export to another program");
  judgement.refuse(model.ffn > 0 && !model.gated_mlp && model.activation != Activation::GeluTanh && model.activation != Activation::Gelu &&
                       model.activation != Activation::SquaredRelu,
                   "/model/hidden_act", "there is no argument for relu and silu without a gate", "export to another program");
  const bool has_expert_biases = model.experts && model.experts->biases, biases = model.mlp_bias || has_expert_biases;
  const bool fits =
      biases ? model.attention_bias && model.projection_bias && (!model.experts || has_expert_biases) : !model.projection_bias;
  judgement.refuse(!fits, "/model/attention_bias", "biases stand in all linear layers there, or in that of queries, keys and values alone",
                   "export to another program");
  judgement.refuse(model.attention.kind == AttentionKind::Sliding, "/model/sliding_window", "windows are of every layer there",
                   "export to another program");
  const RopeScaling& rope = model.rope_scaling;
  const bool is_llama =
      rope.kind == RopeScalingKind::Llama3 && rope.low_frequency == 1 && rope.high_frequency == 4 && rope.original_positions == 8192;
  const bool is_yarn = rope.kind == RopeScalingKind::Yarn;
  judgement.note(is_yarn && !is_yarn_of_megatron(model), "/model/rope_scaling",
                 model.attention.kind == AttentionKind::Latent
                     ? "yarn's ramp is DeepSeek's there, and this network has another"
                     : "yarn has no arguments there: the script alone trains positions that are not scaled",
                 "set these numbers in the model provider's configuration; time and memory are the same");
  judgement.refuse(rope.kind != RopeScalingKind::None && !is_llama && !is_yarn, "/model/rope_scaling",
                   fmt::format("{} with these numbers has no arguments", sim::at(kRopeScalingNames, rope.kind)),
                   "export to another program");
  judgement.note(model.embedding_dropout != model.residual_dropout, "/model/embd_pdrop",
                 "embeddings have the dropout of hidden states there", "make both equal");
  judgement.note(model.attention.is_sparse(), "/model/index_topk",
                 "release 0.16.1 writes the scores of all pairs, and turns positions without a fused kernel",
                 "take a later release with fused kernels for it, and say no-rope-fusion");
  constexpr std::string_view kWritten =
      "indexer groups mtp_layers window sinks rotary_share offset_norm gate_limit shared_gate expert_biases linear halves no_positions "
      "attention_gate";
  for (const ModelWord& word : model_words()) {
    if (!word.stands_in(model)) continue;
    const bool is_written = has_name(kWritten, word.name) || (word.name == "qk_norm" && model.qk_norm == QkNorm::Heads);
    judgement.refuse(!is_written, "/model", fmt::format("has {}, which is not written", word.what), "export to another program");
  }
  judgement.refuse(model.gate_limit > 0 && (!model.experts || !model.gated_mlp), "/model/swiglu_limit",
                   "clamped gates are of gpt-oss's experts there", "export to another program");
  judgement.refuse(model.attention_gate && model.softplus_gate, "/model", "a gate behind attention is a sigmoid there",
                   "export to another program");
  if (model.experts) refuse_experts(*model.experts, judgement);
}

// PipelineParallelLayerLayout of release 0.16.1: in the last virtual stage of their rank, which is not the embedding's.
void refuse_places_of_predictions(const ParallelPlan& plan, Judgement& judgement) {
  if (!plan.model.predicts_apart() || plan.mesh.pipeline == 1) return;
  const ChunkSite site = plan.site(plan.virtual_stage(plan.predicting()));
  judgement.refuse(site.stage == StageIndex(0) || site.chunk.value() + 1 != plan.chunks, "/cut",
                   "layers that predict further tokens stand in the last chunk of their stage there, and not on the first stage",
                   "cut the pipeline so, or leave mtp_apart out");
}

}  // namespace

void judge_megatron_core(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  const Precision precision = plan.workload.precision.compute();
  judgement.refuse(mesh.pipeline > 1 && plan.schedule != "1f1b" && plan.schedule != "interleaved", "/schedule",
                   fmt::format("Megatron-LM performs 1f1b and interleaved, not {}", plan.schedule),
                   "plan with --fix schedule=1f1b or interleaved; torchtitan takes any order");
  judgement.refuse(precision == Precision::Fp64 || precision == Precision::Tf32, "/workload/precision",
                   fmt::format("there is no argument for {}", sim::at(kPrecisionNames, precision)),
                   "plan with --precision bf16, fp16 or fp32");
  judgement.refuse(plan.workload.precision.scales() == ScaleRecipe::Rowwise, "/workload/precision",
                   "there is no argument for scales of rows", "plan with --precision fp8:tensorwise, or another of its recipes");
  judge_unscaled_blocks(plan, judgement);
  judgement.refuse(plan.model.experts && mesh.tensor > 1 && !plan.sequence_parallel, "/sequence_parallel",
                   fmt::format("experts on tensor degree {} train with sequence parallel alone", mesh.tensor),
                   "plan with --fix sequence_parallel=true");
  judgement.refuse(mesh.expert > 1 && precision == Precision::Fp16, "/workload/precision",
                   fmt::format("expert degree {} does not train in fp16", mesh.expert), "plan with --precision bf16");
  judgement.refuse(mesh.context > 1 && plan.workload.sequence % (std::int64_t{2} * mesh.context) != 0, "/mesh/context",
                   fmt::format("sequence {} is no multiple of 2 x context {}", plan.workload.sequence, mesh.context),
                   "plan with another context degree");
  judgement.refuse(plan.zero_stage == 3 && !plan.reshard_after_forward, "/reshard_after_forward",
                   "optim_grads_params frees weights after the forward", "plan with --fix reshard=true");
  judgement.refuse(plan.zero_stage == 0 && mesh.replicas > 1, "/mesh/replicas",
                   fmt::format("{} replicas need an optimizer that is cut", mesh.replicas), "plan with --fix zero=1");
  judgement.refuse(plan.offload_optimizer && plan.zero_stage != 1, "/offload_optimizer",
                   fmt::format("the optimizer on the host goes with the distributed optimizer, not with stage {}", plan.zero_stage),
                   "plan with --fix zero=1");
  judgement.refuse(plan.offload_optimizer && plan.workload.optimizer == OptimizerKind::Sgd, "/offload_optimizer",
                   "the optimizer on the host is Adam there", "plan with --optimizer adamw, or --fix offload_optimizer=false");
  judgement.refuse(plan.overlap_weight_gather && plan.bucket_size >= kOneBucket, "/overlap_weight_gather",
                   "overlap-param-gather goes with gradients that are reduced beside backward, bucket by bucket",
                   "leave it out of the plan, or use a bucket_size of \"40 MiB\"");
  judgement.refuse(plan.expert_overlap && mesh.pipeline > 1 && plan.chunks == 1, "/expert_overlap",
                   "tokens are exchanged beside another microbatch in an interleaved pipeline alone",
                   "plan with --fix schedule=interleaved");
  judgement.refuse(plan.expert_overlap && plan.zero_stage == 3, "/expert_overlap",
                   "nobody has said that tokens are exchanged beside gathers of stage 3", "plan with --fix zero=1");
  judgement.refuse(plan.model.experts && (plan.model.mlp_bias || plan.model.experts->biases) && mesh.expert_cut() > 1,
                   "/mesh/expert_tensor", fmt::format("experts with biases are not cut over {} tensor ranks", mesh.expert_cut()),
                   "plan with --fix expert_tensor=1");
  note_units(plan, judgement);
  note_reshard(plan, judgement);
  const bool several = plan.num_microbatches() > 1;
  judgement.note(several && is_by_megatron_fsdp(plan) != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
                 is_by_megatron_fsdp(plan) ? "gradients are reduced with every microbatch there, in the plan with the last"
                                           : "gradients are reduced with the last microbatch there, in the plan with each",
                 "simulate the plan imported again");
  refuse_networks(plan.model, judgement);
  refuse_places_of_predictions(plan, judgement);
  refuse_hybrids(plan, judgement);
  judgement.refuse(plan.cuda_graphs == CudaGraphs::PerLayer && plan.recompute == Recompute::Full, "/recompute",
                   "graphs of layers are not recorded there where whole blocks are recomputed",
                   "use selective, or cuda_graphs=full_iteration");
  judgement.refuse(plan.expert_overlap && !is_sixteen_bit(plan.workload.precision.compute()), "/expert_overlap",
                   "exchanges run there beside another microbatch's computation in 16 bit alone", "use bf16, or leave it out");
  const RecomputeScope& scope = plan.recompute_scope;
  judgement.refuse(scope.every > 1 || scope.but_last || !scope.by_stage.empty() || scope.modules.has(Module::Op), "/recompute_scope",
                   fmt::format("\"{}\" has no setting there", to_text(scope)), "name modules, or the first blocks of each chunk");
  judgement.note(plan.zero_stage == 3 && plan.prefetch > 1, "/prefetch", "it gathers one unit ahead", "use prefetch=1");
  judgement.note(plan.zero_stage != 3 && plan.prefetch != 1, "/prefetch", "has a meaning for stage 3 alone", "nothing to do");
}

namespace {

void judge_megatron(const ParallelPlan& plan, Judgement& judgement) {
  judge_megatron_core(plan, judgement);
  judgement.note(plan.training.checkpoint_interval > 0 || plan.training.loss_scale_rule != LossScaleRule::PyTorch, "/training",
                 "how often is saved, and how the loss scale follows overflows, is left to the program", "add --save and --save-interval");
  judgement.note(true, "", "data, tokenizer and the number of iterations are not of the plan", "give them behind the script's name");
}

std::vector<RecipeFile> megatron_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  const bool one_connection = !is_by_megatron_fsdp(plan) && (plan.mesh.tensor > 1 || plan.mesh.context > 1);
  const std::string command =
      fmt::format("{}torchrun --nnodes {} --nproc-per-node {} pretrain_{}.py", one_connection ? "CUDA_DEVICE_MAX_CONNECTIONS=1 " : "",
                  plan.cluster.hosts(), plan.cluster.devices_per_host(), is_hybrid(plan.model) ? "mamba" : "gpt");
  return {{std::string(kMegatron.file), shell_text(head, settings, command)}};
}

// What `megatron sft` and `megatron pt` of ms-swift have where the line says nothing (its Megatron-SWIFT parameters, 3.12).
void take_defaults_of_swift(RecipeReading& reading) {
  const bool is_swift = std::ranges::any_of(std::initializer_list<std::string_view>{"megatron sft ", "megatron pt ", "megatron rlhf ",
                                                                                    "swift.cli._megatron.", "swift/cli/_megatron/"},
                                            [&](std::string_view name) { return reading.command.find(name) != std::string::npos; });
  if (!is_swift) return;
  const RecipeSetting kUsual[] = {{"of-swift", "true"},
                                  {"use-distributed-optimizer", "true"},
                                  {"micro-batch-size", "1"},
                                  {"global-batch-size", "16"},
                                  {"moe-token-dispatcher-type", "alltoall"},
                                  {"recompute-granularity", "selective"},
                                  {"moe-grouped-gemm", "true"},
                                  {"attention-backend", "flash"}};
  constexpr Renaming kTypes[] = {{"torch-dtype", "bfloat16", "bf16", "true"}, {"torch-dtype", "float16", "fp16", "true"}};
  for (RecipeSetting& one : reading.settings)
    if (has_name("model model-type", usual_argument(one.key)))
      one = {"model-name-or-path", one.value, one.key};  // the network is the one of --model
    else if (const std::optional<RecipeSetting> type = renamed({usual_argument(one.key), one.value}, kTypes))
      one = {type->key, type->value, one.key};
  for (const RecipeSetting& own : kUsual)
    if (std::ranges::none_of(reading.settings, [&](const RecipeSetting& one) { return usual_argument(one.key) == own.key; }))
      reading.settings.push_back(own);
}

// Megatron-LM's own pretrain_gpt.py makes GPT-2's network of what no option names; a script of another name may have its own in its code.
void doubt_network_of_script(RecipeReading& reading) {
  struct Kind {
    std::string_view words, options;
  };
  constexpr Kind kKinds[] = {{"norm", "normalization apply-layernorm-1p apply-layernorm-rms"},
                             {"activation", "swiglu squared-relu openai-gelu onnx-safe quick-geglu"},
                             {"positions", "position-embedding-type use-rotary-position-embeddings no-position-embedding rotary-base"}};
  const auto says = [&](std::string_view names) {
    return std::ranges::any_of(reading.settings, [&](const RecipeSetting& one) { return has_name(names, one.key); });
  };
  std::string script = started_program(reading.command);  // the last one, where a script starts another
  for (const std::string& word : words_of(reading.command.substr(0, reading.command.find(" --num-layers"))))
    if (word.ends_with(".py")) script = word;
  script.erase(0, script.rfind('/') + 1);
  const bool is_of_hybrids = script == "pretrain_mamba.py" || script == "pretrain_hybrid.py";  // Mamba-2, where no option says more
  if (is_of_hybrids && !says("is-hybrid-model hybrid-*")) reading.settings.push_back({"is-hybrid-model", "true"});
  const bool is_its_own = has_name("pretrain_gpt.py pretrain_gpt2.py megatron_gpt_pretraining.py", script) || is_of_hybrids;
  if (script.empty() || is_its_own || !says("hidden-size")) return;
  std::string open;
  for (const Kind& kind : kKinds)
    if (!says(kind.options)) open += fmt::format("{}{}", open.empty() ? "" : " or ", kind.words);
  if (open.empty()) return;
  reading.settings.push_back({std::string(kNetworkOfCode), script + " makes the network, and no option names its " + open});
}

// DeepSpeed's file, where it lies beside the script.
void read_deepspeed_beside(const RecipeSource& source, RecipeReading& reading) {
  for (const RecipeSetting& one : reading.settings)
    if (usual_argument(one.key) == "deepspeed-config" && !reading.documents.contains(one.value))
      if (std::optional<std::string> text = script_beside(source.path, one.value)) reading.documents[one.value] = std::move(*text);
}

RecipeReading megatron_settings(const RecipeSource& source) {
  const auto is_known = [&](const std::string& key) {
    return is_known_to(source.program, usual_argument(key)) || key.starts_with("megatron_lm_");
  };
  const bool is_command = source.text.find("--") != std::string::npos || source.text.find(".py ") != std::string::npos;
  const bool is_shell = (is_command && !begins_as_yaml(source.text)) || is_hydra_launch(source.text);
  RecipeReading reading = is_of_primus(source.text, "megatron") ? primus_of_megatron(source)
                          : is_shell                            ? read_shell(source.text, source.path, source.given, is_known)
                                                                : RecipeReading{read_yaml(source.text, source.path), {}, {}};
  std::erase_if(reading.settings, [](const RecipeSetting& one) { return one.key.starts_with("ENV_VARS"); });
  take_defaults_of_swift(reading);
  read_deepspeed_beside(source, reading);
  read_hydra_file(source, reading);
  if (is_of_nemo_hydra(reading.settings))
    reading.settings = arguments_of_nemo_hydra(reading.settings);
  else if (is_of_accelerate_megatron(reading.settings))
    take_accelerate_megatron(reading);
  else
    take_usual_names(reading);
  doubt_network_of_script(reading);
  // Degrees first, and what is recomputed: others are read with them.
  std::stable_partition(reading.settings.begin(), reading.settings.end(), [](const RecipeSetting& one) {
    return one.key.ends_with("model-parallel-size") || one.key == "recompute-granularity" || one.key == "checkpoint-activations" ||
           one.key.ends_with("checkpoint-method") || one.key.ends_with("checkpoint-granularity") || one.key == "recompute-method" ||
           one.key == "optimizer-cpu-offload";
  });
  return reading;
}

const std::string kIdleOfMegatron = std::string(kMegatronWithoutEffect) + std::string(kHydraWithoutEffect) +
                                    " of-swift primus-* stderr-sink-level auto-continue-train disable-last-saving "
                                    "val-dataset save-safetensors dataloader-num-workers dataset-num-proc streaming "
                                    "model-author model-name system split-dataset-ratio use-hf load-safetensors merge-lora "
                                    "load-from-cache-file lazy-tokenize ignore-args-error padding-free init-from-hf-path model-id " +
                                    std::string(kNetworkOfCode) + " ";

// Without overlap all gradients of a rank wait for the last of them: one bucket. With it a bucket has 40 million, and more from 40 data ranks on.
void settle_buckets(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t data = plan.cluster.devices / std::max<std::int64_t>(1, std::int64_t{plan.mesh.tensor} * plan.mesh.pipeline);
  const bool overlaps = draft.overlaps_reduce.value_or(false);
  if (!overlaps && plan.zero_stage < 2) {
    draft.bucket_elements.reset();
    plan.bucket_size = kOneBucket;
  } else if (!draft.bucket_elements) {
    draft.bucket_elements = std::max<std::int64_t>(40'000'000, 1'000'000 * data);
  }
  plan.prefetch = plan.zero_stage != 3 || draft.overlaps_gather ? 1 : 0;
  const bool gathers = draft.overlaps_gather && (plan.zero_stage == 1 || plan.zero_stage == 2);
  plan.overlap_weight_gather = gathers && data > plan.mesh.replicas && !plan.offload_optimizer;
  if (gathers && plan.zero_stage == 1 && !overlaps)
    draft.unknown.push_back({"overlap-param-gather",
                             "stands without overlap-grad-reduce, which Megatron-LM refuses: the plan gathers beside the forward",
                             "add --overlap-grad-reduce, or leave both out"});
  if (gathers && plan.offload_optimizer)
    draft.lost.push_back({"overlap-param-gather",
                          "new weights are gathered beside the next forward; those that come up from the host are not, in the plan",
                          "mind its time"});
}

// ms-swift's `megatron sft`: without a type it takes the checkpoint's, and without packing a row has one sample.
void settle_type_of_swift(Draft& draft) {
  if (draft.said.contains("of-swift") && draft.sequence && text_of(draft, "packing", "false") != "true")
    note_unpacked(*draft.sequence, draft);
  if (draft.is_bf16 || draft.is_fp16 || !draft.said.contains("of-swift")) return;
  draft.is_bf16 = true;
  draft.unknown.push_back(
      {"torch_dtype", "is not given, and ms-swift takes the checkpoint's type: bf16 is taken", "add --bf16 true, if it is"});
}

// ms-swift cuts no expert over tensor ranks unless it is asked to; Megatron-LM cuts each over all of them.
void settle_experts_of_swift(Draft& draft) {
  const bool is_open = draft.said.contains("of-swift") && !draft.said.contains("expert-tensor-parallel-size");
  if (is_open && draft.plan.model.experts && draft.plan.mesh.tensor > 1) draft.plan.mesh.expert_tensor = 1;
}

// Whom experts are dealt out to beside what degrees say. MindSpeed: over tensor ranks, too. MegaBlocks: over all data ranks, as far as they go.
void settle_ranks_of_experts(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  DeviceMesh& mesh = plan.mesh;
  if (!plan.model.experts) return;
  if (flag_of(draft, "moe-tp-extend-ep", false) && mesh.tensor > 1) mesh.expert *= mesh.tensor, mesh.expert_tensor = 1;
  if (!flag_of(draft, "moe-expert-model-parallelism", false)) return;
  const std::int64_t others = std::int64_t{mesh.tensor} * mesh.pipeline * mesh.context;
  const std::int64_t data = std::max<std::int64_t>(1, plan.cluster.devices / std::max<std::int64_t>(1, others));
  mesh.expert = static_cast<std::int32_t>(std::gcd(data, plan.model.experts->experts));
  if (mesh.expert < data)
    draft.lost.push_back(
        {"moe-expert-model-parallelism",
         fmt::format("cuts {} experts over {} data ranks; the plan over {}", plan.model.experts->experts, data, mesh.expert),
         "mind experts' memory"});
}

// What another file may hold of it, that is not read.
void doubt_precision(Draft& draft) {
  const auto file = std::ranges::find_if(draft.unknown, [&](const Violation& one) {
    const std::string value = text_of(draft, one.where, "");
    return value.ends_with(".yaml") || value.ends_with(".yml");
  });
  if (file == draft.unknown.end()) return;
  draft.unknown.push_back({"bf16", fmt::format("and fp16 are not said, and {} names a file that may say them: fp32 is taken", file->where),
                           "add --bf16 or --fp16, if that file does"});
}

// Both of a precision-aware optimizer's moments, in the types that a plan has: "bf16", "torch.bfloat16".
void settle_moments(Draft& draft) {
  const std::string types[] = {text_of(draft, "exp-avg-dtype", "fp32"), text_of(draft, "exp-avg-sq-dtype", "fp32")};
  const auto all_are = [&](std::string_view names) {
    return std::ranges::all_of(types, [&](const std::string& type) { return has_name(names, leaf_of(type)); });
  };
  const bool are_bf16 = all_are("bf16 bfloat16"), are_fp16 = all_are("fp16 float16");
  if (all_are("fp32 float32")) return;
  if (!are_bf16 && !are_fp16)
    return draft.lost.push_back(
        {"exp-avg-dtype", fmt::format("{}, and exp-avg-sq-dtype {}: the plan's are fp32", types[0], types[1]), "mind their memory"});
  PrecisionPolicy& policy = draft.plan.workload.precision;
  policy = policy.with(Numbers::Moments, are_bf16 ? Precision::Bf16 : Precision::Fp16);
}

void settle_precision(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  settle_type_of_swift(draft);
  settle_experts_of_swift(draft);
  if (draft.is_bf16 && draft.is_fp16) draft.wrong.push_back({"bf16", "and fp16 are both asked for", "give one precision"});
  if (draft.scales_products && draft.is_fp16)
    draft.wrong.push_back({"fp8-format", "is of runs in bf16", "give --bf16, or no products in 8 bit"});
  if (draft.scales_products && !draft.is_bf16 && !draft.is_fp16)
    draft.lost.push_back(
        {"fp8-format", "without --bf16: what is not in 8 bit is in fp32; in the plan it is in bf16", "mind time and memory"});
  if (!draft.is_bf16 && !draft.is_fp16 && !draft.scales_products) doubt_precision(draft);
  const Precision compute = draft.is_bf16 || draft.scales_products ? Precision::Bf16 : draft.is_fp16 ? Precision::Fp16 : Precision::Fp32;
  plan.workload.precision =
      with_wide(mixed_precision(products_of(draft, compute, ScaleRecipe::Delayed), draft.fp32_gradients.value_or(draft.is_bf16)), draft);
  settle_masters(draft);
  settle_moments(draft);
}

// What else the file says belongs to a dispatcher that it does not name, or is not of the plan.
void note_gathered_tokens(Draft& draft, bool is_said) {
  const ExpertForm& form = *draft.plan.model.experts;
  const bool pads = form.is_limited() && form.dispatch == ExpertDispatch::Padded;
  const auto is_of_primus = [](const auto& one) { return one.first.starts_with("primus-"); };
  if (!is_said && (pads || draft.plan.expert_overlap))
    draft.wrong.push_back({"moe-token-dispatcher-type",
                           fmt::format("is not given, and tokens are gathered, which {} does not go with",
                                       pads ? "--moe-pad-expert-input-to-capacity" : "--overlap-moe-expert-parallel-comm"),
                           "add --moe-token-dispatcher-type alltoall, or flex"});
  if (!is_said && text_of(draft, "moe-flex-dispatcher-backend", "") == "true" && std::ranges::none_of(draft.said, is_of_primus))
    draft.wrong.push_back({"moe-enable-deepep", "is of the dispatcher flex, and none is given: Megatron-Core refuses it",
                           "add --moe-token-dispatcher-type flex"});
  if (!is_said && std::ranges::any_of(draft.said, is_of_primus))
    draft.lost.push_back({"moe-token-dispatcher-type",
                          "is not given here: tokens are gathered in the plan, and Primus' file of the network may say otherwise",
                          "add it to the overrides"});
  const std::string type = text_of(draft, "moe-router-dtype", "");
  if (type == "fp32" || type == "fp64")
    draft.lost.push_back(
        {"moe-router-dtype",
         fmt::format("is {}, in which gathered tokens are summed on their way back; the plan sums them as activations", type),
         "mind its time"});
}

// Not said, tokens are gathered. What the software profile's program does in any case is no word of the plan.
void settle_dispatcher(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  TokenDispatcher& dispatcher = plan.token_dispatcher;
  const bool moves = plan.model.experts && plan.mesh.moves_tokens(), once = plan.cluster.software.dispatch_share > 0;
  const bool is_said = dispatcher != TokenDispatcher::AsTheProgram;
  if (!is_said) dispatcher = TokenDispatcher::AllGather;
  if (moves && dispatcher == TokenDispatcher::AllGather) note_gathered_tokens(draft, is_said);
  const bool is_usual = dispatcher == (once ? TokenDispatcher::Hierarchical : TokenDispatcher::AllToAll);
  if (!moves || is_usual) dispatcher = TokenDispatcher::AsTheProgram;
}

// Not said, experts are computed one after another (SequentialMLP); the software profile's program groups them.
void note_single_products(Draft& draft) {
  if (!draft.plan.model.experts || said(draft, "moe-grouped-gemm") != nullptr || said(draft, "moe-use-legacy-grouped-gemm") != nullptr)
    return;
  draft.plan.cluster.software.expert_workspaces = 0;
  draft.lost.push_back(
      {"moe-grouped-gemm", "is not given, and experts are computed one after another; the plan groups their products", "mind its time"});
}

void settle_overlap(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  if (!plan.expert_overlap) return;
  constexpr std::string_view kOverlap = "overlap-moe-expert-parallel-comm";  // what Megatron-Core itself refuses
  if (plan.mesh.pipeline > 1 && plan.chunks == 1)
    draft.wrong.push_back({std::string(kOverlap), "wants virtual stages where stages are", "add --num-layers-per-virtual-pipeline-stage"});
  if (flag_of(draft, "moe-shared-expert-overlap", false))
    draft.wrong.push_back({std::string(kOverlap), "goes without moe-shared-expert-overlap", "leave one out"});
  if (plan.zero_stage < 3) return;
  plan.expert_overlap = plan.delay_wgrad = false;
  draft.lost.push_back({std::string(kOverlap), "beside gathers of stage 3: in the plan exchanges stand by themselves", "it takes longer"});
}

}  // namespace

void settle_megatron(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  take_processes(draft);
  tell_of_one_rank(draft);
  settle_predictions(draft);
  settle_ranks_of_experts(draft);
  settle_dispatcher(draft);
  settle_attention_of_megatron(draft);
  doubt_words_of_forks(draft);
  note_single_products(draft);
  settle_adapters_of_megatron(draft);
  settle_stages(draft);
  settle_precision(draft);
  settle_stage_of_megatron(draft);
  settle_overlap(draft);
  settle_buckets(draft);
  if (!draft.microbatch && draft.microbatch_beside == 0)
    draft.wrong.push_back({"micro-batch-size", "is missing", "add it, give --microbatch, or the command that starts the training"});
  draft.accumulates_once = true;
  if (plan.mesh.tensor == 1) plan.sequence_parallel = false;  // as the program does
  if (plan.recompute != Recompute::Selective) plan.recompute_scope.modules = {};
  settle_loss(draft);
  settle_tensor_overlap(draft);
  settle_residency(draft);
  settle_recomputed_stages(draft);
  plan.vocabulary_multiple *= plan.mesh.tensor;
  draft.reduces_each = plan.zero_stage >= 2;
}

void megatron_habits(ParallelPlan& plan) {
  if (plan.zero_stage != 3) plan.prefetch = 1;  // nothing is gathered ahead
}

const Program kMegatron = {
    .name = "megatron",
    .title = "Megatron-LM",
    .version = "core_v0.16.1",
    .file = "pretrain.sh",
    .marks =
        "--tensor-model-parallel-size --pipeline-model-parallel-size --micro-batch-size+--global-batch-size "
        "--micro-batch-size+--seq-length --micro-batch-size+--data-path tensor_model_parallel_size: pretrain_gpt.py "
        "--num-attention-heads --model-parallel-size --tensor_model_parallel_size --micro_batch_size+!--lora_target_modules+!axolotl "
        "megatron_gpt_pretraining megatron_bert_pretraining megatron_t5_pretraining "
        "stages=[training stages=training training.trainer. distributed_type:+MEGATRON_LM distributed_type\":+MEGATRON_LM --megatron_lm_",
    .fields = megatron_fields(),
    .judge = judge_megatron,
    .files = megatron_files,
    .settings = megatron_settings,
    .settle = settle_megatron,
    .lost = megatron_lost(),
    .without_effect = kIdleOfMegatron,
    .training = megatron_training(),
    .network = megatron_network,
    .software = "megatron-core-2025",
    .option = "--",
    .habits = megatron_habits,
    .says_scales = true,
    .says_attention = attention_backend,
    .says_dispatch = true,
    .says_exchange_beside = true,
    .offloads_parameters = false,
    .says_graphs = true,
    .scripts = kScriptsOfMegatron,
    .decided = decided_of_megatron(),
    .gathers_beside_forward = true};

}  // namespace sim
