// The arguments that a plan says, and those that say a plan: one row each, both ways. The network's are put together by megatron_network().
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/recipe/megatron_layout.h"
#include "sim/recipe/megatron_network.h"
#include "sim/recipe/megatron_words.h"
#include "sim/recipe/program.h"
#include "sim/units/at.h"

namespace sim {
namespace {

bool reaches_nodes_once(const ParallelPlan& plan) {
  const bool of_program = plan.token_dispatcher == TokenDispatcher::AsTheProgram && plan.cluster.software.dispatch_share > 0;
  return plan.model.experts && plan.mesh.expert > 1 && (of_program || plan.token_dispatcher == TokenDispatcher::Hierarchical);
}

Written packs_documents(const ParallelPlan& plan) { return written_flag(plan.workload.samples.filling == RowFilling::Packed); }

constexpr std::string_view kContextTypes[] = {"p2p", "all_gather", "a2a", "a2a+p2p"};  // in the order of ContextAlgorithm
constexpr std::string_view kStrategies[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};

// Neighbours that exchange heads, and the ring of their groups; read behind the degree and the type.
void read_context_levels(const Value& value, Draft& draft) {
  if (!is_on(value.text())) return;
  const std::vector<double> sizes = numbers_of(value.text());
  const std::int32_t context = draft.plan.mesh.context;
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[0] * sizes[1] != context || context % static_cast<std::int64_t>(sizes[0]) != 0)
    return value.wrong(fmt::format("is '{}', whose product is not context {}", value.text(), context),
                       "write two sizes, as 2 4 of context 8");
  if (draft.plan.context_algorithm != ContextAlgorithm::Hierarchical)
    return value.note(fmt::format("{}: is of --cp-comm-type a2a+p2p alone", value.text()), "it is left out, as Megatron does");
  if (sizes[1] == 1) draft.plan.context_algorithm = ContextAlgorithm::AllToAll;
  if (sizes[0] == 1) draft.plan.context_algorithm = ContextAlgorithm::Ring;
  if (sizes[0] > 1 && sizes[1] > 1) draft.plan.mesh.context_inner = static_cast<std::int32_t>(sizes[0]);
}

// The cluster says what its switches do.
void read_sharp(const Value& value, Draft& draft) {
  if (value.boolean() && !draft.plan.cluster.hardware.inter_node.switch_sums)
    value.lost("sums in the switches, and the cluster is not said to have such; the plan takes rings and trees",
               "say \"switch_sums\": true of inter_node in its hardware profile");
}

// Of both numbers of a launcher, or of none: the environment often says one.
void add_processes(const Value& value, Draft& draft) {
  for (const char* const name : {"nnodes", "nproc-per-node"})
    if (const auto found = draft.said.find(name); found != draft.said.end() && !unknowns_in(found->second).empty()) return;
  if (value.text().find(':') == std::string::npos && value.text() != "gpu" && value.text() != "auto")
    draft.processes = draft.processes.value_or(1) * value.degree();
}

template <auto size>
Written model_size(const ParallelPlan& plan) {
  return written(plan.model.*size);
}
void count_of_the_model(const Value& value, Draft&) { value.count(); }  // megatron_network() takes it
void number_of_the_model(const Value& value, Draft&) { value.number(); }
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
void of_the_model(const Value&, Draft&) {}  // megatron_network() takes it

bool has_latent(const ParallelPlan& plan) { return plan.model.attention.kind == AttentionKind::Latent; }
bool is_sparse(const ParallelPlan& plan) { return plan.model.attention.is_sparse(); }
bool has_groups(const ParallelPlan& plan) { return plan.model.kv_heads != plan.model.heads && !has_latent(plan); }
bool is_overlapped(const ParallelPlan& plan) { return plan.bucket_size.value() < kOneBucket.value(); }
bool is_stretched(const ParallelPlan& plan) { return plan.model.rope_scaling.kind == RopeScalingKind::Llama3; }

Written latent_size(const ParallelPlan& p, std::int64_t size) { return written_if(has_latent(p) && size > 0, std::to_string(size)); }
Written of_yarn(const ParallelPlan& p, double number) { return is_yarn_of_megatron(p.model) ? written_number(number) : Written(); }
template <typename Write>
Written of_experts(const ParallelPlan& p, Write write) {
  return p.model.experts ? write(*p.model.experts) : Written();
}
// "([0]*3+[1]*58)": which blocks have something, in runs.
std::string blocks_text(std::int64_t layers, auto&& has) {
  std::string text;
  for (std::int64_t block = 0, next = 0; block < layers; block = next) {
    for (next = block; next < layers && has(next) == has(block);) ++next;
    text += fmt::format("{}[{}]*{}", text.empty() ? "(" : "+", has(block) ? 1 : 0, next - block);
  }
  return text + ")";
}
std::string expert_layers(const ParallelPlan& plan) {
  return blocks_text(plan.model.layers, [&](std::int64_t block) { return plan.model.experts->has_experts(block); });
}
bool is_expert_everywhere(const ExpertForm& form) { return form.first_dense_layers == 0 && form.every == 1 && form.dense_layers.empty(); }
std::string windows_text(const ParallelPlan& plan) {
  return blocks_text(plan.model.layers, [&](std::int64_t block) { return window_of(plan.model, block) > 0; });
}
bool has_gpt_oss_gate(const ParallelPlan& plan) { return plan.model.gated_mlp && plan.model.gate_limit > 0; }
bool has_biases(const ParallelPlan& plan) { return plan.model.mlp_bias || (plan.model.experts && plan.model.experts->biases); }
void read_softmax(const Value& v, Draft&) {
  if (v.text() == "off-by-one") v.lost("is off-by-one: a sink without weights; the plan has none", "mind the function, time is the same");
}

void read_granularity(const Value& v, Draft& d) { d.plan.recompute = static_cast<Recompute>(v.choice(kRecomputeNames)); }
void read_old_recompute(const Value& v, Draft& d) {
  if (v.boolean()) d.plan.recompute = Recompute::Full;
}
// In the order of ScaleRecipe; rows have none.
constexpr std::string_view kScaleNames[] = {"delayed", "tensorwise", "", "mxfp8", "blockwise"};
bool is_four_bits(const ParallelPlan& plan) { return plan.workload.precision.scales() == ScaleRecipe::Nvfp4; }
bool is_eight_bits(const ParallelPlan& plan) { return plan.workload.precision.scales() && !is_four_bits(plan); }
void read_scaled_format(const Value& v, Draft& d) {
  if (is_on(v.text())) d.scales_products = true;
}
void read_four_bits(const Value& v, Draft& d) {
  if (is_on(v.text())) d.scales_products = true, d.scales = ScaleRecipe::Nvfp4;
}
void read_scale_recipe(const Value& v, Draft& d) {
  if (v.text() == "custom") return v.lost("is custom: another file says what it is; the plan takes delayed", "mind time and memory");
  if (const auto recipe = static_cast<ScaleRecipe>(v.choice(kScaleNames)); d.scales != ScaleRecipe::Nvfp4) d.scales = recipe;
}

constexpr Field kFields[] = {
    {"num-layers", "", model_size<&ModelConfig::layers>, count_of_the_model, true},
    {"hidden-size", "", model_size<&ModelConfig::hidden>, count_of_the_model, true},
    {"ffn-hidden-size", "", model_size<&ModelConfig::ffn>, count_of_the_model, true},
    {"num-attention-heads", "", model_size<&ModelConfig::heads>, count_of_the_model, true},
    {"group-query-attention", "", [](const ParallelPlan& p) { return written_flag(has_groups(p)); }, of_the_model},
    {"num-query-groups", "num-key-value-heads",
     [](const ParallelPlan& p) { return written_if(has_groups(p), std::to_string(p.model.kv_heads)); }, count_of_the_model},
    {"kv-channels", "", [](const ParallelPlan& p) { return written_if(!has_latent(p), std::to_string(p.model.head_dim)); },
     [](const Value& v, Draft&) {
       if (is_on(v.text())) v.count();
     }},
    {"multi-latent-attention", "multi-head-latent-attention", [](const ParallelPlan& p) { return written_flag(has_latent(p)); }, of_the_model},
    {"q-lora-rank", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.q_lora); }, of_the_model},
    {"kv-lora-rank", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.kv_lora); }, count_of_the_model},
    {"qk-head-dim", "qk-nope-head-dim", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.qk_nope); }, count_of_the_model},
    {"qk-pos-emb-head-dim", "qk-rope-head-dim", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.qk_rope); }, count_of_the_model},
    {"v-head-dim", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.v_dim); }, count_of_the_model},
    {"experimental-attention-variant", "", [](const ParallelPlan& p) { return written_if(is_sparse(p), "dsa"); },
     [](const Value& v, Draft&) {
       if (v.text() != "dsa") v.lost("layers of other kinds; the plan's are all of one", "expect times to differ");
     }},
    {"dsa-indexer-n-heads", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.indexer.heads); }, count_of_the_model},
    {"dsa-indexer-head-dim", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.indexer.width); }, count_of_the_model},
    {"dsa-indexer-topk", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.indexer.topk); }, count_of_the_model},
    {"dsa-indexer-loss-coeff", "", [](const ParallelPlan& p) { return written_if(is_sparse(p), "0.001"); }, number_of_the_model},
    {"dsa-indexer-use-sparse-loss", "", [](const ParallelPlan& p) { return written_flag(is_sparse(p)); }, of_the_model},
    {"num-experts", "num-moe-experts", [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written(e.experts); }); },
     [](const Value& v, Draft&) {
       if (is_on(v.text())) v.count();
     }},
    {"moe-router-topk", "topk", [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written(e.topk); }); },
     count_of_the_model},
    {"moe-ffn-hidden-size", "moe-intermediate-size",
     [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written(e.expert_ffn); }); }, count_of_the_model},
    {"moe-shared-expert-intermediate-size", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_if(e.shared_ffn > 0, std::to_string(e.shared_ffn)); });
     },
     of_the_model},
    {"expert-interval", "", nullptr, count_of_the_model},             // Megatron-DeepSpeed
    {"moe-train-capacity-factor", "", nullptr, number_of_the_model},  // Megatron-DeepSpeed
    {"disable-moe-token-dropping", "", nullptr, of_the_model},        // Megatron-DeepSpeed
    {"first-k-dense-replace", "", nullptr, of_the_model},             // MindSpeed
    {"n-shared-experts", "", nullptr, of_the_model},                  // MindSpeed
    {"embed-layernorm", "", nullptr, of_the_model},                   // Megatron-DeepSpeed
    {"moe-layer-freq", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [&](const ExpertForm& e) { return written_if(!is_expert_everywhere(e), expert_layers(p)); });
     },
     of_the_model},
    {"moe-shared-expert-gate", "",
     [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written_flag(e.shared_gate); }); }, of_the_model},
    {"moe-router-score-function", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return Written(std::string(sim::at(kRouterScoreNames, e.score))); });
     },
     [](const Value& v, Draft&) { v.choice(kRouterScoreNames); }},
    {"moe-router-pre-softmax", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_flag(e.score == RouterScore::Softmax && !e.renormalised); });
     },
     of_the_model},
    {"moe-router-topk-scaling-factor", "routed-scaling-factor",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_if(e.scaling != 1, fmt::format("{}", e.scaling)); });
     },
     number_of_the_model},
    {"moe-router-num-groups", "n-group",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_if(e.groups > 1, std::to_string(e.groups)); });
     },
     count_of_the_model},
    {"moe-router-group-topk", "topk-group",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_if(e.groups > 1, std::to_string(e.group_topk)); });
     },
     count_of_the_model},
    {"moe-router-enable-expert-bias", "",
     [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written_flag(e.score_correction); }); }, of_the_model},
    {"moe-router-load-balancing-type", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return Written(e.balance_loss > 0 ? "aux_loss" : "none"); });
     },
     of_the_model},
    {"moe-aux-loss-coeff", "moe-loss-coeff",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_if(e.balance_loss > 0, fmt::format("{}", e.balance_loss)); });
     },
     of_the_model},
    {"moe-expert-capacity-factor", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_if(e.is_limited(), fmt::format("{}", e.capacity_factor)); });
     },
     of_the_model},
    {"moe-pad-expert-input-to-capacity", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_flag(e.is_limited() && e.dispatch == ExpertDispatch::Padded); });
     },
     of_the_model},
    {"moe-router-force-load-balancing", "",
     [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written_flag(e.forced_balance); }); }, of_the_model},
    {"moe-grouped-gemm", "", [](const ParallelPlan& p) { return written_flag(p.model.experts.has_value()); }, [](const Value&, Draft&) {}},
    {"moe-token-dispatcher-type", "",
     [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), reaches_nodes_once(p) ? "flex" : "alltoall"); },
     read_dispatcher},
    {"moe-flex-dispatcher-backend", "moe-enable-deepep",
     [](const ParallelPlan& p) { return written_if(reaches_nodes_once(p), "deepep"); },
     [](const Value&, Draft&) {}},  // how a node is reached once; a word of its own only with the dispatcher above
    {"cuda-graph-impl", "", [](const ParallelPlan& p) { return written_if(p.cuda_graphs != CudaGraphs::None, "local"); }, read_graphs},
    {"cuda-graph-scope", "cuda-graph-modules", [](const ParallelPlan& p) { return written_if(captures_step(p), "full_iteration"); }, read_graph_scope},
    {"enable-cuda-graph", "external-cuda-graph", nullptr, read_layer_graphs},
    {"full-iteration-cuda-graph", "", nullptr, read_step_graphs},
    {"te-rng-tracker", "", [](const ParallelPlan& p) { return written_flag(p.cuda_graphs != CudaGraphs::None); }, of_the_model},
    {"no-check-for-nan-in-loss-and-grad", "", [](const ParallelPlan& p) { return written_flag(captures_step(p)); }, of_the_model},
    {"overlap-moe-expert-parallel-comm", "", flag_of<&ParallelPlan::expert_overlap>, put_flag<&ParallelPlan::expert_overlap>},
    {"delay-wgrad-compute", "", flag_of<&ParallelPlan::delay_wgrad>, put_flag<&ParallelPlan::delay_wgrad>},
    {"max-position-embeddings", "", [](const ParallelPlan& p) { return written(std::max(p.model.max_positions, p.workload.sequence)); },
     count_of_the_model},
    {"position-embedding-type", "",
     [](const ParallelPlan& p) { return Written(p.model.position == Position::Rotary ? "rope" : "learned_absolute"); }, of_the_model},
    {"use-rotary-position-embeddings", "", nullptr, of_the_model},
    {"rotary-base", "",
     [](const ParallelPlan& p) { return written_if(p.model.position == Position::Rotary, fmt::format("{:.0f}", p.model.rope_theta)); },
     of_the_model},
    {"rotary-percent", "", [](const ParallelPlan& p) { return written_if(p.model.rotary_share != 1, fmt::format("{}", p.model.rotary_share)); },
     number_of_the_model},
    {"qk-layernorm", "",  // of latent attention: the norms of its latent vectors, which all have
     [](const ParallelPlan& p) { return written_flag(p.model.qk_norm == QkNorm::Heads || has_latent(p)); }, of_the_model},
    {"softmax-type", "", [](const ParallelPlan& p) { return written_if(p.model.sinks, "learnable"); }, read_softmax},
    {"window-size", "", [](const ParallelPlan& p) { return written_if(p.model.window > 0, fmt::format("{},0", p.model.window - 1)); },
     of_the_model},
    {"window-attn-skip-freq", "", [](const ParallelPlan& p) { return written_if(!p.model.windowed.empty(), windows_text(p)); }, of_the_model},
    {"rope-type", "", [](const ParallelPlan& p) { return written_if(has_latent(p), is_yarn_of_megatron(p.model) ? "yarn" : "rope"); },
     of_the_model},
    {"rotary-scaling-factor", "", [](const ParallelPlan& p) { return of_yarn(p, p.model.rope_scaling.factor); }, number_of_the_model},
    {"mscale", "", [](const ParallelPlan& p) { return of_yarn(p, p.model.rope_scaling.mscale); }, number_of_the_model},
    {"mscale-all-dim", "", [](const ParallelPlan& p) { return of_yarn(p, p.model.rope_scaling.mscale_all_dim); }, number_of_the_model},
    {"use-rope-scaling", "", [](const ParallelPlan& p) { return written_flag(is_stretched(p)); },
     [](const Value& v, Draft&) { v.note("positions are scaled", "time and memory are the same; give --model to keep them"); }},
    {"rope-scaling-factor", "", [](const ParallelPlan& p) { return written_if(is_stretched(p), fmt::format("{}", p.model.rope_scaling.factor)); },
     of_the_model},
    {"normalization", "", [](const ParallelPlan& p) { return Written(p.model.norm == Norm::RmsNorm ? "RMSNorm" : "LayerNorm"); },
     of_the_model},
    {"norm-epsilon", "layernorm-epsilon", [](const ParallelPlan& p) { return written_number(p.model.norm_epsilon); }, of_the_model},
    {"init-method-std", "", [](const ParallelPlan& p) { return written_number(p.model.initializer_range); }, of_the_model},
    {"apply-layernorm-1p", "", [](const ParallelPlan& p) { return written_flag(p.model.offset_norm); }, of_the_model},
    {"swiglu", "",
     [](const ParallelPlan& p) {
       return written_flag(p.model.gated_mlp && p.model.activation == Activation::Silu && !has_gpt_oss_gate(p));
     },
     of_the_model},
    {"quick-geglu", "", [](const ParallelPlan& p) { return written_flag(has_gpt_oss_gate(p)); },
     [](const Value& v, Draft& d) {
       if (said(d, "activation-func-clamp-value") == nullptr)
         v.lost("without a clamp: another activation; the plan's has the same products", "mind the function");
     }},
    {"glu-linear-offset", "", [](const ParallelPlan& p) { return written_if(has_gpt_oss_gate(p), "1.0"); }, number_of_the_model},
    {"activation-func-clamp-value", "",
     [](const ParallelPlan& p) { return written_if(has_gpt_oss_gate(p), fmt::format("{}", p.model.gate_limit)); },
     [](const Value& v, Draft& d) {
       if (said(d, "quick-geglu") == nullptr) v.lost("of another gate than --quick-geglu; the plan's is not clamped", "mind the function");
     }},
    {"disable-bias-linear", "", [](const ParallelPlan& p) { return written_flag(!has_biases(p)); }, of_the_model},
    {"add-qkv-bias", "", [](const ParallelPlan& p) { return written_flag(p.model.attention_bias && !has_biases(p)); }, of_the_model},
    {"untie-embeddings-and-output-weights", "", [](const ParallelPlan& p) { return written_flag(!p.model.tied_embeddings); }, of_the_model},
    {"attention-dropout", "", [](const ParallelPlan& p) { return written_number(p.model.attention_dropout); }, number_of_the_model},
    {"hidden-dropout", "", [](const ParallelPlan& p) { return written_number(p.model.residual_dropout); }, number_of_the_model},
    {"attention-backend", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text() == "unfused" || v.text() == "local") v.lost(v.text() + ": scores are kept; the software profile says what the plan has", "mind memory");
     }},
    {"vocab-size", "", model_size<&ModelConfig::vocabulary>, count_of_the_model},
    {"padded-vocab-size", "pad-vocab-size-to", nullptr, count_of_the_model},
    {"make-vocab-size-divisible-by", "",
     [](const ParallelPlan& p) { return written(p.vocabulary_multiple / p.mesh.tensor); },  // times T there
     [](const Value& v, Draft& d) { d.plan.vocabulary_multiple = v.degree(); }},
    {"seq-length", "encoder-seq-length sequence-length cutoff-len max-length", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) { d.sequence = v.count(); }, true},
    {"micro-batch-size", "batch-size per-device-train-batch-size", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }, true},
    {"global-batch-size", "", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) { d.global_batch = v.count(); }, true},
    {"tensor-model-parallel-size", "model-parallel-size intra-layer-model-parallel-size", [](const ParallelPlan& p) { return written(p.mesh.tensor); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.degree(); }, true},
    {"sequence-parallel", "", flag_of<&ParallelPlan::sequence_parallel>, put_flag<&ParallelPlan::sequence_parallel>},
    {"pipeline-model-parallel-size", "pipe-parallel-size", [](const ParallelPlan& p) { return written(p.mesh.pipeline); },
     [](const Value& v, Draft& d) { d.plan.mesh.pipeline = v.degree(); }, true},
    {"pipeline-model-parallel-layout", "", [](const ParallelPlan& p) { return written_if(p.mesh.pipeline > 1, layout_text(p)); },
     read_layout},
    {"num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size", nullptr,
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.plan.chunks = v.degree();
     }},
    {"num-layers-per-virtual-pipeline-stage", "", nullptr, [](const Value& v, Draft& d) { d.blocks_of_chunk = v.degree(); }},
    {"microbatch-group-size-per-virtual-pipeline-stage", "microbatch-group-size-per-vp-stage",
     [](const ParallelPlan& p) { return written_if(p.microbatch_group > 0, std::to_string(p.microbatch_group)); },
     [](const Value& v, Draft& d) {
       const std::int32_t group = v.degree();
       d.plan.microbatch_group = group == d.plan.mesh.pipeline ? 0 : group;  // as without it
     }},
    {"mtp-num-layers", "", [](const ParallelPlan& p) { return written_if(p.model.mtp_layers > 0, std::to_string(p.model.mtp_layers)); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.mtp_layers = v.text() == "0" ? 0 : v.degree();
     }},
    {"reset-attention-mask", "", packs_documents,
     [](const Value& v, Draft&) {
       if (v.boolean())
         v.lost("documents attend to themselves alone; how long they are stands in the data, and the plan takes one for each sample",
                "say it as samples: \"packed lognormal mean 800 spread 1.2\"");
     }},
    {"reset-position-ids", "", packs_documents, [](const Value&, Draft&) {}},
    {"eod-mask-loss", "", packs_documents, [](const Value&, Draft&) {}},
    {"decoder-first-pipeline-num-layers", "", nullptr, [](const Value& v, Draft& d) { d.first_blocks = v.degree(); }},
    {"decoder-last-pipeline-num-layers", "", nullptr, [](const Value& v, Draft& d) { d.last_blocks = v.degree(); }},
    {"account-for-embedding-in-pipeline-split", "", nullptr, [](const Value& v, Draft& d) { d.embedding_counts = v.boolean(); }},
    {"account-for-loss-in-pipeline-split", "", nullptr, [](const Value& v, Draft& d) { d.loss_counts = v.boolean(); }},
    {"context-parallel-size", "", [](const ParallelPlan& p) { return written(p.mesh.context); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(); }, true},
    {"ds-sequence-parallel-size", "", nullptr,
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(), d.plan.context_algorithm = ContextAlgorithm::AllToAll; }, true},
    {"cp-comm-type", "",
     [](const ParallelPlan& p) {
       return written_if(p.mesh.context > 1, std::string(sim::at(kContextTypes, p.context_algorithm)));
     },
     [](const Value& v, Draft& d) {
       d.plan.context_algorithm =
           v.text() == "allgather" ? ContextAlgorithm::AllGather : static_cast<ContextAlgorithm>(v.choice(kContextTypes));
     }},
    {"context-parallel-algo", "", nullptr, read_context_algorithm},  // MindSpeed
    {"hierarchical-context-parallel-sizes", "",
     [](const ParallelPlan& p) {
       return written_if(p.mesh.context_inner > 1, fmt::format("{} {}", p.mesh.context_inner, p.mesh.context_outer()));
     },
     read_context_levels},
    {"expert-model-parallel-size", "moe-expert-parallel-size",
     [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), std::to_string(p.mesh.expert)); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }, true},
    {"expert-tensor-parallel-size", "",
     [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), std::to_string(p.mesh.expert_cut())); },
     [](const Value& v, Draft& d) {  // by default the tensor ranks
       if (is_on(v.text()) && v.degree() != d.plan.mesh.tensor) d.plan.mesh.expert_tensor = v.degree();
     }},
    {"use-distributed-optimizer", "", [](const ParallelPlan& p) { return written_flag(p.zero_stage >= 1); },
     [](const Value& v, Draft& d) { d.plan.zero_stage = std::max(d.plan.zero_stage, v.boolean() ? 1 : 0); }},
    {"use-megatron-fsdp", "use-custom-fsdp", [](const ParallelPlan& p) { return written_flag(is_by_megatron_fsdp(p)); },
     [](const Value& v, Draft& d) { d.is_fsdp = v.boolean(); }},
    {"use-torch-fsdp2", "", nullptr,
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.plan.zero_stage = 3, d.is_fsdp = true;
     }},
    {"torch-fsdp2-no-reshard-after-forward", "", nullptr, [](const Value& v, Draft& d) { d.plan.reshard_after_forward = !v.boolean(); }},
    {"data-parallel-sharding-strategy", "",
     [](const ParallelPlan& p) { return written_if(is_by_megatron_fsdp(p), std::string(kStrategies[p.zero_stage])); },
     [](const Value& v, Draft& d) { d.strategy = static_cast<std::int32_t>(v.choice(kStrategies)); }},
    {"zero-stage", "", nullptr,  // Megatron-DeepSpeed
     [](const Value& v, Draft& d) {
       constexpr std::string_view kStages[] = {"0", "1", "2", "3"};
       d.plan.zero_stage = static_cast<std::int32_t>(v.choice(kStages));
       d.is_fsdp = d.plan.zero_stage >= 2;
       d.strategy = d.plan.zero_stage;
     }},
    {"ckpt-format", "", [](const ParallelPlan& p) { return written_if(is_by_megatron_fsdp(p), "fsdp_dtensor"); }, of_the_model},
    {"num-distributed-optimizer-instances", "",
     [](const ParallelPlan& p) { return written_if(p.mesh.replicas > 1, std::to_string(p.mesh.replicas)); },
     [](const Value& v, Draft& d) { d.plan.mesh.replicas = v.degree(); }},
    {"overlap-grad-reduce", "", [](const ParallelPlan& p) { return written_flag(is_overlapped(p)); },
     [](const Value& v, Draft& d) { d.overlaps_reduce = v.boolean(); }},
    {"overlap-param-gather", "", [](const ParallelPlan& p) { return written_flag(p.zero_stage == 3 ? p.prefetch : p.overlap_weight_gather); },
     [](const Value& v, Draft& d) { d.overlaps_gather = v.boolean(); }},
    {"ddp-bucket-size", "", [](const ParallelPlan& p) { return written_if(is_overlapped(p), std::to_string(elements_of_bucket(p))); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.bucket_elements = v.count();
     }},
    {"bf16", "", [](const ParallelPlan& p) { return written_flag(p.workload.precision.compute() == Precision::Bf16); },
     [](const Value& v, Draft& d) { d.is_bf16 = v.boolean(); }},
    {"fp16", "", [](const ParallelPlan& p) { return written_flag(p.workload.precision.compute() == Precision::Fp16); },
     [](const Value& v, Draft& d) { d.is_fp16 = v.boolean(); }},
    {"precision", "", nullptr, read_precision},
    {"fp8-format", "fp8", [](const ParallelPlan& p) { return written_if(is_eight_bits(p), "hybrid"); }, read_scaled_format},
    {"fp8-hybrid", "fp8-e4m3 transformer-engine-fp8", nullptr, read_scaled_format},  // before 2023
    {"fp8-recipe", "",
     [](const ParallelPlan& p) {
       return is_eight_bits(p) ? Written(sim::at(kScaleNames, *p.workload.precision.scales())) : Written();
     },
     read_scale_recipe},
    {"fp8-param-gather", "fp8-param fp4-param-gather fp4-param",
     [](const ParallelPlan& p) { return written_flag(p.workload.precision.gathers_scaled()); },
     [](const Value& v, Draft& d) { d.gathers_scaled = v.boolean(); }},
    {"fp4-format", "fp4", [](const ParallelPlan& p) { return written_if(is_four_bits(p), "e2m1"); }, read_four_bits},
    {"fp4-recipe", "", [](const ParallelPlan& p) { return written_if(is_four_bits(p), "nvfp4"); },
     [](const Value& v, Draft&) {
       if (v.text() != "nvfp4") v.lost(fmt::format("is {}: a plan knows nvfp4, and takes it", v.text()), "mind time and memory");
     }},
    {"accumulate-allreduce-grads-in-fp32", "", [](const ParallelPlan& p) { return written_flag(reduces_in_fp32(p)); },
     [](const Value& v, Draft& d) { d.fp32_gradients = v.boolean(); }},
    {"grad-reduce-in-bf16", "",
     [](const ParallelPlan& p) { return written_flag(p.workload.precision.compute() == Precision::Bf16 && !reduces_in_fp32(p)); },
     [](const Value& v, Draft& d) { d.fp32_gradients = !v.boolean(); }},
    {"main-grads-dtype", "", nullptr, [](const Value& v, Draft& d) { d.fp32_gradients = v.text() == "fp32"; }},
    {"recompute-granularity", "activations-checkpoint-granularity",
     [](const ParallelPlan& p) {
       return written_if(p.recompute != Recompute::None, std::string(sim::at(kRecomputeNames, p.recompute)));
     },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) read_granularity(v, d);
     }},
    {"recompute-activations", "", nullptr,
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.plan.recompute = Recompute::Selective;
     }},
    {"checkpoint-activations", "", nullptr, read_old_recompute},
    {"recompute-modules", "", [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Selective, recomputed_modules(p)); },
     read_recomputed_modules},
    {"recompute-method", "activations-checkpoint-method",
     [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Full, p.recompute_scope.first > 0 ? "block" : "uniform"); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text()) && said(d, "recompute-granularity") == nullptr) d.plan.recompute = Recompute::Full;
     }},
    {"recompute-num-layers", "checkpoint-num-layers activations-checkpoint-num-layers",
     [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Full, std::to_string(std::max(1, p.recompute_scope.first))); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) read_recomputed_layers(v, d);
     }},
    {"optimizer-cpu-offload", "cpu-optimizer", flag_of<&ParallelPlan::offload_optimizer>, put_flag<&ParallelPlan::offload_optimizer>},
    {"optimizer-offload-fraction", "", [](const ParallelPlan& p) { return written_if(p.offload_optimizer, fmt::format("{}", p.offload_share)); },
     [](const Value& v, Draft& d) {
       if (d.plan.offload_optimizer) d.plan.offload_optimizer = v.number() > 0, d.plan.offload_share = v.number() > 0 ? v.number() : 1;
     }},
    {"use-precision-aware-optimizer", "", [](const ParallelPlan& p) { return written_flag(p.offload_optimizer); },
     of_the_model},  // the offload asks for it
    {"optimizer", "", [](const ParallelPlan& p) { return Written(p.workload.optimizer == OptimizerKind::Sgd ? "sgd" : "adam"); },
     read_optimizer},
    {"lr", "learning-rate", training_number<&TrainingSettings::learning_rate>, read_training_number<&TrainingSettings::learning_rate>},
    {"min-lr", "", training_number<&TrainingSettings::minimum_learning_rate>,
     read_training_number<&TrainingSettings::minimum_learning_rate>},
    {"lr-decay-style", "lr-scheduler-type", [](const ParallelPlan& p) { return Written(p.training.decay_steps > 0 ? "cosine" : "constant"); }, of_the_model},
    {"lr-warmup-iters", "", [](const ParallelPlan& p) { return written(p.training.warmup_steps); },
     [](const Value& v, Draft& d) { d.plan.training.warmup_steps = std::max<std::int64_t>(0, v.integer()); }},
    {"lr-decay-iters", "",
     [](const ParallelPlan& p) { return written_if(p.training.decay_steps > 0, std::to_string(p.training.decay_steps)); },
     [](const Value& v, Draft& d) {
       const std::string* const style = said(d, "lr-decay-style");
       if (style == nullptr || *style != "constant") d.plan.training.decay_steps = std::max<std::int64_t>(0, v.integer());
     }},
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
    {"deepspeed-config", "", nullptr, read_deepspeed_document},
    {"gradient-accumulation-steps", "", nullptr, [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }},
    {"stage", "finetuning-type", nullptr, refuse_other_steps},  // LLaMA-Factory
    {"use-sharp", "", [](const ParallelPlan& p) { return written_flag(p.cluster.hardware.inter_node.switch_sums); }, read_sharp},
    {"nnodes", "", nullptr, add_processes},
    {"nproc-per-node", "", nullptr, add_processes},
};

}  // namespace

std::span<const Field> megatron_fields() { return kFields; }

}  // namespace sim
