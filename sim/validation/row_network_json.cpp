// Block `workload` of a row -> ModelConfig.
#include <algorithm>

#include "sim/clock/kernel_setting.h"
#include "sim/units/json_reader.h"
#include "sim/validation/known_networks.h"
#include "sim/validation/row_blocks.h"

namespace sim {
namespace {

constexpr std::string_view kKinds[] = {"decoder", "encoder", "cnn", "decoder_layer", "encoder_decoder"};
constexpr std::size_t kEncoder = 1, kConvolutional = 2, kLayer = 3, kPair = 4;
constexpr std::string_view kBesideConfig[] = {"model", "kind", "seq_len", "effective_seq_len", "config"};
constexpr std::string_view kActivations[] = {"gelu", "squared_relu", "swiglu", "geglu"};
constexpr std::string_view kNorms[] = {"layernorm", "rmsnorm"};
constexpr std::string_view kPositions[] = {"learned", "rope", "alibi"};
constexpr Position kPosition[] = {Position::Learned, Position::Rotary, Position::Alibi};
constexpr std::string_view kAttentionKinds[] = {"full", "mla", "sliding"};
constexpr AttentionKind kAttention[] = {AttentionKind::Full, AttentionKind::Latent, AttentionKind::Sliding};

AttentionForm read_attention(const JsonReader& reader) {
  AttentionForm form;
  form.kind = kAttention[reader.choice("kind", kAttentionKinds, 0)];
  form.window = reader.integer("window", 4096);
  form.every = reader.integer("every", 1, {1, 1e4});
  form.q_lora = reader.integer("q_lora", 0);
  form.kv_lora = reader.integer("kv_lora", 512);
  form.qk_nope = reader.integer("qk_nope", 128);
  form.qk_rope = reader.integer("qk_rope", 64);
  form.v_dim = reader.integer("v_dim", 128);
  return form;
}

// No row says more of networks with sinks: those that are published under training (gpt-oss) clamp their gates and stretch their positions (config.json).
void take_sinks_with(ModelConfig& model) {
  model.gate_limit = 7;
  model.rope_scaling = {.kind = RopeScalingKind::Yarn, .factor = 32, .original_positions = 4096};
}

void take_attention(const AttentionForm& form, ModelConfig& model) {
  if (form.kind == AttentionKind::Sliding) {
    model.window = form.window;
    for (std::int64_t block = 0; form.every > 1 && block < model.layers; ++block) model.windowed.push_back(block % form.every == 0);
  }
  if (form.kind != AttentionKind::Latent) return;
  model.attention = form;  // its narrow vectors have norms in any case
  model.qk_norm = QkNorm::None;
  model.kv_heads = model.heads;
  model.head_dim = (form.key_width() + form.v_dim) / 2;
}

ExpertForm read_experts(const JsonReader& reader, std::int64_t ffn) {
  ExpertForm form;
  form.experts = reader.integer("experts", {}, {1, 1e5});
  form.shared_experts = reader.integer("shared_experts", 0);
  form.topk = reader.integer("topk", 2, {1, 1e4});
  form.expert_ffn = reader.integer("expert_ffn", ffn, {1, 1e9});
  form.shared_ffn = reader.integer("shared_ffn", form.shared_experts * form.expert_ffn);
  form.first_dense_layers = reader.integer("first_dense_layers", 0);
  form.every = reader.integer("every", 1, {1, 1e4});
  form.capacity_factor = reader.number("capacity_factor", 0, {0, 1000});
  form.dispatch = static_cast<ExpertDispatch>(reader.choice("dispatch", kExpertDispatchNames, 0));
  form.forced_balance = reader.text("balance", "") == "forced";
  return form;
}

// Names of modules as Hugging Face and Megatron have them. A pair beside a joint product where that is all that is named.
constexpr struct {
  std::string_view module;
  AdapterTarget target;
} kModuleTargets[] = {{"q_proj", AdapterTarget::Query},     {"k_proj", AdapterTarget::Key},         {"v_proj", AdapterTarget::Value},
                      {"linear_qkv", AdapterTarget::Joint}, {"c_attn", AdapterTarget::Joint},       {"o_proj", AdapterTarget::Output},
                      {"c_proj", AdapterTarget::Output},    {"linear_proj", AdapterTarget::Output}, {"gate_proj", AdapterTarget::Gate},
                      {"up_proj", AdapterTarget::Up},       {"linear_fc1", AdapterTarget::Wide},    {"c_fc", AdapterTarget::Up},
                      {"down_proj", AdapterTarget::Down},   {"linear_fc2", AdapterTarget::Down}};

Adapters adapters_on(const std::vector<std::string>& modules, bool joint) {
  Adapters found;
  for (const auto& [module, target] : kModuleTargets)
    if (std::ranges::find(modules, module) != modules.end()) found = found.on(target);
  constexpr auto kJoint = 1U << static_cast<std::uint32_t>(AdapterTarget::Joint);
  if (!found.has(AdapterTarget::Query) || !found.has(AdapterTarget::Joint)) return found;
  // A list that fits two families: GPT-2's learned positions go with one product of queries, keys and values.
  found.targets &= joint ? kJoint : ~kJoint;
  return found;
}

std::vector<std::string> read_modules(const JsonReader& lora, const ModelConfig& model) {
  constexpr std::string_view kTargets[] = {"attention", "all"};
  const bool is_all = lora.choice("targets", kTargets, 0) == 1;
  std::vector<std::string> modules;
  for (const JsonReader& one : lora.children("modules"))
    if (one.json().is_string())
      modules.push_back(one.json().get<std::string>());
    else
      one.violate("", "is no text", "name a linear layer, like q_proj");
  if (!modules.empty()) return modules;
  modules = {"q_proj", "k_proj", "v_proj", "o_proj"};
  if (is_all) modules.insert(modules.end(), {"up_proj", "down_proj"});
  if (is_all && model.gated_mlp) modules.emplace_back("gate_proj");
  return modules;
}

Adapters read_adapters(const JsonReader& lora, const ModelConfig& model) {
  Adapters adapters = adapters_on(read_modules(lora, model), model.position == Position::Learned);
  adapters.rank = lora.integer("rank", 16, {1, 1e6});
  const std::string base = lora.text("base_precision", "bf16");
  for (std::size_t at = 1; at < std::size(kBaseFormatNames); ++at)
    if (base == kBaseFormatNames[at]) adapters.base = static_cast<BaseFormat>(at);
  return adapters;
}

void read_shape(const FieldReader& at, ModelConfig& model) {
  model.layers = at.required("layers");
  model.hidden = at.required("hidden");
  model.heads = at.size("heads", std::max<std::int64_t>(1, model.hidden / 128));
  model.kv_heads = at.size("kv_heads", model.heads);
  model.head_dim = at.size("head_dim", std::max<std::int64_t>(1, model.hidden / model.heads));
  model.ffn = at.size("ffn", 4 * model.hidden);
  model.vocabulary = (at.size("vocab", 51200) + 127) / 128 * 128;
  model.max_positions = at.required("seq_len");
}

void read_habits(const FieldReader& at, ModelConfig& model) {
  const std::size_t activation = at.choice("activation", kActivations, 0);
  model.gated_mlp = activation >= 2;
  model.model_type = model.gated_mlp ? "llama" : "gpt2";
  model.activation = model.gated_mlp ? Activation::Silu : Activation::Gelu;
  model.norm = at.choice("norm", kNorms, 0) == 1 ? Norm::RmsNorm : Norm::LayerNorm;
  model.position = kPosition[at.choice("position", kPositions, 0)];
  model.tied_embeddings = at.flag("tied_embeddings", true);
  model.attention_bias = model.projection_bias = model.mlp_bias = at.flag("bias", model.norm == Norm::LayerNorm);
  model.qk_norm = at.reader().boolean("qk_norm", false) ? QkNorm::Heads : QkNorm::None;
}

// A network that the row's shapes cannot say is said by its config.json: hybrids of linear attention, pairs of an encoder and a decoder.
RowNetwork network_of_config(const FieldReader& at) {
  RowNetwork network;
  for (const std::string& key : at.reader().keys())
    if (std::ranges::find(kBesideConfig, key) == std::end(kBesideConfig) && at.has(key))
      at.reader().violate(key, "stands beside config, which says the whole network", "say it there");
  network.model = model_config_from_json(at.reader().json()["config"], "workload.config");
  network.sequence = at.number("effective_seq_len", real(at.required("seq_len")));
  return network;
}

// BERT's (Devlin et al. 2018): post-norm, types of tokens beside positions, a transform in front of the head.
void make_encoder(ModelConfig& model) {
  model.model_type = "bert";
  model.bidirectional = model.embedding_norm = model.head_transform = model.head_bias = true;
  model.norm_place = NormPlace::AfterSum;
  model.final_norm = false;
  model.token_types = 2;
}

}  // namespace

RowNetwork read_network(const FieldReader& at) {
  const std::size_t kind = at.reader().choice("kind", kKinds);
  const bool has_config = at.reader().has("config");
  if (has_config && (kind == kLayer || kind == kConvolutional))
    at.reader().violate("kind", "is of a layer or of maps, and config says a decoder or an encoder",
                        "use decoder, encoder or encoder_decoder");
  if (has_config) return network_of_config(at);
  RowNetwork network;
  if (kind == kPair) at.reader().violate("config", "is missing, and no shape says a pair of stacks", "give the network's config.json");
  if (kind == kConvolutional) {
    const std::vector<std::int64_t> image = at.reader().integers("image");
    const ImageShape shape = image.size() == 3 ? ImageShape{image[0], std::max(image[1], image[2])} : ImageShape{};
    network.model = known_network(at.reader().text("architecture"), shape);
    if (network.model.model_type.empty()) at.reader().violate("architecture", "is of no known shape", "leave the row out");
    return network;
  }
  ModelConfig& model = network.model;
  read_shape(at, model);
  network.sequence = at.number("effective_seq_len", real(model.max_positions));
  network.timed = kind == kLayer ? Timed::Layer : Timed::Step;
  read_habits(at, model);
  if (kind == kEncoder) make_encoder(model);
  if (at.reader().has("attention")) {
    const JsonReader attention = at.reader().child("attention");
    model.sinks = attention.boolean("sinks", false);
    if (model.sinks) take_sinks_with(model);
    take_attention(read_attention(attention), model);
  }
  if (at.reader().has("moe")) {
    model.experts = read_experts(at.reader().child("moe"), model.ffn);
    model.experts->biases = model.mlp_bias;
    const auto& form = *model.experts;
    if (form.first_dense_layers == 0 && form.every == 1 && form.shared_experts == 0)
      model.mlp_bias = false;  // there is no other feed-forward
  }
  model.mtp_layers = at.reader().integer("mtp_layers", 0, {0, 16});
  if (at.reader().has("lora")) model.adapters = read_adapters(at.reader().child("lora"), model);
  return network;
}

}  // namespace sim
