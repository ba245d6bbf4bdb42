#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/model/model_words.h"
#include "sim/recipe/network.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

constexpr std::string_view kFamilies[] = {"gpt2",      "llama",      "qwen2",        "mistral",         "mixtral",     "qwen3",
                                          "qwen3_moe", "qwen2_moe",  "olmoe",        "deepseek_v3",     "deepseek_v2", "glm4_moe",
                                          "gpt_oss",   "starcoder2", "gpt_neox",     "bloom",           "nemotron",    "nemotron_h",
                                          "mamba2",    "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"};

enum class Weight : std::uint8_t { Other, Word, Structure };
struct NetworkField {
  std::string_view name;  // as Hugging Face's
  Weight weight;
  std::string (*text)(const ModelConfig&);
};
template <auto field>
std::string number_text(const ModelConfig& model) {
  return fmt::format("{}", model.*field);
}
template <auto field>
std::string expert_text(const ModelConfig& model) {
  return model.experts ? fmt::format("{}", (*model.experts).*field) : "none";
}
template <auto field>
std::string latent_text(const ModelConfig& model) {
  return model.attention.kind == AttentionKind::Latent ? fmt::format("{}", model.attention.*field) : "none";
}
template <auto field>
std::string index_text(const ModelConfig& model) {
  return fmt::format("{}", model.attention.indexer.*field);
}
std::string activation_text(const ModelConfig& model) {
  constexpr std::string_view kNames[] = {"gelu", "gelu", "silu", "relu", "relu2"};  // two ways of one gelu
  return fmt::format("{}{}", model.gated_mlp ? "gated " : "", sim::at(kNames, model.activation));
}

std::string words_text(const ModelConfig& model) {
  std::vector<std::string_view> words;
  for (const ModelWord& word : model_words())
    if (word.stands_in(model)) words.push_back(word.name);
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ", "));
}

std::string expert_layers_text(const ModelConfig& model) {
  std::string text;
  for (std::int64_t layer = 0; model.experts && layer < std::min<std::int64_t>(model.layers, 10'000); ++layer)
    text += model.experts->has_experts(layer) ? '1' : '0';
  return text;
}

// A letter a layer, as nemotron_h's config.json has them.
std::string mixers_text(const ModelConfig& model) {
  std::string text;
  for (std::int64_t layer = 0; layer < std::min<std::int64_t>(model.layers, 10'000); ++layer)
    text += half_of(model, layer) == BlockHalf::FeedForward ? '-' : is_linear(model, layer) ? 'M' : '*';
  return model.linear || !model.halves.empty() ? text : "none";
}
std::string linear_text(const ModelConfig& model) {
  if (!model.linear) return "none";
  const LinearForm& form = *model.linear;
  return fmt::format("{} heads of {}, {} of {}, {} taps, chunks of {}", form.heads, form.value, form.groups, form.key, form.convolution,
                     form.chunk);
}

constexpr NetworkField kNetworkFields[] = {
    {"words beyond the plain block", Weight::Word, words_text},
    {"num_hidden_layers", Weight::Structure, number_text<&ModelConfig::layers>},
    {"encoder_layers", Weight::Structure, [](const ModelConfig& m) { return fmt::format("{}", m.encoder ? m.encoder->layers : 0); }},
    {"hidden_size", Weight::Structure, number_text<&ModelConfig::hidden>},
    {"num_attention_heads", Weight::Structure, number_text<&ModelConfig::heads>},
    {"num_key_value_heads", Weight::Structure, number_text<&ModelConfig::kv_heads>},
    {"head_dim", Weight::Structure, number_text<&ModelConfig::head_dim>},
    {"intermediate_size", Weight::Structure, number_text<&ModelConfig::ffn>},
    {"vocab_size", Weight::Structure, number_text<&ModelConfig::vocabulary>},
    {"layers without attention", Weight::Structure, mixers_text},
    {"linear attention", Weight::Structure, linear_text},
    {"sliding_window", Weight::Word, number_text<&ModelConfig::window>},
    {"layer_types", Weight::Word, [](const ModelConfig& m) { return fmt::format("{}", fmt::join(m.windowed, "")); }},
    {"partial_rotary_factor", Weight::Word, number_text<&ModelConfig::rotary_share>},
    {"swiglu_limit", Weight::Word, number_text<&ModelConfig::gate_limit>},
    {"norm", Weight::Structure, [](const ModelConfig& m) { return std::string(m.norm == Norm::RmsNorm ? "RMSNorm" : "LayerNorm"); }},
    {"positions", Weight::Structure,
     [](const ModelConfig& m) {
       constexpr std::string_view kNames[] = {"learned", "rotary", "alibi", "none"};
       return std::string(sim::at(kNames, m.position));
     }},
    {"activation", Weight::Structure, activation_text},
    {"attention_bias", Weight::Structure, number_text<&ModelConfig::attention_bias>},
    {"projection_bias", Weight::Structure, number_text<&ModelConfig::projection_bias>},
    {"mlp_bias", Weight::Structure, number_text<&ModelConfig::mlp_bias>},
    {"tie_word_embeddings", Weight::Structure, number_text<&ModelConfig::tied_embeddings>},
    {"kv_lora_rank", Weight::Structure, latent_text<&AttentionForm::kv_lora>},
    {"q_lora_rank", Weight::Structure, latent_text<&AttentionForm::q_lora>},
    {"qk_nope_head_dim", Weight::Structure, latent_text<&AttentionForm::qk_nope>},
    {"qk_rope_head_dim", Weight::Structure, latent_text<&AttentionForm::qk_rope>},
    {"v_head_dim", Weight::Structure, latent_text<&AttentionForm::v_dim>},
    {"index_n_heads", Weight::Structure, index_text<&Indexer::heads>},
    {"index_head_dim", Weight::Structure, index_text<&Indexer::width>},
    {"index_topk", Weight::Structure, index_text<&Indexer::topk>},
    {"num_experts", Weight::Structure, expert_text<&ExpertForm::experts>},
    {"num_experts_per_tok", Weight::Structure, expert_text<&ExpertForm::topk>},
    {"moe_intermediate_size", Weight::Structure, expert_text<&ExpertForm::expert_ffn>},
    {"shared_expert_intermediate_size", Weight::Structure, expert_text<&ExpertForm::shared_ffn>},
    {"layers with experts", Weight::Structure, expert_layers_text},
    {"expert_capacity_factor", Weight::Other, expert_text<&ExpertForm::capacity_factor>},
    {"expert_balance_forced", Weight::Other, expert_text<&ExpertForm::forced_balance>},
    {"scoring_func", Weight::Other,
     [](const ModelConfig& m) { return std::to_string(m.experts ? static_cast<int>(m.experts->score) : -1); }},
    {"norm_topk_prob", Weight::Other, expert_text<&ExpertForm::renormalised>},
    {"routed_scaling_factor", Weight::Other, expert_text<&ExpertForm::scaling>},
    {"router_aux_loss_coef", Weight::Other, expert_text<&ExpertForm::balance_loss>},
    {"max_position_embeddings", Weight::Other, number_text<&ModelConfig::max_positions>},
    {"norm_eps", Weight::Other, number_text<&ModelConfig::norm_epsilon>},
    {"rope_theta", Weight::Other, number_text<&ModelConfig::rope_theta>},
    {"initializer_range", Weight::Other, number_text<&ModelConfig::initializer_range>},
    {"embd_pdrop", Weight::Other, number_text<&ModelConfig::embedding_dropout>},
    {"resid_pdrop", Weight::Other, number_text<&ModelConfig::residual_dropout>},
    {"attn_pdrop", Weight::Other, number_text<&ModelConfig::attention_dropout>},
};

// Learned positions are weights; of rotary ones nothing depends on how many there are.
Weight weight_of(const NetworkField& field, const ModelConfig& model) {
  const bool are_weights = field.name == "max_position_embeddings" && model.position == Position::Learned;
  return are_weights ? Weight::Structure : field.weight;
}

std::optional<SaidNetwork> said_by(std::string_view family, ModelConfig network) {
  network.model_type = family;
  try {
    SaidNetwork one{model_config_from_json(to_json(network), std::string(family)), {}};
    one.lost = network_differences(network, one.model);
    return one;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

bool is_size(const std::string& difference) {
  constexpr std::string_view kSizes[] = {"num_",   "hidden_",        "intermediate_",   "head_", "vocab_",
                                         "moe_",   "kv_lora",        "q_lora",          "qk_",   "v_head",
                                         "index_", "layers without", "linear attention"};
  return std::any_of(std::begin(kSizes), std::end(kSizes), [&](std::string_view size) { return difference.starts_with(size); });
}
bool has_sizes_wrong(const NetworkDifferences& lost) { return std::any_of(lost.structure.begin(), lost.structure.end(), is_size); }
std::size_t weight_of(const NetworkDifferences& lost) {
  return (has_sizes_wrong(lost) ? 10'000 : 0) + 100 * (lost.structure.size() + lost.words.size()) + lost.others.size();
}

void tell(Draft& draft, const NetworkDifferences& lost) {
  std::vector<std::string> unsaid = lost.structure;
  unsaid.insert(unsaid.end(), lost.words.begin(), lost.words.end());
  if (!unsaid.empty())
    draft.lost.push_back({"network", fmt::format("no config.json that plans hold says all of it: {}", fmt::join(unsaid, "; ")),
                          "mind that the plan's network is the second of each"});
  std::vector<std::string> dropouts = lost.others, rest;
  std::erase_if(dropouts, [](const std::string& one) { return one.find("pdrop") == std::string::npos; });
  std::erase_if(rest = lost.others, [](const std::string& one) { return one.find("pdrop") != std::string::npos; });
  if (!dropouts.empty())
    draft.lost.push_back({"dropout", fmt::format("{}: masks that the plan's network does not keep", fmt::join(dropouts, "; ")),
                          "mind the memory of activations"});
  if (!rest.empty()) draft.notes.push_back({"network", fmt::format("{}", fmt::join(rest, "; ")), "time and memory are the same"});
}

// What a script's code decides is GPT-2's where nobody gives the network. "": the file says all of it.
void doubt_network_of_code(Draft& draft, const RecipeContext& context) {
  const std::string script = text_of(draft, std::string(kNetworkOfCode), "");
  if (script.empty() || context.model) return;
  draft.unknown.push_back({"--model", script + ": taken as GPT-2's", "give --model, or Megatron-LM's options for it"});
}

}  // namespace

NetworkDifferences network_differences(const ModelConfig& in_file, const ModelConfig& in_model) {
  NetworkDifferences found;
  for (const NetworkField& field : kNetworkFields) {
    const std::string here = field.text(in_file), there = field.text(in_model);
    if (here == there) continue;
    const Weight weight = weight_of(field, in_file);
    (weight == Weight::Structure ? found.structure
     : weight == Weight::Word    ? found.words
                                 : found.others)
        .push_back(fmt::format("{} is {}, {} in the model", field.name, here, there));
  }
  return found;
}

std::vector<NetworkChange> network_changes(const ModelConfig& before, const ModelConfig& now) {
  std::vector<NetworkChange> changes;
  for (const NetworkField& field : kNetworkFields)
    if (const std::string was = field.text(before), is = field.text(now); was != is) changes.push_back({std::string(field.name), was, is});
  return changes;
}

SaidNetwork as_a_family_says_it(const ModelConfig& network) {
  std::optional<SaidNetwork> best = network.model_type.empty() ? std::nullopt : said_by(network.model_type, network);
  for (const std::string_view family : kFamilies) {
    if (best && weight_of(best->lost) == 0) break;
    if (std::optional<SaidNetwork> one = said_by(family, network); one && (!best || weight_of(one->lost) < weight_of(best->lost)))
      best = std::move(one);
  }
  return best ? *best : SaidNetwork{};
}

// A script's own code makes the network of --model, and the text says a window or a norm that this one lacks.
void tell_words_of_text(Draft& draft, const std::vector<std::string>& words) {
  for (const std::string& one : words)
    if (one.find(" is none,") == std::string::npos && one.find(" is 0,") == std::string::npos)
      draft.lost.push_back({"network", one + ": the plan has that of the model", "see which of them its code makes"});
}

void settle_network(Draft& draft, const std::optional<ModelConfig>& in_file, const RecipeContext& context) {
  if (!in_file && !context.model) {
    std::ranges::copy_if(draft.unknown, std::back_inserter(draft.wrong),
                         [](const Violation& one) { return one.where.starts_with("model"); });
    return draft.wrong.push_back(
        {"--model", "is not given, and the file names no network", "give the config.json of the network that this trains"});
  }
  if (!in_file) return static_cast<void>(draft.plan.model = *context.model);
  doubt_network_of_code(draft, context);
  ModelConfig network = *in_file;
  if (network.vocabulary == 0) network.vocabulary = context.model ? context.model->vocabulary : context.vocabulary;
  if (network.vocabulary == 0 && draft.gpt2_vocabulary > 0) {
    network.vocabulary = draft.gpt2_vocabulary;
    draft.notes.push_back({"--vocabulary", fmt::format("is the tokenizer's: taken as the {} of GPT-2's files", network.vocabulary),
                           "give --vocabulary for others"});
  }
  if (network.vocabulary == 0)
    return draft.wrong.push_back(
        {"--vocabulary", "is not in the file: it is the tokenizer's", "give --vocabulary, its number of tokens, or --model"});
  if (context.model) {
    const bool is_of_code = draft.said.contains(std::string(kNetworkOfCode));
    const NetworkDifferences differences = network_differences(network, *context.model);
    for (const std::string& one : differences.structure)
      if (!is_of_code || is_size(one))
        draft.wrong.push_back({"--model", "trains another network: " + one, "give the config.json of the network that this trains"});
    if (!draft.wrong.empty()) return;
    if (is_of_code) {
      tell_words_of_text(draft, differences.words);
      return static_cast<void>(draft.plan.model = *context.model);
    }
    network.model_type = context.model->model_type;
    network.activation = context.model->activation;
    network.rope_scaling = context.model->rope_scaling;
  }
  const std::optional<SaidNetwork> given = context.model ? said_by(network.model_type, network) : std::nullopt;
  const SaidNetwork said = given ? *given : as_a_family_says_it(network);
  if (said.model.layers == 0)
    return draft.wrong.push_back({"--model", "no network can have the sizes that stand in the file", "correct them"});
  if (has_sizes_wrong(said.lost))
    return draft.wrong.push_back(
        {"--model", fmt::format("no plan can hold this network: {}", fmt::join(said.lost.structure, "; ")), "give a --model close to it"});
  tell(draft, said.lost);
  draft.plan.model = said.model;
}

}  // namespace sim
