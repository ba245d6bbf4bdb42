// Arguments that describe the network, and those that say it: one row each, both ways. They are put together by megatron_network().
#include <fmt/format.h>

#include <algorithm>

#include "sim/model/model_text.h"
#include "sim/plan/token_route.h"
#include "sim/recipe/block_pattern.h"
#include "sim/recipe/megatron_hybrid.h"
#include "sim/recipe/megatron_network.h"
#include "sim/recipe/megatron_words.h"
#include "sim/recipe/said_values.h"
#include "sim/units/at.h"

namespace sim {
namespace {

bool is_flexible(const ParallelPlan& plan) { return plan.model.experts && plan.mesh.expert > 1 && reaches_nodes_once(plan); }

std::string_view dispatcher_of(const ParallelPlan& plan) {
  return is_flexible(plan) ? "flex" : plan.gathers_tokens() ? "allgather" : "alltoall";
}

template <auto size>
Written model_size(const ParallelPlan& plan) {
  return written(plan.model.*size);
}
void count_of_the_model(const Value& value, Draft&) { value.count(); }  // megatron_network() takes it
void number_of_the_model(const Value& value, Draft&) { value.number(); }
void of_the_model(const Value&, Draft&) {}  // megatron_network() takes it

bool has_latent(const ParallelPlan& plan) { return plan.model.attention.kind == AttentionKind::Latent; }
bool is_sparse(const ParallelPlan& plan) { return plan.model.attention.is_sparse(); }
bool has_groups(const ParallelPlan& plan) { return plan.model.kv_heads != plan.model.heads && !has_latent(plan); }
bool is_stretched(const ParallelPlan& plan) { return plan.model.rope_scaling.kind == RopeScalingKind::Llama3; }

Written latent_size(const ParallelPlan& p, std::int64_t size) { return written_if(has_latent(p) && size > 0, std::to_string(size)); }
Written of_yarn(const ParallelPlan& p, double number) { return is_yarn_of_megatron(p.model) ? written_number(number) : Written(); }
template <typename Write>
Written of_experts(const ParallelPlan& p, Write write) {
  return p.model.experts ? write(*p.model.experts) : Written();
}
// Which blocks have something.
std::string blocks_text(std::int64_t layers, auto&& has) {
  std::vector<int> pattern;
  for (std::int64_t block = 0; block < layers; ++block) pattern.push_back(has(block) ? 1 : 0);
  return pattern_text(pattern);
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
template <auto size>
Written delta_size(const ParallelPlan& p) {
  return has_delta(p.model) ? written((*p.model.linear).*size) : Written();
}
template <auto size>
Written mamba_size(const ParallelPlan& p) {
  return is_hybrid(p.model) && p.model.linear ? written((*p.model.linear).*size) : Written();
}
constexpr std::string_view kStackOfHybrids = "megatron.core.models.mamba.mamba_layer_specs mamba_stack_spec";
void read_spec(const Value& v, Draft&) {
  const bool is_stack = v.text().find("mamba_stack_spec") != std::string::npos || v.text().find("hybrid_stack_spec") != std::string::npos;
  if (!is_stack) v.lost("layers of other kinds, by another file; the plan's are those of the arguments", "mind time and memory");
}
std::string position_text(const ParallelPlan& p) {
  return p.model.position == Position::Rotary ? "rope" : p.model.position == Position::None ? "none" : "learned_absolute";
}
bool is_squared(const ParallelPlan& p) { return !p.model.gated_mlp && p.model.activation == Activation::SquaredRelu; }
void read_softmax(const Value& v, Draft&) {
  constexpr std::string_view kKinds[] = {"vanilla", "off-by-one", "learnable"};
  tell_other_word(v, kKinds);
  if (v.text() == "off-by-one") v.lost("is off-by-one: a sink without weights; the plan has none", "mind the function, time is the same");
}

// Other kernels of its name, which a plan does not tell apart.
void note_kernel(const Value& v, Draft& d) {
  flag_said(v, d);
  if (v.key() != "use-flash-attn" && v.key() != "use-flash-attn-v2" && is_on(v.text()))
    v.note("is a kernel of its own; the plan has FlashAttention 2", "mind attention's time");
}

constexpr std::string_view kRopeTypes[] = {"rope", "yarn"};
constexpr std::string_view kFlexBackends[] = {"deepep", "hybridep", "true"};  // --moe-enable-deepep of before

constexpr Field kNetworkRows[] = {
    {"num-layers", "", model_size<&ModelConfig::layers>, count_of_the_model, true},
    {"hidden-size", "", model_size<&ModelConfig::hidden>, count_of_the_model, true},
    {"ffn-hidden-size", "", model_size<&ModelConfig::ffn>, count_of_the_model, true},
    {"num-attention-heads", "", model_size<&ModelConfig::heads>, count_of_the_model, true},
    {"group-query-attention", "", [](const ParallelPlan& p) { return written_flag(has_groups(p)); }, flag_said},
    {"num-query-groups", "", [](const ParallelPlan& p) { return written_if(has_groups(p), std::to_string(p.model.kv_heads)); },
     count_of_the_model},
    {"num-key-value-heads", "", nullptr,  // Megatron-DeepSpeed's, obeyed by itself
     [](const Value& v, Draft& d) {
       d.said["num-query-groups"] = v.text(), d.said["group-query-attention"] = "true";
       count_of_the_model(v, d);
     }},
    {"multiple-of", "", nullptr, count_of_the_model},              // FlagScale: of the width of a gated feed-forward
    {"hidden-dim-multiplier", "", nullptr, number_of_the_model},  // FlagScale
    {"kv-channels", "", [](const ParallelPlan& p) { return written_if(!has_latent(p), std::to_string(p.model.head_dim)); },
     [](const Value& v, Draft&) {
       if (is_on(v.text())) v.count();
     }},
    {"multi-latent-attention", "multi-head-latent-attention", [](const ParallelPlan& p) { return written_flag(has_latent(p)); },
     flag_said},
    {"q-lora-rank", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.q_lora); }, number_said},
    {"kv-lora-rank", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.kv_lora); }, count_of_the_model},
    {"qk-head-dim", "qk-nope-head-dim", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.qk_nope); },
     count_of_the_model},
    {"qk-pos-emb-head-dim", "qk-rope-head-dim", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.qk_rope); },
     count_of_the_model},
    {"v-head-dim", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.v_dim); }, count_of_the_model},
    {"experimental-attention-variant", "linear-attention-type",
     [](const ParallelPlan& p) { return is_sparse(p) ? Written("dsa") : written_if(has_delta(p.model), "gated_delta_net"); },
     [](const Value& v, Draft&) {
       if (v.text() != "dsa" && v.text() != "gated_delta_net")
         v.lost("layers of other kinds; the plan's are all of one", "expect times to differ");
     }},
    {"dsa-indexer-n-heads", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.indexer.heads); }, count_of_the_model},
    {"dsa-indexer-head-dim", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.indexer.width); }, count_of_the_model},
    {"dsa-indexer-topk", "", [](const ParallelPlan& p) { return latent_size(p, p.model.attention.indexer.topk); }, count_of_the_model},
    {"dsa-indexer-loss-coeff", "", [](const ParallelPlan& p) { return written_if(is_sparse(p), "0.001"); }, number_of_the_model},
    {"dsa-indexer-use-sparse-loss", "", [](const ParallelPlan& p) { return written_flag(is_sparse(p)); }, flag_said},
    {"linear-attention-freq", "", [](const ParallelPlan& p) { return written_if(has_delta(p.model), delta_text(p.model)); }, runs_said},
    {"linear-conv-kernel-dim", "", [](const ParallelPlan& p) { return delta_size<&LinearForm::convolution>(p); }, count_of_the_model},
    {"linear-key-head-dim", "", [](const ParallelPlan& p) { return delta_size<&LinearForm::key>(p); }, count_of_the_model},
    {"linear-value-head-dim", "", [](const ParallelPlan& p) { return delta_size<&LinearForm::value>(p); }, count_of_the_model},
    {"linear-num-key-heads", "", [](const ParallelPlan& p) { return delta_size<&LinearForm::groups>(p); }, count_of_the_model},
    {"linear-num-value-heads", "", [](const ParallelPlan& p) { return delta_size<&LinearForm::heads>(p); }, count_of_the_model},
    {"attention-output-gate", "", [](const ParallelPlan& p) { return written_flag(p.model.attention_gate); }, flag_said},
    {"hybrid-override-pattern", "hybrid-layer-pattern",
     [](const ParallelPlan& p) { return written_if(is_hybrid(p.model), letters_of_layers(p.model)); }, of_the_model},
    {"hybrid-attention-ratio", "", nullptr, number_of_the_model},
    {"hybrid-mlp-ratio", "", nullptr, number_of_the_model},
    {"is-hybrid-model", "", [](const ParallelPlan& p) { return written_flag(is_hybrid(p.model)); }, flag_said},
    {"spec", "", [](const ParallelPlan& p) { return written_if(is_hybrid(p.model), std::string(kStackOfHybrids)); }, read_spec},
    {"mamba-d-conv", "", nullptr, count_of_the_model},  // MindSpeed, and its other names of these sizes
    {"mamba-chunk-size", "", nullptr, count_of_the_model},
    {"mamba-expand", "", nullptr, count_of_the_model},
    {"mamba-state-dim", "mamba-d-state", [](const ParallelPlan& p) { return mamba_size<&LinearForm::key>(p); }, count_of_the_model},
    {"mamba-head-dim", "mamba-headdim", [](const ParallelPlan& p) { return mamba_size<&LinearForm::value>(p); }, count_of_the_model},
    {"mamba-num-groups", "mamba-ngroups", [](const ParallelPlan& p) { return mamba_size<&LinearForm::groups>(p); }, count_of_the_model},
    {"mamba-num-heads", "", [](const ParallelPlan& p) { return mamba_size<&LinearForm::heads>(p); }, count_of_the_model},
    {"num-experts", "num-moe-experts",
     [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written(e.experts); }); },
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
     number_said},
    {"moe-num-experts", "", nullptr,  // MegaBlocks: with the four below
     [](const Value& v, Draft& d) {
       v.count();
       d.said["num-experts"] = v.text();
     }},
    {"moe-top-k", "", nullptr, count_of_the_model},
    {"moe-capacity-factor", "", nullptr, number_of_the_model},
    {"moe-loss-weight", "", nullptr, number_of_the_model},
    {"moe-expert-model-parallelism", "", nullptr, flag_said},
    {"expert-interval", "", nullptr, count_of_the_model},             // Megatron-DeepSpeed
    {"moe-train-capacity-factor", "", nullptr, number_of_the_model},  // Megatron-DeepSpeed
    {"disable-moe-token-dropping", "", nullptr, flag_said},        // Megatron-DeepSpeed
    {"first-k-dense-replace", "", nullptr, number_said},             // MindSpeed
    {"n-shared-experts", "", nullptr, number_said},                  // MindSpeed
    {"norm-topk-prob", "", nullptr, flag_said},                    // MindSpeed
    {"apply-layernorm-rms", "", nullptr, flag_said},               // FlagScale
    {"embed-layernorm", "", nullptr, flag_said},                   // Megatron-DeepSpeed
    {"moe-layer-freq", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [&](const ExpertForm& e) { return written_if(!is_expert_everywhere(e), expert_layers(p)); });
     },
     runs_said},
    {"moe-shared-expert-gate", "",
     [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written_flag(e.shared_gate); }); }, flag_said},
    {"moe-router-score-function", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return Written(std::string(sim::at(kRouterScoreNames, e.score))); });
     },
     [](const Value& v, Draft&) { v.choice(kRouterScoreNames); }},
    {"moe-router-pre-softmax", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_flag(e.score == RouterScore::Softmax && !e.renormalised); });
     },
     flag_said},
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
     [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written_flag(e.score_correction); }); },
     flag_said},
    {"moe-router-load-balancing-type", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return Written(e.balance_loss > 0 ? "aux_loss" : "none"); });
     },
     of_the_model},
    {"moe-aux-loss-coeff", "moe-loss-coeff",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_if(e.balance_loss > 0, fmt::format("{}", e.balance_loss)); });
     },
     number_said},
    {"moe-expert-capacity-factor", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_if(e.is_limited(), fmt::format("{}", e.capacity_factor)); });
     },
     number_said},
    {"moe-pad-expert-input-to-capacity", "",
     [](const ParallelPlan& p) {
       return of_experts(p, [](const ExpertForm& e) { return written_flag(e.is_limited() && e.dispatch == ExpertDispatch::Padded); });
     },
     flag_said},
    {"moe-router-force-load-balancing", "",
     [](const ParallelPlan& p) { return of_experts(p, [](const ExpertForm& e) { return written_flag(e.forced_balance); }); }, flag_said},
    {"moe-grouped-gemm", "", [](const ParallelPlan& p) { return written_flag(p.model.experts.has_value()); }, flag_said},
    {"moe-token-dispatcher-type", "",
     [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), std::string(dispatcher_of(p))); }, read_dispatcher},
    {"moe-flex-dispatcher-backend", "moe-enable-deepep", [](const ParallelPlan& p) { return written_if(is_flexible(p), "deepep"); },
     word_said<kFlexBackends>},  // how a node is reached once; a word of its own only with the dispatcher above
    {"max-position-embeddings", "", [](const ParallelPlan& p) { return written(std::max(p.model.max_positions, p.workload.sequence)); },
     count_of_the_model},
    {"position-embedding-type", "", [](const ParallelPlan& p) { return Written(position_text(p)); }, of_the_model},
    {"use-rotary-position-embeddings", "", nullptr, flag_said},
    {"rotary-base", "",
     [](const ParallelPlan& p) { return written_if(p.model.position == Position::Rotary, fmt::format("{:.0f}", p.model.rope_theta)); },
     number_said},
    {"rotary-percent", "",
     [](const ParallelPlan& p) { return written_if(p.model.rotary_share != 1, fmt::format("{}", p.model.rotary_share)); },
     number_of_the_model},
    {"qk-layernorm", "",  // of latent attention: the norms of its latent vectors, which all have
     [](const ParallelPlan& p) { return written_flag(p.model.qk_norm == QkNorm::Heads || has_latent(p)); }, flag_said},
    {"softmax-type", "", [](const ParallelPlan& p) { return written_if(p.model.sinks, "learnable"); }, read_softmax},
    {"window-size", "", [](const ParallelPlan& p) { return written_if(p.model.window > 0, fmt::format("{},0", p.model.window - 1)); },
     of_the_model},
    {"window-attn-skip-freq", "", [](const ParallelPlan& p) { return written_if(!p.model.windowed.empty(), windows_text(p)); },
     runs_said},
    {"rope-type", "", [](const ParallelPlan& p) { return written_if(has_latent(p), is_yarn_of_megatron(p.model) ? "yarn" : "rope"); },
     word_said<kRopeTypes>},
    {"rotary-scaling-factor", "", [](const ParallelPlan& p) { return of_yarn(p, p.model.rope_scaling.factor); }, number_of_the_model},
    {"mscale", "", [](const ParallelPlan& p) { return of_yarn(p, p.model.rope_scaling.mscale); }, number_of_the_model},
    {"mscale-all-dim", "", [](const ParallelPlan& p) { return of_yarn(p, p.model.rope_scaling.mscale_all_dim); }, number_of_the_model},
    {"use-rope-scaling", "", [](const ParallelPlan& p) { return written_flag(is_stretched(p)); },
     [](const Value& v, Draft&) { v.note("positions are scaled", "time and memory are the same; give --model to keep them"); }},
    {"rope-scaling-factor", "",
     [](const ParallelPlan& p) { return written_if(is_stretched(p), fmt::format("{}", p.model.rope_scaling.factor)); }, number_said},
    {"normalization", "", [](const ParallelPlan& p) { return Written(p.model.norm == Norm::RmsNorm ? "RMSNorm" : "LayerNorm"); },
     of_the_model},
    {"norm-epsilon", "layernorm-epsilon", [](const ParallelPlan& p) { return written_number(p.model.norm_epsilon); }, number_said},
    {"init-method-std", "", [](const ParallelPlan& p) { return written_number(p.model.initializer_range); }, number_said},
    {"apply-layernorm-1p", "", [](const ParallelPlan& p) { return written_flag(p.model.offset_norm); }, flag_said},
    {"swiglu", "",
     [](const ParallelPlan& p) {
       return written_flag(p.model.gated_mlp && p.model.activation == Activation::Silu && !has_gpt_oss_gate(p));
     },
     flag_said},
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
    {"squared-relu", "", [](const ParallelPlan& p) { return written_flag(is_squared(p)); }, flag_said},
    {"disable-bias-linear", "", [](const ParallelPlan& p) { return written_flag(!has_biases(p)); }, flag_said},
    {"add-qkv-bias", "", [](const ParallelPlan& p) { return written_flag(p.model.attention_bias && !has_biases(p)); }, flag_said},
    {"untie-embeddings-and-output-weights", "", [](const ParallelPlan& p) { return written_flag(!p.model.tied_embeddings); }, flag_said},
    {"attention-dropout", "", [](const ParallelPlan& p) { return written_number(p.model.attention_dropout); }, number_of_the_model},
    {"hidden-dropout", "", [](const ParallelPlan& p) { return written_number(p.model.residual_dropout); }, number_of_the_model},
    {"transformer-impl", "", nullptr,
     [](const Value& v, Draft&) {
       if (v.text() == "local")
         v.lost("local: kernels of Megatron-Core itself; beside attention the plan has those of the software profile",
                "mind time and memory");
     }},
    {"attention-backend", "", [](const ParallelPlan& p) { return attention_backend(p.attention); }, only_said},
    {"use-flash-attn", "use-flash-attn-v1 use-flash-attn-v2 use-flash-attn-triton use-flash-attn-builder", nullptr, note_kernel},
    {"no-masked-softmax-fusion", "", nullptr, flag_said},
    {"masked-softmax-fusion", "", nullptr, flag_said},
    {"vocab-size", "", model_size<&ModelConfig::vocabulary>, count_of_the_model},
    {"padded-vocab-size", "pad-vocab-size-to", nullptr, count_of_the_model},
};

}  // namespace

std::span<const Field> megatron_network_fields() { return kNetworkRows; }

}  // namespace sim
