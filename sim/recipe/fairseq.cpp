// fairseq: options of fairseq-train, as a shell script. Data parallel alone: PyTorch's DDP, or FairScale's FullyShardedDataParallel around its layers.
// Facts: fairseq/dataclass/configs.py, distributed/fully_sharded_data_parallel.py, trainer.py (facebookresearch/fairseq, 0.12.2).
#include <fmt/format.h>

#include <algorithm>

#include "sim/model/model_words.h"
#include "sim/plan/field_words.h"
#include "sim/recipe/accounting.h"
#include "sim/recipe/fairseq_network.h"
#include "sim/recipe/program.h"
#include "sim/recipe/said_values.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::string_view kFullySharded = "fully_sharded";
constexpr std::int64_t kUsualCap = 25;  // MiB of a bucket
constexpr double kLeastWrapped = 1e8;   // parameters of a layer that FairScale wraps by itself, unless its inputs are all that is kept
constexpr std::int64_t kUsualBatchMultiple = 8;
constexpr std::int64_t kDictionaryMultiple = 8;  // to which a dictionary is padded

bool is_sharded(const ParallelPlan& plan) { return plan.zero_stage == 3; }
// FairScale's OSS behind DDP: whole gradients, states of whole tensors on their owners, which broadcast what they stepped.
bool deals_states_out(const ParallelPlan& plan) {
  return plan.zero_stage == 1 && plan.state_shards == StateShards::Tensors && plan.gradient_sync == GradientSync::AllReduce &&
         plan.weight_sync == WeightSync::Broadcast;
}
void deal_states_out(Draft& draft) {
  draft.plan.zero_stage = 1;
  draft.plan.state_shards = StateShards::Tensors;
  draft.plan.gradient_sync = GradientSync::AllReduce;
  draft.plan.weight_sync = WeightSync::Broadcast;
}
Written flag_if(bool holds) { return written_flag(holds); }
Written rate_text(double value) { return Written(fmt::format("{}", value)); }

double first_number(const Value& v) {
  const std::vector<double> all = numbers_of(v.text());
  if (all.empty()) return v.number();  // which tells what is wrong
  if (all.size() > 1) v.lost("changes from epoch to epoch; the plan has the first", "mind that time changes with it");
  return all.front();
}

void read_named_optimizer(const Value& v, Draft& d) {
  constexpr std::pair<std::string_view, OptimizerKind> kKnown[] = {{"adam", OptimizerKind::AdamW},
                                                                   {"cpu_adam", OptimizerKind::AdamW},
                                                                   {"sgd", OptimizerKind::Sgd},
                                                                   {"lamb", OptimizerKind::Lamb},
                                                                   {"adafactor", OptimizerKind::Adafactor}};
  if (v.text() == "cpu_adam" && said(d, "cpu-offload") == nullptr)
    v.lost("steps on the host, where its states are; the plan's are on the device", "add --cpu-offload, if weights are there, too");
  for (const auto& [name, kind] : kKnown)
    if (v.text() == name) return static_cast<void>(d.plan.workload.optimizer = kind);
  v.lost(fmt::format("is {}, which no plan has: its states may be of another size", v.text()), "mind memory");
}

void read_backend(const Value& v, Draft&) {
  constexpr std::string_view kBackends[] = {"c10d", "pytorch_ddp", "legacy_ddp", "no_c10d", kFullySharded};
  v.choice(kBackends);
}

std::string activation_name(Activation activation) { return activation == Activation::Relu ? "relu" : "gelu"; }

void positive_size(const Value& v, Draft&) { v.count(); }
void share_of_dropout(const Value& v, Draft&) { v.number(1); }

// Of what ends in a vocabulary, and of what ends in classes, which is read with the vocabulary's head.
constexpr std::string_view kTasks =
    "language_modeling translation translation_from_pretrained_bart translation_from_pretrained_xlm translation_multi_simple_epoch "
    "masked_lm "
    "denoising multilingual_denoising multilingual_masked_lm";
// A sample is read several times a step: once for each answer, expert or pair of languages, or also without gradients.
constexpr std::string_view kTasksOfSeveralPasses =
    "sentence_ranking commonsense_qa wsc winogrande translation_moe translation_lev online_backtranslation semisupervised_translation "
    "multilingual_translation* truncated_bptt_lm cross_lingual_lm";
void read_task(const Value& v, Draft&) {
  if (has_name(kTasks, v.text())) return;
  if (has_name(kTasksOfSeveralPasses, v.text()))
    return v.wrong(fmt::format("is {}: a sample is read several times a step, or in pieces", v.text()),
                   "give a recipe of language_modeling, translation or masked_lm");
  if (v.text() == "sentence_prediction")
    return v.lost("is sentence_prediction: classes are told from one token; the plan ends in the vocabulary's head, for all tokens",
                  "mind the head's time, and the memory of its logits");
  v.lost(v.text() + ": the plan trains a language model on whole samples", "mind time");
}

constexpr std::string_view kActivationsOfFairseq[] = {"relu",         "gelu", "gelu_fast", "gelu_accurate",
                                                      "relu_squared", "tanh", "linear",    "swish"};
constexpr std::string_view kSharded[] = {"os"};

constexpr Field kFairseqFields[] = {
    {"sample-break-mode", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text().starts_with("eos") || v.text().starts_with("complete"))
         v.note(fmt::format("is {}: a sample ends with a sentence or a document; the plan's have all tokens", v.text()),
                "shorter ones take less time and memory");
       else if (v.text() != "none")
         v.unknown(v.text() + " is none of none, complete, complete_doc, eos", "see what a sample holds");
     }},
    {"task", "", [](const ParallelPlan&) { return Written("language_modeling"); }, read_task},
    {"criterion", "", nullptr,
     [](const Value& v, Draft&) {
       constexpr std::string_view kPlain =
           "cross_entropy label_smoothed_cross_entropy label_smoothed_cross_entropy_with_alignment masked_lm sentence_prediction "
           "adaptive_loss";
       if (!has_name(kPlain, v.text()))
         v.lost(fmt::format("is {}, which may read a sample again; the plan reads it once", v.text()), "mind time");
     }},
    {"arch", "", [](const ParallelPlan&) { return Written("transformer_lm_gpt3_small"); }, only_said, true},
    {"decoder-layers", "", [](const ParallelPlan& p) { return written(p.model.layers); }, positive_size, true},
    {"decoder-embed-dim", "", [](const ParallelPlan& p) { return written(p.model.hidden); }, positive_size, true},
    {"decoder-ffn-embed-dim", "", [](const ParallelPlan& p) { return written(p.model.ffn); }, positive_size},
    {"decoder-attention-heads", "", [](const ParallelPlan& p) { return written(p.model.heads); }, positive_size},
    {"encoder-layers", "", nullptr, positive_size, true},
    {"encoder-embed-dim", "", nullptr, positive_size, true},
    {"encoder-ffn-embed-dim", "", nullptr, positive_size},
    {"encoder-attention-heads", "", nullptr, positive_size},
    {"encoder-normalize-before", "", nullptr, flag_said},
    {"decoder-normalize-before", "", nullptr, flag_said},
    {"share-all-embeddings", "", nullptr, flag_said},
    {"layernorm-embedding", "", nullptr, flag_said},
    {"no-scale-embedding", "", nullptr, flag_said},
    {"encoder-learned-pos", "", nullptr, flag_said},
    {"untie-weights-roberta", "", nullptr, flag_said},
    {"required-batch-size-multiple", "", nullptr, positive_size},
    {"max-source-positions", "", nullptr, positive_size},
    {"max-positions", "", nullptr, positive_size},
    {"activation-dropout", "relu-dropout", nullptr, share_of_dropout},
    {"activation-fn", "", [](const ParallelPlan& p) { return Written(activation_name(p.model.activation)); },
     word_said<kActivationsOfFairseq>},
    {"dropout", "", [](const ParallelPlan& p) { return rate_text(p.model.residual_dropout); }, share_of_dropout},
    {"attention-dropout", "", [](const ParallelPlan& p) { return rate_text(p.model.attention_dropout); }, share_of_dropout},
    {"share-decoder-input-output-embed", "", nullptr, flag_said},
    {"decoder-learned-pos", "", nullptr, flag_said},
    {"max-target-positions", "", [](const ParallelPlan& p) { return written(p.model.max_positions); }, positive_size},
    {"tokens-per-sample", "", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) { d.sequence = v.count(); }, true},
    {"batch-size", "max-sentences", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }, true},
    {"max-tokens", "", nullptr, positive_size, true},
    {"update-freq", "", [](const ParallelPlan& p) { return written(p.num_microbatches()); },
     [](const Value& v, Draft& d) { d.accumulation_steps = std::max<std::int64_t>(1, static_cast<std::int64_t>(first_number(v))); }},
    {"distributed-world-size", "", [](const ParallelPlan& p) { return written(p.mesh.data); },
     [](const Value& v, Draft& d) { d.processes = v.count(); }, true},
    {"ddp-backend", "", [](const ParallelPlan& p) { return Written(is_sharded(p) ? std::string(kFullySharded) : "c10d"); }, read_backend,
     true},
    {"no-reshard-after-forward", "", [](const ParallelPlan& p) { return flag_if(is_sharded(p) && !p.reshard_after_forward); },
     [](const Value& v, Draft& d) { d.plan.reshard_after_forward = !v.boolean(); }},
    {"min-params-to-wrap", "", [](const ParallelPlan& p) { return written_if(is_sharded(p), "1"); }, positive_size},
    {"fp32-reduce-scatter", "", [](const ParallelPlan& p) { return flag_if(is_sharded(p) && reduces_in_fp32(p)); }, flag_said},
    {"cpu-offload", "", [](const ParallelPlan& p) { return flag_if(p.offload_parameters); },
     [](const Value& v, Draft& d) { d.plan.offload_parameters = d.plan.offload_optimizer = v.boolean(); }},
    {"checkpoint-activations", "", [](const ParallelPlan& p) { return flag_if(p.recompute == Recompute::Full && !p.offload_activations); },
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.plan.recompute = Recompute::Full;
     }},
    {"offload-activations", "", [](const ParallelPlan& p) { return flag_if(p.offload_activations); },
     [](const Value& v, Draft& d) {
       d.plan.offload_activations = v.boolean();
       if (d.plan.offload_activations) d.plan.recompute = Recompute::Full;  // it implies the other
     }},
    {"bucket-cap-mb", "", [](const ParallelPlan& p) { return written(std::max<std::int64_t>(1, p.bucket_size.value() >> 20)); },
     positive_size},
    {"fp16", "", [](const ParallelPlan& p) { return flag_if(p.workload.precision.compute() == Precision::Fp16); },
     [](const Value& v, Draft& d) { d.is_fp16 = v.boolean(); }},
    {"bf16", "", [](const ParallelPlan& p) { return flag_if(p.workload.precision.compute() == Precision::Bf16); },
     [](const Value& v, Draft& d) { d.is_bf16 = v.boolean(); }},
    {"memory-efficient-fp16", "", nullptr,
     [](const Value& v, Draft& d) {
       d.is_fp16 = d.is_fp16 || v.boolean();
       v.lost("weights have no fp32 copies; the plan has them", "mind memory");
     }},
    {"optimizer", "",
     [](const ParallelPlan& p) {
       return Written(p.workload.optimizer == OptimizerKind::Sgd ? "sgd" : p.offload_optimizer ? "cpu_adam" : "adam");
     },
     read_named_optimizer},
    {"adam-betas", "",
     [](const ParallelPlan& p) {
       return written_if(p.workload.optimizer == OptimizerKind::AdamW, fmt::format("({},{})", p.training.beta1, p.training.beta2));
     },
     read_pair_of_betas},
    {"adam-eps", "",
     [](const ParallelPlan& p) { return written_if(p.workload.optimizer == OptimizerKind::AdamW, fmt::format("{}", p.training.epsilon)); },
     [](const Value& v, Draft& d) { d.plan.training.epsilon = v.number(); }},
    {"momentum", "",
     [](const ParallelPlan& p) { return written_if(p.workload.optimizer == OptimizerKind::Sgd, fmt::format("{}", p.training.momentum)); },
     [](const Value& v, Draft& d) { d.plan.training.momentum = v.number(1); }},
    {"weight-decay", "", [](const ParallelPlan& p) { return rate_text(p.training.weight_decay); },
     [](const Value& v, Draft& d) { d.plan.training.weight_decay = v.number(); }},
    {"clip-norm", "", [](const ParallelPlan& p) { return rate_text(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = v.number(); }},
    {"lr", "", [](const ParallelPlan& p) { return rate_text(p.training.learning_rate); },
     [](const Value& v, Draft& d) { d.plan.training.learning_rate = first_number(v); }},
    {"warmup-updates", "", [](const ParallelPlan& p) { return written(p.training.warmup_steps); },
     [](const Value& v, Draft& d) { d.plan.training.warmup_steps = std::max<std::int64_t>(0, v.integer()); }},
    {"lr-scheduler", "", [](const ParallelPlan&) { return Written("fixed"); },
     [](const Value& v, Draft&) {
       if (v.text() != "fixed")
         v.note(fmt::format("is {}: the plan's rate is constant behind the warm-up", v.text()), "time and memory are the same");
     }},
    {"seed", "", [](const ParallelPlan& p) { return written(static_cast<std::int64_t>(p.training.seed)); },
     [](const Value& v, Draft& d) {
       d.plan.training.seed = static_cast<std::uint64_t>(std::clamp<std::int64_t>(v.integer(), 0, kLargestSeed));
     }},
    {"model-parallel-size", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.count() > 1) v.wrong("is Megatron's tensor degree, of networks of its own", "give the plan another way: --fix tensor=...");
     }},
    {"pipeline-model-parallel", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.boolean()) v.wrong("cuts the network over the devices of one process", "plan a pipeline with --fix schedule=gpipe");
     }},
    {"zero-sharding", "", [](const ParallelPlan& p) { return written_if(deals_states_out(p), "os"); }, word_said<kSharded>},
};

constexpr LostSetting kFairseqLost[] = {
    {"decoder-layerdrop decoder-layers-to-keep", "layers that are left out; the plan has all"},
    {"adaptive-input adaptive-input-* adaptive-softmax-* tie-adaptive-*", "embeddings of several widths; the plan's have one"},
    {"character-embeddings character-* char-*", "embeddings made of characters"},
    {"quant-noise-*", "weights that are quantised while training"},
    {"moe-* use-moe-* alternate-ffn-*", "experts; the plan's network has none"},
    {"memory-efficient-bf16", "weights without fp32 copies; the plan has them"},
    {"slowmo-* localsgd-frequency use-bmuf bmuf-*", "steps that ranks take alone; the plan's all meet"},
    {"cross-self-attention no-cross-attention encoder-layerdrop encoder-layers-to-keep", "another network"},
    {"fp16-adam-stats", "states of the optimizer in 16 bit; the plan's are in fp32"},
    {"fp16-no-flatten-grads empty-cache-freq", "a little time"},
    {"decoder-output-dim decoder-input-dim no-token-positional-embeddings",
     "a network with other weights at its ends; the plan has the usual ones"},
    {"distributed-backend", "messages by another library; the plan's are NCCL's", "but nccl"},
    {"load-alignments full-context-alignment alignment-*", "a loss of attention's heads beside the other"},
};
constexpr std::string_view kFairseqWithoutEffect =
    "save-dir restore-file finetune-from-model reset-* save-interval* keep-* no-save no-epoch-checkpoints no-last-checkpoints "
    "no-save-optimizer-state best-checkpoint-metric maximize-best-checkpoint-metric patience checkpoint-suffix "
    "write-checkpoints-asynchronously "
    "use-sharded-state log-* no-progress-bar tensorboard-logdir wandb-project azureml-logging user-dir num-workers data-buffer-size "
    "train-subset valid-subset validate-* disable-validation fixed-validation-seed max-tokens-valid batch-size-valid max-sentences-valid "
    "skip-invalid-size-inputs-valid-test required-seq-len-multiple dataset-impl curriculum "
    "shorten-method sentence-avg max-update max-epoch stop-time-hours stop-min-lr min-lr total-num-update end-learning-rate "
    "power "
    "warmup-init-lr lr-* fp16-init-scale fp16-scale-* min-loss-scale threshold-loss-scale "
    "all-gather-list-size distributed-port distributed-rank distributed-init-method distributed-num-procs distributed-no-spawn "
    "distributed-wrapper distributed-timeout device-id local-rank nprocs-per-node find-unused-parameters fix-batches-to-gpus "
    "fast-stat-sync "
    "broadcast-buffers heartbeat-timeout nproc_per_node nproc-per-node nnodes node_rank node-rank master_addr master_port "
    "add-bos-token no-decoder-final-norm "
    "label-smoothing ignore-unused-valid-subsets symlink "
    "source-lang target-lang langs lang-dict lang-pairs sampling-* encoder-langtok decoder-langtok truncate-source upsample-primary "
    "eval-bleu* bpe init-token separator-token num-classes classification-head-name add-prev-output-tokens add-source-segment* "
    "pooler-* load-checkpoint-heads mask-prob leave-unmasked-prob random-token-prob mask-whole-words freq-weighted-replacement "
    "regression-target report-accuracy ignore-prefix-size left-pad-source left-pad-target prepend-bos";

double block_parameters(const ModelConfig& model) {
  const double hidden = static_cast<double>(model.hidden);
  return 4 * hidden * hidden + 2 * hidden * static_cast<double>(model.ffn);
}

void settle_units_of_fairseq(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const bool wraps_all = plan.recompute == Recompute::Full;  // a recomputed layer is wrapped whatever its size
  if (!wraps_all && block_parameters(plan.model) < number_of(draft, "min-params-to-wrap", kLeastWrapped))
    plan.layers_per_unit = static_cast<std::int32_t>(plan.model.layers);  // one unit: the network
}

// A batch ends where its samples or its tokens are full, and is whole eights, or less than eight.
void settle_samples_of_fairseq(Draft& draft) {
  const std::int64_t side = longest_side(draft);
  if (!draft.said.contains("max-tokens") || side < 1) return;
  std::int64_t samples = std::max<std::int64_t>(1, size_said(draft, "max-tokens", 0) / side);
  samples = std::min(samples, draft.microbatch.value_or(samples));
  const std::int64_t multiple = std::max<std::int64_t>(1, size_said(draft, "required-batch-size-multiple", kUsualBatchMultiple));
  draft.microbatch = samples < multiple ? samples : samples - samples % multiple;
}

void settle_fairseq(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  if (const double all = number_of(draft, "distributed-world-size", 0); all >= 1 && all <= 1e6)
    draft.processes = static_cast<std::int64_t>(all);
  take_processes(draft);
  if (!draft.processes) draft.processes = visible_devices(draft.launch), draft.are_processes_certain = false;  // a process for each
  const std::string backend = text_of(draft, "ddp-backend", "c10d");
  const bool sharded = backend == kFullySharded;
  const Precision compute = draft.is_fp16 ? Precision::Fp16 : draft.is_bf16 ? Precision::Bf16 : Precision::Fp32;
  plan.workload.precision = mixed_precision(PrecisionPolicy(compute), sharded && said(draft, "fp32-reduce-scatter") != nullptr);
  if (sharded) plan.zero_stage = 3;
  const bool deals = is_on(text_of(draft, "zero-sharding", "none"));
  if (deals) deal_states_out(draft);
  if (deals && compute != Precision::Fp32)
    draft.lost.push_back(
        {"zero-sharding", "leaves fp32 copies of all weights on every rank; the plan has those of their owner", "mind memory"});
  if (sharded && compute == Precision::Bf16)
    draft.lost.push_back({"bf16", "under fully_sharded weights have no fp32 copies; the plan has them", "mind memory"});
  draft.reduces_each = sharded;  // its trainer leaves no_sync out there
  if (!draft.accumulation_steps) draft.accumulation_steps = 1;
  settle_samples_of_fairseq(draft);
  const bool overlaps = backend != "legacy_ddp" && backend != "no_c10d";  // they sum when all gradients are there
  plan.bucket_size =
      overlaps ? Bytes(std::clamp<std::int64_t>(size_said(draft, "bucket-cap-mb", kUsualCap), 1, 1 << 20) << 20) : kOneBucket;
  plan.vocabulary_multiple = kDictionaryMultiple;
  if (sharded) settle_units_of_fairseq(draft);
}

void refuse_other_than_gpt(const ModelConfig& model, Judgement& judgement) {
  const bool is_block = model.norm == Norm::LayerNorm && model.position == Position::Learned && !model.gated_mlp && !model.experts &&
                        model.attention_bias && model.projection_bias && model.mlp_bias && model.tied_embeddings &&
                        model.kv_heads == model.heads && model.heads * model.head_dim == model.hidden &&
                        model.attention.kind != AttentionKind::Latent;
  const bool is_known =
      model.activation == Activation::Gelu || model.activation == Activation::GeluTanh || model.activation == Activation::Relu;
  judgement.refuse(!is_block || !is_known, "/model", fmt::format("{}: its transformer_lm_gpt3 is GPT-2's block", model.model_type),
                   "export to another program");
  judgement.refuse(model.embedding_dropout != model.residual_dropout, "/model/embd_pdrop", "one dropout is of embeddings and blocks there",
                   "make both equal");
  for (const ModelWord& word : model_words())
    judgement.refuse(word.stands_in(model), "/model", fmt::format("has {}, which is not written", word.what), "export to another program");
}

void refuse_layout_of_fairseq(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  for (const auto& [name, degree] : {std::pair{"tensor", mesh.tensor},
                                     {"pipeline", mesh.pipeline},
                                     {"context", mesh.context},
                                     {"expert", mesh.expert},
                                     {"replicas", mesh.replicas}})
    judgement.refuse(degree > 1, fmt::format("/mesh/{}", name), fmt::format("{} {}: its recipe is data parallel alone", name, degree),
                     fmt::format("plan with --fix {}=1", name));
  judgement.refuse(
      (plan.zero_stage == 1 || plan.zero_stage == 2) && !deals_states_out(plan), "/zero_stage",
      fmt::format("stage {}: there are whole weights, fully sharded ones, and states of whole tensors on owners that broadcast them "
                  "(state_shards tensors, gradient_sync all_reduce, weight_sync broadcast)",
                  plan.zero_stage),
      "plan with --fix zero=0, or zero=3; for stage 2 add --fix reshard=false");
  judgement.refuse(deals_states_out(plan) && plan.workload.precision.compute() != Precision::Fp32, "/state_shards",
                   "beside 16 bits every rank keeps fp32 copies of all weights there", "plan with --precision fp32, or --fix zero=3");
  judgement.refuse(plan.offload_optimizer != plan.offload_parameters, "/offload_optimizer",
                   "weights and their optimizer go to the host together there", "plan with --fix offload_optimizer=false");
  judgement.refuse(plan.recompute == Recompute::Selective || plan.recompute_scope != RecomputeScope{}, "/recompute",
                   "a layer is recomputed whole, or not at all", "plan with --fix recompute=none or full");
}

void judge_fairseq(const ParallelPlan& plan, Judgement& judgement) {
  const Precision compute = plan.workload.precision.compute();
  refuse_layout_of_fairseq(plan, judgement);
  refuse_other_than_gpt(plan.model, judgement);
  judgement.refuse(compute == Precision::Fp64 || compute == Precision::Tf32, "/workload/precision",
                   fmt::format("there is no option for {}", sim::at(kPrecisionNames, compute)), "plan with --precision fp16 or fp32");
  judgement.refuse(is_sharded(plan) && compute == Precision::Bf16, "/workload/precision",
                   "fully sharded weights keep no fp32 copies beside bf16 there", "plan with --precision fp16");
  judgement.refuse(!is_sharded(plan) && reduces_in_fp32(plan), "/workload/precision",
                   "whole gradients are summed as they are computed there", "plan without gradients=fp32");
  note_units(plan, judgement);
  note_reshard(plan, judgement);
  judgement.note(
      plan.num_microbatches() > 1 && is_sharded(plan) != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
      is_sharded(plan) ? "gradients are reduced with every microbatch there" : "gradients are reduced with the last microbatch there",
      "simulate the plan imported again");
  judgement.note(plan.bucket_size.value() != std::max<std::int64_t>(1, plan.bucket_size.value() >> 20) << 20, "/bucket_size",
                 "buckets are whole MiB there", "nothing to do");
  judgement.note(plan.vocabulary_multiple != kDictionaryMultiple, "/vocabulary_multiple",
                 fmt::format("a dictionary is padded to a multiple of {}", kDictionaryMultiple), "nothing to do");
  judgement.note(plan.prefetch != 1, "/prefetch", "the next layer is gathered beside this one there", "nothing to do");
  judgement.note(true, "/training",
                 "how the rate falls, how often is saved and how the loss scale follows overflows are left to the program",
                 "add --lr-scheduler and --save-interval-updates");
  judgement.note(true, "", "data and the number of updates are not of the plan", "give them behind the script's name");
}

void fairseq_habits(ParallelPlan& plan) {
  const bool in_fp32 = is_sharded(plan) && reduces_in_fp32(plan);
  plan.workload.precision = mixed_precision(plan.workload.precision.as_it_follows(), in_fp32);
  plan.bucket_size = Bytes(kUsualCap << 20);
  plan.vocabulary_multiple = kDictionaryMultiple;
  plan.prefetch = 1;
}

std::vector<RecipeFile> fairseq_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  return {{std::string(kFairseq.file), shell_text(head, settings,
                                                  fmt::format("torchrun --nnodes {} --nproc-per-node {} fairseq_cli/train.py",
                                                              plan.cluster.hosts(), plan.cluster.devices_per_host()))}};
}

// `-a` is --arch.
void take_short_arch(RecipeReading& reading) {
  const std::vector<std::string> words = words_of(reading.command);
  const auto found = std::ranges::find(words, "-a");
  if (found != words.end() && std::next(found) != words.end()) reading.settings.push_back({"arch", *std::next(found)});
}

RecipeReading fairseq_settings(const RecipeSource& source) {
  const auto is_known = [&](const std::string& key) { return is_known_to(source.program, key); };
  RecipeReading reading = read_shell(source.text, source.path, source.given, is_known);
  take_short_arch(reading);
  for (RecipeSetting& setting : reading.settings)  // `--fp16 data-bin/wmt`: the data stands behind a flag that has no value
    if (has_name("fp16 bf16 memory-efficient-fp16 memory-efficient-bf16 checkpoint-activations cpu-offload", setting.key) &&
        setting.value.find('/') != std::string::npos)
      setting.value = "true";
    else if (has_name("task arch", setting.key))  // and the data, behind another
      setting.value.resize(std::min(setting.value.find(' '), setting.value.size()));
  return reading;
}

}  // namespace

const Program kFairseq = {
    .name = "fairseq",
    .title = "fairseq",
    .version = "0.12.2",
    .file = "train.sh",
    .marks = "fairseq-train fairseq_cli --arch+--task+--max-update --arch+--task+--criterion --arch+--criterion+--max-tokens",
    .fields = kFairseqFields,
    .judge = judge_fairseq,
    .files = fairseq_files,
    .settings = fairseq_settings,
    .settle = settle_fairseq,
    .lost = kFairseqLost,
    .without_effect = kFairseqWithoutEffect,
    .training = {.learning_rate = 0.25, .beta2 = 0.999, .weight_decay = 0, .gradient_clip = 0, .initial_loss_scale = 128},
    .network = fairseq_network,
    .software = "fsdp1",
    .option = "--",
    .habits = fairseq_habits,
    .says_owners = deals_states_out,
    .offloads_inputs = true};

}  // namespace sim
