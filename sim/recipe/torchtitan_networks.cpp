// Networks of torchtitan 0.3.0 in sizes that are no flavor of its registry: its own builders, one kind of network a row.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/model/model_words.h"
#include "sim/recipe/torchtitan.h"
#include "sim/units/at.h"

namespace sim {
namespace {

constexpr std::string_view kLlamaLayers = R"(    layers = []
    for _ in range(sizes["n_layers"]):
        layers.append(Llama3TransformerBlock.Config(
            attention_norm=norm(sizes["dim"]), ffn_norm=norm(sizes["dim"]),
            attention=make_gqa_config(dim=sizes["dim"], n_heads=sizes["n_heads"], n_kv_heads=sizes["n_kv_heads"], head_dim=sizes["head_dim"],
                                      wqkv_param_init=weights, wo_param_init=weights, inner_attention=get_attention_config("flex"),
                                      fuse_qkv=True, rope=rope),
            feed_forward=make_ffn_config(dim=sizes["dim"], hidden_dim=sizes["hidden_dim"], w1_param_init=weights, w2w3_param_init=weights)))
)";

constexpr std::string_view kQwenExperts = R"(

def feed_forward(sizes, weights):
    if "num_experts" not in sizes:
        return dict(feed_forward=make_ffn_config(dim=sizes["dim"], hidden_dim=sizes["hidden_dim"], w1_param_init=weights,
                                                 w2w3_param_init=weights))
    experts = {"w1_EFD": weights["weight"], "w2_EDF": weights["weight"], "w3_EFD": weights["weight"]}
    router = make_router_config(dim=sizes["dim"], num_experts=sizes["num_experts"], gate_param_init=weights, top_k=sizes["top_k"],
                                score_func=sizes["score_func"], route_norm=sizes["route_norm"])
    routed = make_routed_experts_config(dim=sizes["dim"], hidden_dim=sizes["moe_hidden_dim"], num_experts=sizes["num_experts"],
                                        top_k=sizes["top_k"], param_init=experts, comm_backend="standard")
    return dict(moe=make_moe_config(num_experts=sizes["num_experts"], router=router, routed_experts=routed))
)";
constexpr std::string_view kQwenLayers = R"(    layers = []
    for _ in range(sizes["n_layers"]):
        layers.append(Qwen3TransformerBlock.Config(
            attention_norm=norm(sizes["dim"]), ffn_norm=norm(sizes["dim"]),
            attention=make_gqa_config(dim=sizes["dim"], n_heads=sizes["n_heads"], n_kv_heads=sizes["n_kv_heads"], head_dim=sizes["head_dim"],
                                      wqkv_param_init=weights, wo_param_init=weights, inner_attention=get_attention_config("flex"),
                                      fuse_qkv=True, rope=rope, qk_norm=norm(sizes["head_dim"])),
            **feed_forward(sizes, weights)))
)";

constexpr std::string_view kDeepSeekLayers =
    R"(    experts = {"w1_EFD": weights["weight"], "w2_EDF": weights["weight"], "w3_EFD": weights["weight"]}
    layers = build_mla_moe_layers(
        n_layers=sizes["n_layers"], n_dense_layers=sizes["n_dense_layers"], dim=sizes["dim"], n_heads=sizes["n_heads"],
        q_lora_rank=sizes["q_lora_rank"], kv_lora_rank=sizes["kv_lora_rank"], qk_nope_head_dim=sizes["qk_nope_head_dim"],
        qk_rope_head_dim=sizes["head_dim"], v_head_dim=sizes["v_head_dim"], mscale=sizes["mscale"], dense_hidden_dim=sizes["hidden_dim"],
        moe_hidden_dim=sizes["moe_hidden_dim"], num_experts=sizes["num_experts"], num_shared_experts=sizes["num_shared_experts"],
        router_top_k=sizes["top_k"], router_score_func=sizes["score_func"], router_num_expert_groups=sizes.get("num_expert_groups"),
        router_num_limited_groups=sizes.get("num_limited_groups"), router_route_scale=sizes["route_scale"],
        router_route_norm=sizes["route_norm"], attn_backend="flex", moe_comm_backend="standard", non_blocking_capacity_factor=None,
        linear_init=weights, norm_init={"weight": nn.init.ones_}, depth_init=lambda layer: weights,
        depth_experts_init=lambda layer: experts, rope=rope)
)";

constexpr std::string_view kGptOssLayers = R"(    layers = _build_gptoss_layers(
        dim=sizes["dim"], n_layers=sizes["n_layers"], hidden_dim=sizes["moe_hidden_dim"], num_experts=sizes["num_experts"],
        top_k=sizes["top_k"], load_balance_coeff=1e-3, moe_comm_backend="standard", rope=rope)
)";

constexpr std::string_view kLlamaParts =
    R"(from torchtitan.models.common.config_utils import get_attention_config, make_ffn_config, make_gqa_config
from torchtitan.models.llama3.model import Llama3TransformerBlock
)";
constexpr std::string_view kQwenParts =
    R"(from torchtitan.models.common.config_utils import (get_attention_config, make_ffn_config, make_gqa_config, make_moe_config,
                                                   make_routed_experts_config, make_router_config)
from torchtitan.models.qwen3.model import Qwen3TransformerBlock
)";
constexpr std::string_view kDeepSeekParts = "from torchtitan.models.deepseek_v3 import build_mla_moe_layers\n";
constexpr std::string_view kGptOssParts = "from torchtitan.models.gpt_oss import _build_gptoss_layers\n";

constexpr TorchtitanKind kLlama{"llama3", "llama3_8b", "ComplexRoPE", "Llama3Model", kLlamaParts, "", kLlamaLayers, ""};
constexpr TorchtitanKind kQwen{"qwen3", "qwen3_14b", "CosSinRoPE", "Qwen3Model", kQwenParts, kQwenExperts, kQwenLayers, "qk_norm"};
constexpr TorchtitanKind kDeepSeek{"deepseek_v3", "deepseek_v3_671b", "ComplexRoPE", "DeepSeekV3Model", kDeepSeekParts, "", kDeepSeekLayers,
                                   "groups"};
constexpr TorchtitanKind kGptOss{
    "gpt_oss", "gpt_oss_20b", "CosSinRoPE", "GptOssModel", kGptOssParts, "", kGptOssLayers, "window sinks gate_limit expert_biases"};

// What the builder of gpt-oss has as constants.
bool is_gpt_oss(const ModelConfig& model) {
  std::vector<bool> every_other;
  for (std::int64_t block = 0; block < model.layers; ++block) every_other.push_back(block % 2 == 0);
  return model.experts && model.experts->biases && model.experts->shared_ffn == 0 && model.heads == 64 && model.kv_heads == 8 &&
         model.head_dim == 64 && model.window == 128 && (model.windowed == every_other || model.layers == 1) && model.gate_limit == 7;
}

void refuse_experts(const ExpertForm& form, const TorchtitanKind& kind, Judgement& judgement) {
  const bool is_latent = &kind == &kDeepSeek, has_ahead = form.first_dense_layers > 0 && !is_latent;
  judgement.refuse(form.every > 1 || !form.dense_layers.empty() || has_ahead, "/model/mlp_only_layers",
                   fmt::format("which layers have experts is not written for {}", kind.name), "export to Megatron-LM");
  judgement.refuse(form.is_limited(), "/model/expert_capacity_factor", "experts take all their tokens there", "leave the capacity out");
  judgement.refuse(!is_latent && form.shared_ffn > 0, "/model/n_shared_experts", "has shared experts, which is not written",
                   "export to Megatron-LM");
  judgement.refuse(is_latent && (form.shared_experts < 1 || form.shared_ffn != form.shared_experts * form.expert_ffn),
                   "/model/n_shared_experts", "shared experts have the routed ones' width there, and there is one at least",
                   "export to Megatron-LM");
  judgement.refuse(!is_latent && form.scaling != 1, "/model/routed_scaling_factor", "is not written", "export to Megatron-LM");
  judgement.note(form.balance_loss > 0 || !form.score_correction, "/model/router_aux_loss_coef",
                 "experts are balanced by a summand of their scores there", "nothing to do");
}

void refuse_positions(const ModelConfig& model, const TorchtitanKind& kind, Judgement& judgement) {
  const RopeScaling& rope = model.rope_scaling;
  const bool can_llama = kind.rope == "ComplexRoPE" && &kind != &kDeepSeek;
  const bool is_said =
      rope.kind == RopeScalingKind::None || rope.kind == RopeScalingKind::Yarn || (rope.kind == RopeScalingKind::Llama3 && can_llama);
  judgement.refuse(!is_said, "/model/rope_scaling",
                   fmt::format("{} has no setting for {}", kind.name, sim::at(kRopeScalingNames, rope.kind)), "export to another program");
  const bool is_scaled = rope.attention_factor != 0 || rope.mscale != rope.mscale_all_dim;
  judgement.note(rope.kind == RopeScalingKind::Yarn && is_scaled, "/model/rope_scaling", "the attention factor is the method's own there",
                 "nothing to do");
}

std::int64_t count_of(const Draft& draft, const std::string& key, std::int64_t otherwise = 0) {
  return static_cast<std::int64_t>(std::clamp(number_of(draft, key, static_cast<double>(otherwise)), 0.0, 1e15));
}

ExpertForm experts_of(const Draft& draft, std::string_view kind) {
  ExpertForm form;
  form.experts = count_of(draft, "network.num_experts");
  form.topk = count_of(draft, "network.top_k", 1);
  form.expert_ffn = count_of(draft, "network.moe_hidden_dim");
  form.score = text_of(draft, "network.score_func", "softmax") == "sigmoid" ? RouterScore::Sigmoid : RouterScore::Softmax;
  form.renormalised = text_of(draft, "network.route_norm", "false") == "true";
  form.scaling = number_of(draft, "network.route_scale", 1);
  form.shared_experts = count_of(draft, "network.num_shared_experts");
  form.shared_ffn = form.shared_experts * form.expert_ffn;
  form.first_dense_layers = count_of(draft, "network.n_dense_layers");
  form.groups = count_of(draft, "network.num_expert_groups", 1);
  form.group_topk = count_of(draft, "network.num_limited_groups", 1);
  form.score_correction = form.score == RouterScore::Sigmoid;
  form.biases = kind == "gpt_oss";
  return form;
}

RopeScaling rope_of(const Draft& draft) {
  const std::string kind = text_of(draft, "rope.scaling", "none");
  if (kind == "llama")
    return {.kind = RopeScalingKind::Llama3,
            .factor = number_of(draft, "rope.scaling_factor", 8),
            .original_positions = count_of(draft, "rope.original_max_position_embeddings", 8192),
            .low_frequency = number_of(draft, "rope.low_freq_factor", 1),
            .high_frequency = number_of(draft, "rope.high_freq_factor", 4)};
  if (kind != "yarn") return {};
  const double mscale = number_of(draft, "network.mscale", 0);
  return {.kind = RopeScalingKind::Yarn,
          .factor = number_of(draft, "rope.rope_factor", 1),
          .original_positions = count_of(draft, "rope.original_seq_len", 4096),
          .beta_fast = number_of(draft, "rope.beta_fast", 32),
          .beta_slow = number_of(draft, "rope.beta_slow", 1),
          .mscale = mscale,
          .mscale_all_dim = mscale,
          .truncate = text_of(draft, "rope.truncate", "true") == "true"};
}

void read_latent(const Draft& draft, ModelConfig& model) {
  AttentionForm& form = model.attention;
  form.kind = AttentionKind::Latent;
  form.q_lora = count_of(draft, "network.q_lora_rank");
  form.kv_lora = count_of(draft, "network.kv_lora_rank");
  form.qk_nope = count_of(draft, "network.qk_nope_head_dim");
  form.qk_rope = count_of(draft, "network.head_dim");
  form.v_dim = count_of(draft, "network.v_head_dim");
  model.kv_heads = model.heads;
  model.head_dim = (form.key_width() + form.v_dim) / 2;
}

void read_gpt_oss(ModelConfig& model) {
  model.attention_bias = model.projection_bias = model.sinks = true;
  model.window = 128;
  model.gate_limit = 7;
  for (std::int64_t block = 0; block < model.layers; ++block) model.windowed.push_back(block % 2 == 0);
}

ModelConfig block_of_llama(const Draft& draft) {
  ModelConfig model;
  model.model_type = "llama";
  model.layers = std::min<std::int64_t>(count_of(draft, "network.n_layers"), 10'000);
  model.hidden = count_of(draft, "network.dim");
  model.heads = count_of(draft, "network.n_heads");
  model.kv_heads = count_of(draft, "network.n_kv_heads");
  model.head_dim = count_of(draft, "network.head_dim");
  model.ffn = count_of(draft, "network.hidden_dim");
  model.vocabulary = count_of(draft, "network.vocab_size");
  model.max_positions = std::max<std::int64_t>(1, count_of(draft, "network.max_seq_len", 131'072));
  model.norm = Norm::RmsNorm;
  model.norm_epsilon = std::max(1e-30, number_of(draft, "network.eps", 1e-5));
  model.position = Position::Rotary;
  model.activation = Activation::Silu;
  model.gated_mlp = true;
  model.rope_theta = std::max(1e-30, number_of(draft, "network.theta", 500'000));
  model.rope_scaling = rope_of(draft);
  model.tied_embeddings = text_of(draft, "network.tied", "false") == "true";
  model.initializer_range = number_of(draft, "network.std", 0.02);
  return model;
}

}  // namespace

const TorchtitanKind& torchtitan_kind(const ModelConfig& model) {
  if (model.attention.kind == AttentionKind::Latent) return kDeepSeek;
  return model.sinks ? kGptOss : model.qk_norm == QkNorm::Heads ? kQwen : kLlama;
}

std::string network_imports(const TorchtitanKind& kind) {
  return fmt::format(
      "from torchtitan.models.common import {}, Embedding, Linear, RMSNorm\nfrom torchtitan.models.common.param_init import "
      "skip_param_init\n"
      "{}from torchtitan.models.{}.config_registry import {}\nfrom torchtitan.models.{}.model import {}\n"
      "from torchtitan.trainer import Trainer\n",
      kind.rope, kind.parts, kind.name, kind.function, kind.name, kind.model);
}

std::string network_builder(const TorchtitanKind& kind) {
  std::string text(kind.helpers);
  text += R"(

def network(sizes):
    norm = lambda width: RMSNorm.Config(normalized_shape=width, eps=sizes["eps"], param_init={"weight": nn.init.ones_})
    weights = {"weight": partial(nn.init.trunc_normal_, std=sizes["std"]), "bias": nn.init.zeros_}
)";
  text += fmt::format("    rope = {}.Config(dim=sizes[\"head_dim\"], max_seq_len=sizes[\"max_seq_len\"], theta=sizes[\"theta\"], **ROPE)\n",
                      kind.rope);
  text += kind.layers;
  text += R"(    embedding = Embedding.Config(num_embeddings=sizes["vocab_size"], embedding_dim=sizes["dim"],
                                 param_init={"weight": skip_param_init} if sizes["tied"] else weights)
    head = Linear.Config(in_features=sizes["dim"], out_features=sizes["vocab_size"], param_init=weights)
)";
  return text + fmt::format(
                    "    return {}.Config(dim=sizes[\"dim\"], vocab_size=sizes[\"vocab_size\"], tok_embeddings=embedding, "
                    "norm=norm(sizes[\"dim\"]),\n"
                    "                     lm_head=head, layers=layers, enable_weight_tying=sizes[\"tied\"])\n",
                    kind.model);
}

void refuse_other_networks(const ModelConfig& model, Judgement& judgement) {
  const TorchtitanKind& kind = torchtitan_kind(model);
  const bool is_biased = &kind == &kGptOss, needs_experts = is_biased || &kind == &kDeepSeek;
  const bool is_block = model.norm == Norm::RmsNorm && model.position == Position::Rotary && model.gated_mlp &&
                        model.activation == Activation::Silu && model.attention_bias == is_biased && model.projection_bias == is_biased &&
                        !model.mlp_bias && model.attention.kind != AttentionKind::Sliding;
  const bool has_its_experts = model.experts ? &kind != &kLlama : !needs_experts;
  judgement.refuse(!is_block || !has_its_experts, "/model",
                   fmt::format("{}: the recipe builds networks of the kinds of Llama 3, Qwen 3, DeepSeek-V3 and gpt-oss", model.model_type),
                   "export to Megatron-LM, DeepSpeed or Accelerate");
  judgement.refuse(is_biased && !is_gpt_oss(model), "/model", "heads, windows and gates of gpt-oss are constants there",
                   "export to Megatron-LM");
  for (const ModelWord& word : model_words())
    judgement.refuse(word.stands_in(model) && !has_name(kind.words, word.name), "/model",
                     fmt::format("has {}, which is not written", word.what), "export to another program");
  if (model.experts) refuse_experts(*model.experts, kind, judgement);
  refuse_positions(model, kind, judgement);
  judgement.refuse(model.heads % std::max<std::int64_t>(1, model.kv_heads) != 0, "/model/num_key_value_heads",
                   "groups of heads are of one size there", "export to another program");
  judgement.note(needs_experts && model.norm_epsilon != 1e-5, "/model/rms_norm_eps", "norms of the blocks have 1e-5 there",
                 "nothing to do");
  judgement.note(model.attention_dropout > 0 || model.residual_dropout > 0, "/model/attention_dropout", "there is no dropout there",
                 "nothing to do");
}

std::optional<ModelConfig> network_of_sizes(const Draft& draft) {
  if (count_of(draft, "network.n_layers") < 1 || count_of(draft, "network.vocab_size") < 1) return std::nullopt;
  const std::string kind = text_of(draft, "network.kind", "llama3");
  ModelConfig model = block_of_llama(draft);
  if (draft.said.contains("network.num_experts")) model.experts = experts_of(draft, kind);
  if (kind == kDeepSeek.name) read_latent(draft, model);
  if (kind == kGptOss.name) read_gpt_oss(model);
  if (kind == kQwen.name) model.qk_norm = QkNorm::Heads;
  const bool is_v3 = model.experts && model.experts->score == RouterScore::Sigmoid;
  model.model_type = kind == kDeepSeek.name ? (is_v3 ? "deepseek_v3" : "deepseek_v2")
                     : kind == kGptOss.name ? "gpt_oss"
                     : kind == kQwen.name   ? (model.experts ? "qwen3_moe" : "qwen3")
                                            : "llama";
  return model;
}

}  // namespace sim
