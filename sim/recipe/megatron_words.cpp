// Arguments of Megatron-LM whose one value says several things.
#include "sim/recipe/megatron_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "sim/recipe/accounting.h"
#include "sim/recipe/attention_words.h"
#include "sim/recipe/program.h"
#include "sim/recipe/recomputed_stages.h"
#include "sim/recipe/said_values.h"
#include "sim/recipe/started.h"

namespace sim {
namespace {

constexpr std::string_view kWholeIteration = "full_iteration";  // a scope; in later releases an implementation

}  // namespace

namespace {

constexpr std::int64_t kUsualPrefetchOfDeepSpeed = 50'000'000;  // elements
constexpr std::int64_t kUsualPersistenceOfDeepSpeed = 100'000;
constexpr double kMostBucket = 1e15;

// What the arguments of the line say too, and what DeepSpeed leaves to Megatron-LM: its optimizer, what is recomputed.
constexpr std::string_view kSaidByTheLine =
    "train_batch_size train_micro_batch_size_per_gpu gradient_accumulation_steps gradient_clipping fp16.enabled fp16.loss_scale "
    "fp16.loss_scale_window fp16.hysteresis fp16.consecutive_hysteresis fp16.min_loss_scale fp16.initial_scale_power fp16.auto_cast "
    "bf16.enabled bfloat16.enabled optimizer.* activation_checkpointing.* zero_optimization.stage zero_optimization.reduce_bucket_size "
    "zero_optimization.allgather_bucket_size zero_allow_untested_optimizer ";
constexpr std::string_view kTakenFromTheFile =
    "zero_optimization.offload_optimizer.device zero_optimization.offload_param.device zero_optimization.cpu_offload "
    "zero_optimization.offload_optimizer.ratio zero_optimization.overlap_comm zero_optimization.reduce_scatter "
    "zero_optimization.stage3_prefetch_bucket_size "
    "zero_optimization.stage3_param_persistence_threshold ";

// Both of what the line says too: DeepSpeed goes by its file, Megatron-LM by the line.
struct SaidTwice {
  std::string_view in_file, on_line;
};
constexpr SaidTwice kSaidTwice[] = {{"train_batch_size", "global-batch-size"},
                                    {"train_micro_batch_size_per_gpu", "micro-batch-size"},
                                    {"fp16.enabled", "fp16"},
                                    {"bf16.enabled", "bf16"},
                                    {"bfloat16.enabled", "bf16"}};

void tell_what_differs(const RecipeSetting& one, Draft& d) {
  const auto* const twice = std::ranges::find(kSaidTwice, std::string_view(one.key), &SaidTwice::in_file);
  if (twice == std::end(kSaidTwice) || one.value == "auto" || !unknowns_in(one.value).empty()) return;
  const std::string on_line = text_of(d, std::string(twice->on_line), "false");
  const bool is_switch = one.key.ends_with(".enabled"), is_open = !unknowns_in(on_line).empty() || (!is_switch && on_line == "false");
  if (is_open || (is_switch ? is_on(one.value) == is_on(on_line) : one.value == on_line)) return;
  d.unknown.push_back(
      {one.key,
       fmt::format("is {} in DeepSpeed's file, and {} on the line: {}; the plan has the line's", one.value, twice->on_line, on_line),
       "make both equal"});
}

void take_other_settings(const RecipeSetting& one, Draft& d) {
  tell_what_differs(one, d);
  const Field* const field = field_of(kDeepSpeed, one.key);
  const LostSetting* const lost = lost_of(kDeepSpeed, one.key);
  const bool is_said = is_on(one.value) || one.value == "0" || one.value == "false";
  if (has_name(kSaidByTheLine, one.key) || one.value == "auto") return;
  if (field != nullptr && is_said && has_name(kTakenFromTheFile, one.key)) return field->read(Value(one, d), d);
  if (lost != nullptr ? !matters(*lost, one.value) : !is_on(one.value)) return;
  if (lost != nullptr || field != nullptr)
    d.lost.push_back({one.key,
                      fmt::format("{} in DeepSpeed's file: {}", shown(one.value),
                                  lost != nullptr ? lost->what : std::string_view("the plan has what the arguments say")),
                      "mind it when you read the figures"});
  else if (!is_known_to(kDeepSpeed, one.key))
    d.unknown.push_back(
        {one.key, "in DeepSpeed's file is not known; it might change time or memory, in a way not known here", "see what it does"});
}

void read_others_of_document(const std::string& name, const std::string& text, Draft& d) {
  RecipeSettings settings;
  try {
    settings = read_json(text, name);
  } catch (const InputError&) {
    return d.unknown.push_back(
        {"deepspeed-config", shown(name) + " is no JSON as it stands: no more than its stage and bucket is read", "write it as JSON"});
  }
  if (const RecipeSetting* const stage = first_named("zero_optimization.stage", settings))
    d.said.insert_or_assign(stage->key, stage->value);
  for (const RecipeSetting& one : settings) take_other_settings(one, d);
}

}  // namespace

namespace {

// Its engine reduces as its file says; stages of a pipeline reduce behind their last microbatch, whatever stands there.
void settle_reduction_of_document(long long stage, const std::optional<bool>& by_line, Draft& d) {
  const bool is_engine = stage >= 2 || (stage == 1 && d.said.contains("no-pipeline-parallel"));
  if (stage >= 2) d.plan.cluster.software.overlap_reduce = d.overlaps_reduce.value_or(stage == 3);
  if (!is_engine) d.overlaps_reduce = by_line;
}

}  // namespace

// Megatron-DeepSpeed scripts write the file themselves, behind `cat <<EOF`.

void read_deepspeed_document(const Value& v, Draft& d) {
  const auto document = d.documents.find(v.text());
  if (document == d.documents.end()) {
    if (!d.bucket_elements) d.bucket_elements = kBucketOfDeepSpeed;
    return d.unknown.push_back(
        {"deepspeed-config",
         fmt::format("{} is another file, which is not read; it might change stage, buckets, precision and batch", shown(v.text())),
         "see whether it says another ZeRO stage than --zero-stage"});
  }
  const auto number_behind = [&](std::string_view key) -> long long {
    const std::size_t at = document->second.find(std::string("\"") + std::string(key) + "\"");
    const std::size_t colon = at == std::string::npos ? at : document->second.find(':', at);
    if (colon == std::string::npos) return -1;
    const char* const begin = document->second.c_str() + colon + 1;
    char* end = nullptr;
    const double number = std::strtod(begin, &end);  // 5e8, too
    return end != begin && number >= 0 && number <= kMostBucket ? static_cast<long long>(number) : -1;
  };
  const std::optional<bool> overlaps_by_line = d.overlaps_reduce;
  read_others_of_document(document->first, document->second, d);
  const long long stage = number_behind("stage");
  if (stage < 0 && document->second.find("\"stage\"") != std::string::npos)
    d.unknown.push_back({"zero_optimization.stage",
                         "follows in DeepSpeed's file from what the script alone does not say: the plan has the line's",
                         "give its variable with --set NAME=..."});
  settle_reduction_of_document(stage, overlaps_by_line, d);
  if (stage < 0 || stage > 3) return;
  const long long bucket = number_behind("reduce_bucket_size");
  if (stage >= 1 && !d.bucket_elements) d.bucket_elements = bucket > 0 ? bucket : kBucketOfDeepSpeed;
  d.plan.zero_stage = static_cast<std::int32_t>(stage);
  d.is_fsdp = stage >= 2;
  d.strategy = d.plan.zero_stage;
  if (stage < 3) return;
  if (!d.prefetched_elements) d.prefetched_elements = kUsualPrefetchOfDeepSpeed;
  const bool says_whole = document->second.find("param_persistence_threshold") != std::string::npos;
  if (d.plan.offload_parameters || !says_whole) d.plan.persistence_threshold = d.plan.offload_parameters ? 0 : kUsualPersistenceOfDeepSpeed;
}

// Megatron FSDP shards what its strategy says, beside a distributed optimizer, too: by itself nothing (its no_shard).
void settle_stage_of_megatron(Draft& d) {
  if (!d.is_fsdp) return;
  const bool is_own = is_on(text_of(d, "use-megatron-fsdp", "false"));
  if (is_own && !d.said.contains("data-parallel-sharding-strategy"))
    d.unknown.push_back({"use-megatron-fsdp",
                         "stands without --data-parallel-sharding-strategy, and its own is no_shard: nothing is sharded",
                         "add the strategy that is meant"});
  d.plan.zero_stage = is_own ? d.strategy : std::max(d.plan.zero_stage, d.strategy);
}

void read_context_algorithm(const Value& v, Draft& d) {
  constexpr std::string_view kRing = "megatron_cp_algo", kHeads = "ulysses_cp_algo";
  if (v.text() != kRing && v.text() != kHeads)
    return v.lost(v.text() + ": context ranks that exchange in two ways; the plan's pass keys and values round a ring", "mind time");
  d.plan.context_algorithm = v.text() == kHeads ? ContextAlgorithm::AllToAll : ContextAlgorithm::Ring;
}

NamedModules modules_in(const std::string& text, Modules among) {
  NamedModules found;
  std::istringstream names(text);
  for (std::string name; names >> name;) {
    std::erase_if(name, [](char letter) { return std::string_view("[],'\"").find(letter) != std::string_view::npos; });
    const std::optional<Module> module = module_named(name);
    if (module && among.has(*module))
      found.modules = found.modules | *module;
    else
      found.others.push_back(name);
  }
  return found;
}

// Attention's core alone is the program's default, and the plan's.
void read_recomputed_modules(const Value& v, Draft& d) {
  const auto [modules, others] = modules_in(v.text(), kRecomputed.without(Module::Op));
  if (!others.empty()) v.lost(fmt::format("holds {}, which a plan has no word for", fmt::join(others, " ")), "mind their time and memory");
  if (modules != Modules(Module::CoreAttention)) d.plan.recompute_scope.modules = modules;
}

std::string recomputed_modules(const ParallelPlan& plan) {
  const Modules modules = plan.recomputed_modules();
  return fmt::format("{}", fmt::join(names_of(modules.none() ? Module::CoreAttention : modules), " "));
}

constexpr std::int64_t kMostBlocks = 1'000'000;

void read_recomputed_layers(const Value& v, Draft& d) {
  const std::string* const method = said(d, "recompute-method");
  if (v.text() == "0") {  // of blocks that are recomputed: none of them
    if (method != nullptr && *method == "block") d.plan.recompute = Recompute::None;
    return;
  }
  const std::int64_t layers = v.count();
  if (method != nullptr && *method == "block") {
    d.plan.recompute_scope.first = static_cast<std::int32_t>(std::min<std::int64_t>(layers, kMostBlocks));  // the network may come later
    return;
  }
  d.plan.recompute_scope.together = blocks_together(v);
}

void read_optimizer(const Value& v, Draft& d) {
  const bool is_muon = v.text() == "muon" || v.text() == "dist_muon";
  d.plan.workload.optimizer = v.text() == "sgd" ? OptimizerKind::Sgd : is_muon ? OptimizerKind::Muon : OptimizerKind::AdamW;
  if (v.text() == "dist_muon") {  // gradients are summed whole, and each rank steps its matrices
    d.plan.zero_stage = std::max(d.plan.zero_stage, 1);
    d.plan.gradient_sync = GradientSync::AllReduce;
  }
  if (v.text() != "sgd" && v.text() != "adam" && v.text() != "adamw" && !is_muon)
    v.lost(fmt::format("is {}: a plan takes AdamW", v.text()), "mind its state's memory and its time");
}

void refuse_other_steps(const Value& v, Draft&) {
  constexpr std::string_view kSteps[] = {"pt", "sft", "full", "rm", "ppo", "dpo", "kto", "lora", "freeze", "oft"};
  tell_other_word(v, kSteps);
  constexpr std::string_view kOthers = "rm ppo dpo kto lora freeze oft";
  if (has_name(kOthers, v.text()))
    v.wrong(fmt::format("is {}: a step with other passes than one forward and one backward of all weights", v.text()),
            "give the recipe of a full fine-tuning (sft) or pretraining (pt)");
}

void read_precision(const Value& v, Draft& d) {  // NeMo's one word
  std::string text = v.text();
  for (const std::string_view tail : {"-mixed", "-true"})
    if (text.ends_with(tail)) text.resize(text.size() - tail.size());
  constexpr std::string_view kNames[] = {"bf16", "16", "fp16", "32", "fp32"};
  const auto at = std::find(std::begin(kNames), std::end(kNames), text);
  if (at == std::end(kNames)) return v.wrong(fmt::format("is '{}'", shown(v.text())), "use bf16, 16 or 32");
  const auto index = std::distance(std::begin(kNames), at);
  (index == 0 ? d.is_bf16 : d.is_fp16) = index < 3;
}

void read_dispatcher(const Value& v, Draft& d) {
  if (!has_name("flex alltoall alltoall_seq allgather", v.text()))
    v.lost(v.text() + ": another way of tokens to experts; the plan's exchange all to all", "mind the time of the network");
  d.plan.token_dispatcher = v.text() == "flex"                  ? TokenDispatcher::Hierarchical
                            : v.text().starts_with("allgather") ? TokenDispatcher::AllGather
                                                                : TokenDispatcher::AllToAll;
}

namespace {

struct Backend {
  std::string_view name;
  AttentionWord word;
};
constexpr Backend kAttentionBackends[] = {{"unfused", AttentionWord::FusedSoftmax},
                                          {"local", AttentionWord::FusedSoftmax},
                                          {"flash", AttentionWord::Flash2},
                                          {"fused", AttentionWord::Cudnn},
                                          {"auto", AttentionWord::AsTheProgram}};

// Also as an enumerator of Python: AttnBackend.fused.
void read_backend(const std::string& text, Draft& draft) {
  const std::string name = text.substr(text.find_last_of('.') + 1);
  for (const Backend& backend : kAttentionBackends)
    if (backend.name == name) return take_attention("attention-backend", backend.word, draft);
  if (!Value({"attention-backend", text}, draft).is_unknown())
    draft.wrong.push_back({"attention-backend", fmt::format("is '{}'", text), "use auto, fused, flash, unfused or local"});
}

// Its flash attention stands in the place of the local layers' kernel (FusionAttentionFeature); Megatron-LM has none of these arguments.
bool is_of_mindspeed(const Draft& draft) {
  return std::ranges::any_of(draft.said, [](const auto& one) {
    return has_name(
        "use-fused-rmsnorm use-fused-swiglu use-fused-rotary-pos-emb context-parallel-algo sparse-mode pre-tockens next-tockens "
        "shape-order reuse-fp32-param",
        one.first);
  });
}

}  // namespace

Written attention_backend(AttentionWord word) {
  const auto* const backend = std::ranges::find(kAttentionBackends, word, &Backend::word);
  return written_if(word != AttentionWord::AsTheProgram && backend != std::end(kAttentionBackends),
                    backend == std::end(kAttentionBackends) ? "" : std::string(backend->name));
}

// Without Transformer Engine attention writes its scores out, masked and normalised by one kernel unless that is switched off.
void settle_attention_of_megatron(Draft& draft) {
  const std::string* const backend = said(draft, "attention-backend");
  if (backend != nullptr) read_backend(*backend, draft);
  if (text_of(draft, "transformer-impl", "") == "local") {
    if (backend != nullptr && draft.plan.attention != AttentionWord::FusedSoftmax && draft.plan.attention != AttentionWord::AsTheProgram)
      draft.notes.push_back({"attention-backend",
                             fmt::format("is {}, and layers of transformer-impl local have a kernel of their own", shown(*backend)),
                             "use transformer_engine for it"});
    take_attention("transformer-impl", AttentionWord::FusedSoftmax, draft);
  }
  const bool is_local = text_of(draft, "transformer-impl", "") == "local";
  const bool is_of_core = is_local && said(draft, "use-legacy-models") == nullptr;  // whose local layers have that kernel alone
  const bool is_newer = draft.said.contains("attention-backend") || draft.said.contains("use-mcore-models");
  if (said(draft, "use-flash-attn") != nullptr && is_of_mindspeed(draft))
    return take_attention("use-flash-attn", AttentionWord::Flash2, draft);
  if (said(draft, "use-flash-attn") != nullptr && is_of_core)
    draft.notes.push_back({"use-flash-attn",
                           is_newer
                               ? "layers of transformer-impl local have a kernel of their own in Megatron-Core: that is taken"
                               : "is taken, as releases before Megatron-Core had it; its layers of transformer-impl local have a kernel of "
                                 "their own",
                           "use transformer_engine for it, or see which release it is"});
  if (said(draft, "use-flash-attn") != nullptr && !(is_of_core && is_newer)) take_attention("use-flash-attn", AttentionWord::Flash2, draft);
  const bool is_split = said(draft, "no-masked-softmax-fusion") != nullptr || !flag_of(draft, "masked-softmax-fusion", true);
  if (is_split && attention_kernel(draft.plan, draft.plan.cluster.software) == AttentionKernel::FusedSoftmax)
    take_attention("no-masked-softmax-fusion", AttentionWord::Unfused, draft);
}

// Off unless it is asked for; NVIDIA's recipes, which the software profile is of, do. TransformerEngine's kernel is another choice.
void settle_loss(Draft& draft) {
  SoftwareStack& stack = draft.plan.cluster.software;
  stack.fused_loss = flag_of(draft, "cross-entropy-loss-fusion", false);
  if (text_of(draft, "cross-entropy-fusion-impl", "native") == "te") stack.fused_loss_bytes = kBytesOfLossInPlace;
}

// Off unless it is asked for, and of shared sequences alone (megatron/training/arguments.py, validate_args); Megatron-Bridge switches it off without them.
void settle_tensor_overlap(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  constexpr std::string_view kOverlap = "tp-comm-overlap";
  const bool asks = flag_of(draft, std::string(kOverlap), false);
  if (plan.sequence_parallel && asks != plan.sends_along_products())
    plan.tensor_overlap = asks ? TensorOverlap::AlongProducts : TensorOverlap::Apart;
  if (asks && !plan.sequence_parallel)
    draft.lost.push_back({std::string(kOverlap),
                          "goes with sequences that tensor ranks share, and these share none; the plan is without it",
                          "add --sequence-parallel and a tensor degree above 1, or leave it out"});
}

void doubt_words_of_forks(Draft& draft) {
  struct Words {
    const char* key;
    std::string_view words;
  };
  constexpr Words kChoices[] = {{"transformer-impl", "local transformer_engine inference_optimized"},
                                {"fp8-format", "hybrid e4m3 true"},
                                {"recompute-method", "uniform block"},
                                {"position-embedding-type", "learned_absolute rope mrope yarn alibi relative none"},
                                {"moe-router-load-balancing-type",
                                 "aux_loss seq_aux_loss global_aux_loss sinkhorn none softmax_topk group_limited_greedy noaux_tc "
                                 "pai_megatron_moe sparsemixer_topk"}};
  const auto is_one_of = [](std::string_view words) { return [words](const std::string& word) { return has_name(words, word); }; };
  for (const auto& [key, words] : kChoices)
    if (const std::string value = text_of(draft, key, ""); is_on(value) && !std::ranges::all_of(words_of(value), is_one_of(words)))
      draft.unknown.push_back({key,
                               fmt::format("{} is none of {}; it might change time or memory, in a way not known here", shown(value),
                                           fmt::join(words_of(std::string(words)), ", ")),
                               "see what it does"});
}

bool captures_step(const ParallelPlan& plan) { return plan.cuda_graphs == CudaGraphs::FullIteration; }

void read_graphs(const Value& v, Draft& d) {
  constexpr std::string_view kImplementations[] = {"none", "local", "transformer_engine", kWholeIteration};
  const std::string* const scope = said(d, "cuda-graph-scope");
  const bool is_whole = v.text() == kWholeIteration || (scope != nullptr && scope->find(kWholeIteration) != std::string::npos);
  if (v.choice(kImplementations) > 0) d.plan.cuda_graphs = is_whole ? CudaGraphs::FullIteration : CudaGraphs::PerLayer;
}

Written graph_scope_of_megatron(const ParallelPlan& plan) {
  if (captures_step(plan)) return std::string(kWholeIteration);
  std::string text = to_text(plan.graph_scope);
  std::ranges::replace(text, ',', ' ');
  return written_if(!text.empty(), text);
}

// Without graphs it says nothing.
void read_graph_scope(const Value& v, Draft& d) {
  constexpr std::string_view kModules[] = {"full", "full_iteration", "attn", "mlp", "moe", "moe_router", "moe_preprocess", "mamba"};
  GraphScope scope;
  for (const std::string& word : words_of(v.text())) {
    tell_other_word(Value({v.key(), word}, d), kModules);
    if (const std::optional<GraphPart> part = graph_part(word)) scope = scope.with(*part);
  }
  const std::string* const implementation = said(d, "cuda-graph-impl");
  const bool is_of_layers = implementation != nullptr && *implementation != "none" && v.text().find(kWholeIteration) == std::string::npos;
  if (is_of_layers && has_name(v.text(), "moe"))
    v.lost("has moe: graphs of experts, too, whose products the plan's host issues one by one", "mind it when you read the figures");
  if (is_of_layers && !has_name(v.text(), "full")) d.plan.graph_scope = scope;
}

void read_layer_graphs(const Value& v, Draft& d) {
  if (v.boolean()) d.plan.cuda_graphs = CudaGraphs::PerLayer;
}

void read_step_graphs(const Value& v, Draft& d) {
  if (v.boolean()) d.plan.cuda_graphs = CudaGraphs::FullIteration;
}

std::string usual_argument(const std::string& key) {
  std::string name = leaf_of(key);
  while (name.starts_with("-")) name.erase(0, 1);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// Its own parser takes no name with underscores: a script that has them is of a program built on it. Quotes that another shell takes off are none of the list's.
void take_usual_names(RecipeReading& reading) {
  const bool is_script = !started_program(reading.command).empty() && first_named("of-swift", reading.settings) == nullptr;
  std::string other;
  for (RecipeSetting& setting : reading.settings) {
    const std::string name = usual_argument(setting.key);
    const Field* const field = field_of(kMegatron, name);
    const bool is_size = field != nullptr && field->is_size;
    if (is_script && is_size && setting.key.find('_') != std::string::npos) other = setting.key;
    if (name == "moe-layer-freq") std::erase(setting.value, '\'');
    setting.key = name;
  }
  if (other.empty()) return;
  reading.unknown.push_back(
      {"",
       fmt::format("spells {}, which Megatron-LM's own parser refuses: it is of a program built on it, whose defaults "
                   "may be others",
                   other),
       "see its code"});
}

// Before 2026 Megatron-Core cast the sum back behind each half of a block (pull request 3504).
void read_wide_stream(const Value& v, Draft& d) {
  if (!v.boolean()) return;
  d.wide[static_cast<std::size_t>(WideKind::Stream)] = Precision::Fp32;
  d.notes.push_back({"fp32-residual-connection", "is kept by Megatron-Core of 2026 on; releases before cast the stream back to 16 bit",
                     "leave it out for those"});
}

void read_type_of_routers(const Value& v, Draft& d) {
  constexpr std::string_view kTypes[] = {"fp64", "fp32"};
  if (!is_on(v.text())) return;
  d.wide[static_cast<std::size_t>(WideKind::Routers)] = v.choice(kTypes) == 0 ? Precision::Fp64 : Precision::Fp32;
}

Written written_type_of_routers(const ParallelPlan& plan) {
  const auto routers = plan.workload.precision.of(WideKind::Routers);
  return written_if(routers.has_value(), std::string(sim::at(kPrecisionNames, routers.value_or(Precision::Fp32))));
}

// Of a precision-aware optimizer. Moments are fp32 beside them unless they are said; a plan's fp16 beside weights in fp16 would be these themselves.
void settle_masters(Draft& draft) {
  PrecisionPolicy& policy = draft.plan.workload.precision;
  if (!has_name("fp16 float16", leaf_of(text_of(draft, "main-params-dtype", "fp32"))) || !is_sixteen_bit(policy.compute())) return;
  if (policy.compute() == Precision::Fp16)
    return draft.lost.push_back({"main-params-dtype", "keeps masters in fp16 beside weights in fp16; the plan's are fp32", "mind memory"});
  policy = policy.with(Numbers::Masters, Precision::Fp16).with(Numbers::Moments, Precision::Fp32);
}

}  // namespace sim
