// The network that arguments of Megatron-LM describe, with the defaults of its release: dropout 0.1, biases everywhere, tied embeddings, experts that
// renormalise the scores of those chosen.
#include "sim/recipe/megatron_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/recipe/block_pattern.h"
#include "sim/recipe/megatron_hybrid.h"

namespace sim {
namespace {

constexpr std::int64_t kVocabularyOfGpt2 = 50'257;

std::string word_of(const Draft& draft, const std::string& key, std::string otherwise) {
  const std::string* const text = said(draft, key);
  if (text != nullptr) return *text;
  return otherwise;
}

// Which blocks are without experts: the first few, and others.
void read_dense_blocks(Draft& draft, std::int64_t layers, ExpertForm& form) {
  const std::vector<int> pattern =
      pattern_of(draft, "moe-layer-freq", layers, [](BlockOfMany one) { return one.block % one.every == 0 ? 1 : 0; });
  const auto first = std::find(pattern.begin(), pattern.end(), 1);
  form.first_dense_layers = std::distance(pattern.begin(), first);
  for (auto block = first; block != pattern.end(); ++block)
    if (*block == 0) form.dense_layers.push_back(std::distance(pattern.begin(), block));
}

// "127,0" or "(127, 0)": positions before a query's own, and none behind it. -1: all.
void read_window(Draft& draft, ModelConfig& model) {
  std::string text = text_of(draft, "window-size", "-1");
  text.erase(0, text.find_first_not_of("([ "));
  std::int64_t before = -1;
  if (std::from_chars(text.data(), text.data() + text.size(), before).ec != std::errc())
    draft.unknown.push_back(
        {"window-size", fmt::format("{} begins with no number: no window is taken from it", shown(text)), "give 127,0"});
  if (before < 0) return;
  model.window = before + 1;
  if (said(draft, "window-attn-skip-freq") == nullptr) return;
  const std::vector<int> pattern = pattern_of(draft, "window-attn-skip-freq", model.layers, [](BlockOfMany one) {
    return (one.block + 1) % one.every == 0 ? 0 : 1;  // every so many blocks, one sees all
  });
  model.windowed.assign(pattern.begin(), pattern.end());
  const auto windows = std::ranges::count(model.windowed, true);
  if (windows == 0) model.window = 0;
  if (windows == 0 || windows == model.layers) model.windowed.clear();
}

// MegaBlocks (its Megatron-LM, megatron/arguments.py): one expert for each token, which is sent to it; a capacity of 0 drops nothing.
void take_words_of_megablocks(Draft& draft) {
  if (draft.plan.token_dispatcher == TokenDispatcher::AsTheProgram) draft.plan.token_dispatcher = TokenDispatcher::AllToAll;
  draft.said["moe-router-topk"] = text_of(draft, "moe-top-k", "1");
  draft.said["moe-expert-capacity-factor"] = text_of(draft, "moe-capacity-factor", "1");
  draft.said["moe-aux-loss-coeff"] = text_of(draft, "moe-loss-weight", "0.1");
}

// MindSpeed: every so many, counted from the first block of all, behind those without experts.
std::string blocks_with_experts(const Draft& draft, std::int64_t first, std::int64_t layers) {
  const std::string often = text_of(draft, "moe-layer-freq", "1");
  const bool is_number = !often.empty() && often.size() < 7 && often.find_first_not_of("0123456789") == std::string::npos;
  const std::int64_t every = is_number ? std::max(1, std::stoi(often)) : 1;
  if (every == 1) return fmt::format("([0]*{}+[1]*{})", first, layers - first);
  std::string blocks;
  for (std::int64_t block = 0; block < layers; ++block)
    blocks += fmt::format("{}{}", block == 0 ? "[" : ",", block >= first && block % every == 0 ? 1 : 0);
  return blocks + "]";
}

// What others say of experts, in Megatron-LM's words. Megatron-DeepSpeed (megatron/arguments.py): in every second block, one for each token, which is
// sent to it, and tokens beyond their capacity are dropped. MindSpeed: the first blocks have none.
void take_words_of_others(Draft& draft, std::int64_t layers) {
  const std::int64_t first = size_said(draft, "first-k-dense-replace", 0);
  if (said(draft, "moe-num-experts") != nullptr) take_words_of_megablocks(draft);
  if (first > 0 && first < layers) draft.said["moe-layer-freq"] = blocks_with_experts(draft, first, layers);
  if (text_of(draft, "moe-layer-freq", "") == "-1") draft.said["moe-layer-freq"] = "1";  // block % -1 is 0: MindSpeed's word for all
  constexpr std::string_view kOfDeepSpeed[] = {"deepspeed", "deepspeed-config", "expert-interval", "moe-train-capacity-factor"};
  if (std::ranges::none_of(kOfDeepSpeed, [&](std::string_view key) { return draft.said.contains(std::string(key)); })) return;
  if (draft.plan.token_dispatcher == TokenDispatcher::AsTheProgram) draft.plan.token_dispatcher = TokenDispatcher::AllToAll;
  draft.said.try_emplace("moe-router-topk", "1");
  const std::int64_t every = std::max<std::int64_t>(1, size_said(draft, "expert-interval", 2));
  std::string blocks;
  for (std::int64_t block = 1; block <= layers; ++block) blocks += fmt::format("{}{}", block == 1 ? "[" : ",", block % every == 0 ? 1 : 0);
  draft.said.try_emplace("moe-layer-freq", blocks + "]");
  if (said(draft, "disable-moe-token-dropping") == nullptr)
    draft.said.try_emplace("moe-expert-capacity-factor", word_of(draft, "moe-train-capacity-factor", "1"));
}

ExpertForm experts_of(Draft& draft, const ModelConfig& model) {
  take_words_of_others(draft, model.layers);
  ExpertForm form;
  form.experts = size_said(draft, "num-experts", 0);
  form.topk = size_said(draft, "moe-router-topk", 2);
  form.expert_ffn = size_said(draft, "moe-ffn-hidden-size", model.ffn);
  form.shared_ffn = size_said(draft, "moe-shared-expert-intermediate-size", size_said(draft, "n-shared-experts", 0) * form.expert_ffn);
  form.shared_experts = form.shared_ffn > 0 && form.expert_ffn > 0 && form.shared_ffn % form.expert_ffn == 0
                            ? form.shared_ffn / form.expert_ffn
                        : form.shared_ffn > 0 ? 1
                                              : 0;
  read_dense_blocks(draft, model.layers, form);
  form.shared_gate = said(draft, "moe-shared-expert-gate") != nullptr;
  form.biases = model.mlp_bias;
  form.capacity_factor = std::max(0.0, number_of(draft, "moe-expert-capacity-factor", 0));
  if (form.capacity_factor > 0)
    form.dispatch = said(draft, "moe-pad-expert-input-to-capacity") != nullptr ? ExpertDispatch::Padded : ExpertDispatch::Drop;
  form.forced_balance = said(draft, "moe-router-force-load-balancing") != nullptr;
  form.score = word_of(draft, "moe-router-score-function", "softmax") == "sigmoid" ? RouterScore::Sigmoid : RouterScore::Softmax;
  form.renormalised = form.score == RouterScore::Sigmoid
                          ? form.topk > 1
                          : said(draft, "moe-router-pre-softmax") == nullptr || said(draft, "norm-topk-prob") != nullptr;
  form.scaling = number_of(draft, "moe-router-topk-scaling-factor", 1);
  form.groups = size_said(draft, "moe-router-num-groups", 1);
  form.group_topk = size_said(draft, "moe-router-group-topk", 1);
  form.score_correction = said(draft, "moe-router-enable-expert-bias") != nullptr;
  if (word_of(draft, "moe-router-load-balancing-type", "aux_loss").find("aux_loss") != std::string::npos)
    form.balance_loss = number_of(draft, "moe-aux-loss-coeff", 0);
  return form;
}

RopeScaling yarn_of_megatron() { return {.kind = RopeScalingKind::Yarn, .original_positions = 4096}; }

// Its loss of all pairs, or none, takes another time than that of chosen tokens.
void read_indexer(Draft& draft, AttentionForm& form) {
  if (word_of(draft, "experimental-attention-variant", "") != "dsa") return;
  form.indexer = {.heads = size_said(draft, "dsa-indexer-n-heads", 0),
                  .width = size_said(draft, "dsa-indexer-head-dim", 0),
                  .topk = size_said(draft, "dsa-indexer-topk", 0)};
  if (number_of(draft, "dsa-indexer-loss-coeff", 0) == 0)
    draft.lost.push_back(
        {"dsa-indexer-loss-coeff", "is 0: nothing trains the indexer, and the plan trains it", "its backward, a few percent"});
  else if (said(draft, "dsa-indexer-use-sparse-loss") == nullptr)
    draft.lost.push_back({"dsa-indexer-use-sparse-loss", "is not said: the loss is of all pairs, the plan's of chosen tokens",
                          "the indexer's backward, which grows with the square of the sequence"});
}

void read_latent(Draft& draft, ModelConfig& model) {
  AttentionForm& form = model.attention;
  form.kind = AttentionKind::Latent;
  form.q_lora = size_said(draft, "q-lora-rank", 0);
  form.kv_lora = size_said(draft, "kv-lora-rank", 32);
  form.qk_nope = size_said(draft, "qk-head-dim", 128);
  form.qk_rope = size_said(draft, "qk-pos-emb-head-dim", 64);
  form.v_dim = size_said(draft, "v-head-dim", 128);
  read_indexer(draft, form);
  model.kv_heads = model.heads;
  model.head_dim = (form.key_width() + form.v_dim) / 2;
  const double factor = number_of(draft, "rotary-scaling-factor", 1);
  if (word_of(draft, "rope-type", "yarn") != "yarn" || factor == 1) return;
  model.rope_scaling = yarn_of_megatron();
  model.rope_scaling.factor = factor;
  model.rope_scaling.mscale = number_of(draft, "mscale", 1);
  model.rope_scaling.mscale_all_dim = number_of(draft, "mscale-all-dim", 0);
}

void read_form(Draft& draft, ModelConfig& model) {
  const bool is_quick = said(draft, "quick-geglu") != nullptr, is_gated = said(draft, "swiglu") != nullptr || is_quick;
  const bool is_squared = said(draft, "squared-relu") != nullptr;
  if (is_gated && is_squared) draft.wrong.push_back({"squared-relu", "stands beside a gated feed-forward", "leave one out"});
  const std::string norm = word_of(draft, "normalization", "LayerNorm");
  const bool is_of_flagscale = said(draft, "apply-layernorm-rms") != nullptr;
  const bool is_rms = norm == "RMSNorm" || norm == "rmsnorm" || is_of_flagscale;  // the second is Megatron-DeepSpeed's
  if (!is_rms && !has_name("LayerNorm layernorm layernorm1p", norm))
    draft.lost.push_back(
        {"normalization", fmt::format("'{}': taken as LayerNorm", norm), "give --model, if its time or weights are others"});
  model.norm = is_rms ? Norm::RmsNorm : Norm::LayerNorm;
  const std::string position = text_of(draft, "position-embedding-type", "learned_absolute");
  const bool is_scaled = position == "yarn" || position == "mrope";
  const bool is_rotary = position == "rope" || is_scaled || said(draft, "use-rotary-position-embeddings") != nullptr;
  model.position = is_rotary             ? Position::Rotary
                   : position == "alibi" ? Position::Alibi
                   : position == "none"  ? Position::None
                                         : Position::Learned;
  model.embedding_norm = said(draft, "embed-layernorm") != nullptr;
  if (is_scaled)
    draft.notes.push_back(
        {"position-embedding-type", position + ": taken as rope", "time and memory are the same; give --model to keep it"});
  if (model.position == Position::Learned && position != "learned_absolute")
    draft.lost.push_back(
        {"position-embedding-type", fmt::format("'{}': taken as learned", position), "weights of positions, and a little time"});
  model.gated_mlp = is_gated;
  model.activation = is_gated ? Activation::Silu : is_squared ? Activation::SquaredRelu : Activation::GeluTanh;
  model.attention_gate = said(draft, "attention-output-gate") != nullptr;
  if (is_quick) model.gate_limit = number_of(draft, "activation-func-clamp-value", 0);
  model.sinks = word_of(draft, "softmax-type", "vanilla") == "learnable";
  model.offset_norm = said(draft, "apply-layernorm-1p") != nullptr;
  model.rotary_share = number_of(draft, "rotary-percent", 1);
  if (said(draft, "qk-layernorm") != nullptr && said(draft, "multi-latent-attention") == nullptr) model.qk_norm = QkNorm::Heads;
  read_window(draft, model);
  model.mlp_bias = model.projection_bias = said(draft, "disable-bias-linear") == nullptr;
  model.attention_bias = model.mlp_bias || said(draft, "add-qkv-bias") != nullptr;
  model.tied_embeddings = said(draft, "untie-embeddings-and-output-weights") == nullptr;
  model.norm_epsilon = number_of(draft, "norm-epsilon", 1e-5);
  model.rope_theta = number_of(draft, "rotary-base", 10'000);
  model.initializer_range = number_of(draft, "init-method-std", 0.02);
  model.residual_dropout = model.embedding_dropout = number_of(draft, "hidden-dropout", 0.1);
  model.attention_dropout = number_of(draft, "attention-dropout", 0.1);
}

// A gated feed-forward has two thirds of the usual width, rounded down to 64; FlagScale's --multiple-of: a share of that, rounded up.
std::int64_t usual_width(const Draft& draft, const ModelConfig& model) {
  const bool is_gated = said(draft, "swiglu") != nullptr || said(draft, "quick-geglu") != nullptr;
  if (!is_gated) return 4 * model.hidden;
  const std::int64_t width = 4 * model.hidden * 2 / 3, multiple = size_said(draft, "multiple-of", 0);
  if (multiple == 0) return width / 64 * 64;
  const double share = std::clamp(number_of(draft, "hidden-dim-multiplier", 1), 0.0, 1e3);
  return (static_cast<std::int64_t>(static_cast<double>(width) * share) + multiple - 1) / multiple * multiple;
}

// Megatron-LM's NullTokenizer has an end of documents beside them (megatron/core/tokenizers: _NullTokenizer.vocab_size).
std::int64_t tokens_said(const Draft& draft, std::int64_t otherwise) {
  const std::int64_t said_tokens = size_said(draft, "vocab-size", 0);
  return said_tokens == 0 ? otherwise : said_tokens + (word_of(draft, "tokenizer-type", "") == "NullTokenizer" ? 1 : 0);
}

void read_sizes(Draft& draft, ModelConfig& model) {
  model.ffn = size_said(draft, "ffn-hidden-size", usual_width(draft, model));
  model.head_dim = size_said(draft, "kv-channels", model.heads > 0 ? model.hidden / model.heads : 0);
  model.kv_heads = said(draft, "group-query-attention") != nullptr ? size_said(draft, "num-query-groups", 1) : model.heads;
  if (said(draft, "group-query-attention") == nullptr && size_said(draft, "num-query-groups", 1) > 1)
    draft.notes.push_back(
        {"num-query-groups", "is obeyed with --group-query-attention alone, which is missing", "add it, if groups are meant"});
  model.max_positions = size_said(draft, "max-position-embeddings", size_said(draft, "seq-length", 0));
  model.vocabulary = tokens_said(draft, 0);
  if (model.vocabulary == 0 && word_of(draft, "tokenizer-type", "GPT2BPETokenizer") == "GPT2BPETokenizer" &&
      said(draft, "merge-file") != nullptr)
    draft.gpt2_vocabulary = kVocabularyOfGpt2;
}

// Some sizes alone: the model given beside them has the others.
ModelConfig partial(Draft& draft, const ModelConfig& model) {
  ModelConfig network = model;
  network.layers = size_said(draft, "num-layers", model.layers);
  network.hidden = size_said(draft, "hidden-size", model.hidden);
  network.heads = size_said(draft, "num-attention-heads", model.heads);
  network.kv_heads = size_said(draft, "num-query-groups", model.kv_heads);
  network.ffn = size_said(draft, "ffn-hidden-size", model.ffn);
  network.vocabulary = tokens_said(draft, model.vocabulary);
  return network;
}

}  // namespace

bool is_yarn_of_megatron(const ModelConfig& model) {
  const RopeScaling& own = model.rope_scaling;
  RopeScaling there = yarn_of_megatron();
  there.factor = own.factor, there.mscale = own.mscale, there.mscale_all_dim = own.mscale_all_dim;
  return model.attention.kind == AttentionKind::Latent && own == there;
}

std::optional<ModelConfig> megatron_network(Draft& draft, const RecipeContext& context) {
  if (const std::string* const folder = said(draft, "init-from-hf-path")) {  // MindSpeed-LLM's train_fsdp2.py builds what the folder says
    draft.notes.push_back({"init-from-hf-path",
                           shown(*folder) + ": the network of the plan is the one of --model; sizes of the line are not read",
                           "see that it is the same"});
    return std::nullopt;
  }
  const std::string letters = letters_of_hybrid(draft);
  ModelConfig model;
  model.layers = size_said(draft, "num-layers", std::ssize(letters));
  model.hidden = size_said(draft, "hidden-size", 0);
  model.heads = size_said(draft, "num-attention-heads", 0);
  if (model.layers == 0 || model.hidden == 0 || model.heads == 0) {
    if (!letters.empty() && context.model) compare_letters(letters, *context.model, draft);
    return context.model ? std::optional(partial(draft, *context.model)) : std::nullopt;
  }
  read_sizes(draft, model);
  read_form(draft, model);
  if (said(draft, "multi-latent-attention") != nullptr) read_latent(draft, model);
  if (said(draft, "num-experts") != nullptr && size_said(draft, "num-experts", 0) > 1) model.experts = experts_of(draft, model);
  if (!letters.empty()) read_hybrid(letters, draft, model);
  if (letters.empty()) read_delta(draft, context, model);
  const bool has_dense = !model.experts || model.experts->first_dense_layers > 0 || !model.experts->dense_layers.empty();
  model.mlp_bias = model.mlp_bias && has_dense;
  if (model.vocabulary == 0 && !context.model) model.vocabulary = size_said(draft, "padded-vocab-size", 0);
  return model;
}

}  // namespace sim
