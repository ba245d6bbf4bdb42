// Facts: fairseq/models/{transformer/transformer_legacy,transformer/transformer_config,transformer_lm,transformer_align,bart/model,roberta/model}.py
// (facebookresearch/fairseq, 0.12.2). A stack is said by the family of Hugging Face that has its blocks.
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accounting.h"
#include "sim/recipe/fairseq_network.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

enum class Kind : std::uint8_t { Lm, Gpt3, Sines, Bart, Roberta };  // Gpt3: learned positions, one embedding for both ends

struct Architecture {
  std::string_view name;
  std::int64_t layers, hidden, ffn, heads;
  double dropout, attention_dropout;
  Kind kind;
  std::string_view flags{};  // options that are on by themselves
};
constexpr std::string_view kNormsBefore = "encoder-normalize-before decoder-normalize-before";
constexpr Architecture kArchitectures[] = {
    {"transformer_lm", 6, 512, 2048, 8, 0.1, 0, Kind::Lm},
    {"transformer_lm_big", 12, 1024, 4096, 16, 0.1, 0, Kind::Lm},
    {"transformer_lm_gpt", 12, 768, 3072, 12, 0.1, 0.1, Kind::Lm},
    {"transformer_lm_gpt2_tiny", 2, 64, 64, 1, 0.1, 0.1, Kind::Lm},
    {"transformer_lm_gpt2_small", 24, 1024, 4096, 16, 0.1, 0.1, Kind::Lm},
    {"transformer_lm_gpt2_medium", 36, 1280, 5120, 20, 0.1, 0.1, Kind::Lm},
    {"transformer_lm_gpt2_big", 48, 1600, 6400, 25, 0.1, 0.1, Kind::Lm},
    {"transformer_lm_gpt2_big_wide", 24, 2048, 8192, 32, 0.1, 0.1, Kind::Lm},
    {"transformer_lm_gpt2_bigger", 48, 2048, 8192, 32, 0.1, 0.1, Kind::Lm},
    {"transformer_lm_gpt3_small", 12, 768, 3072, 12, 0, 0, Kind::Gpt3},
    {"transformer_lm_gpt3_medium", 24, 1024, 4096, 16, 0, 0, Kind::Gpt3},
    {"transformer_lm_gpt3_large", 24, 1536, 6144, 16, 0, 0, Kind::Gpt3},
    {"transformer_lm_gpt3_xl", 24, 2048, 8192, 32, 0, 0, Kind::Gpt3},
    {"transformer_lm_gpt3_2_7", 32, 2560, 10240, 32, 0, 0, Kind::Gpt3},
    {"transformer_lm_gpt3_6_7", 32, 4096, 16384, 32, 0, 0, Kind::Gpt3},
    {"transformer_lm_gpt3_13", 40, 5120, 20480, 40, 0, 0, Kind::Gpt3},
    {"transformer_lm_gpt3_175", 96, 12288, 49152, 96, 0, 0, Kind::Gpt3},
    {"transformer", 6, 512, 2048, 8, 0.1, 0, Kind::Sines},
    {"transformer_tiny", 2, 64, 64, 2, 0.1, 0, Kind::Sines},
    {"transformer_iwslt_de_en", 6, 512, 1024, 4, 0.1, 0, Kind::Sines},
    {"transformer_wmt_en_de", 6, 512, 2048, 8, 0.1, 0, Kind::Sines},
    {"transformer_vaswani_wmt_en_de_big", 6, 1024, 4096, 16, 0.3, 0, Kind::Sines},
    {"transformer_vaswani_wmt_en_fr_big", 6, 1024, 4096, 16, 0.1, 0, Kind::Sines},
    {"transformer_wmt_en_de_big", 6, 1024, 4096, 16, 0.3, 0.1, Kind::Sines},
    {"transformer_wmt_en_de_big_t2t", 6, 1024, 4096, 16, 0.3, 0.1, Kind::Sines, kNormsBefore},
    {"transformer_align", 6, 512, 2048, 8, 0.1, 0, Kind::Sines},
    {"transformer_wmt_en_de_big_align", 6, 1024, 4096, 16, 0.3, 0.1, Kind::Sines},
    {"bart_base", 6, 768, 3072, 12, 0.1, 0, Kind::Bart, "layernorm-embedding"},
    {"bart_large", 12, 1024, 4096, 16, 0.1, 0, Kind::Bart, "layernorm-embedding"},
    {"mbart_base", 6, 768, 3072, 12, 0.1, 0, Kind::Bart, "layernorm-embedding scale-embedding"},
    {"mbart_base_wmt20", 6, 768, 3072, 12, 0.1, 0, Kind::Bart, "scale-embedding"},
    {"mbart_large", 12, 1024, 4096, 16, 0.1, 0, Kind::Bart, "layernorm-embedding scale-embedding"},
    {"roberta", 12, 768, 3072, 12, 0.1, 0.1, Kind::Roberta, "layernorm-embedding"},
    {"roberta_base", 12, 768, 3072, 12, 0.1, 0.1, Kind::Roberta, "layernorm-embedding"},
    {"roberta_large", 24, 1024, 4096, 16, 0.1, 0.1, Kind::Roberta, "layernorm-embedding"},
    {"roberta_prenorm", 12, 768, 3072, 12, 0.1, 0.1, Kind::Roberta, "encoder-normalize-before"},
    {"xlm", 16, 1280, 5120, 16, 0.1, 0.1, Kind::Roberta, "layernorm-embedding"},
};
constexpr std::int64_t kUsualPositions = 1024, kPositionsOfRoberta = 512;
constexpr std::int64_t kAnyVocabulary = 8;  // a config.json has one: the dictionary's takes its place

const Architecture* architecture_of(std::string_view name) {
  const auto* const row = std::ranges::find(kArchitectures, name, &Architecture::name);
  return row == std::end(kArchitectures) ? nullptr : row;
}
bool is_paired(Kind kind) { return kind == Kind::Sines || kind == Kind::Bart; }

bool is_set(const Draft& draft, const Architecture& row, const std::string& flag) {
  return said(draft, flag) != nullptr || has_name(row.flags, flag);
}

struct Stack {
  std::int64_t layers, hidden, ffn, heads;
};
Stack stack_of(const Draft& draft, const std::string& side, Stack usual) {
  return {size_said(draft, side + "-layers", usual.layers), size_said(draft, side + "-embed-dim", usual.hidden),
          size_said(draft, side + "-ffn-embed-dim", usual.ffn), size_said(draft, side + "-attention-heads", usual.heads)};
}

std::string activation_of(Draft& draft, std::string_view usual) {
  const std::string name = text_of(draft, "activation-fn", std::string(usual));
  if (name != "relu" && !name.starts_with("gelu"))
    draft.wrong.push_back({"activation-fn", fmt::format("is {}: no plan has this block with it", name), "give a recipe with relu or gelu"});
  return name == "relu" ? "relu" : "gelu";
}

// Sums of norms before or behind, as one family has them: of both stacks the same.
bool has_norms_before(Draft& draft, const Architecture& row) {
  const bool of_encoder = is_set(draft, row, "encoder-normalize-before"), of_decoder = is_set(draft, row, "decoder-normalize-before");
  if (is_paired(row.kind) && of_encoder != of_decoder)
    draft.lost.push_back({of_encoder ? "encoder-normalize-before" : "decoder-normalize-before",
                          "stands without the other's: the plan's norms are before blocks in both stacks", "a little time"});
  return of_encoder || of_decoder;
}

std::optional<ModelConfig> from_family(Draft& draft, Json config) {
  config["vocab_size"] = kAnyVocabulary;
  try {
    ModelConfig model = model_config_from_json(config, "--arch");
    model.vocabulary = 0;
    return model;
  } catch (const InputError& error) {
    draft.wrong.insert(draft.wrong.end(), error.violations().begin(), error.violations().end());
    return std::nullopt;
  }
}

Json dropouts_of(const Draft& draft, const Architecture& row) {
  return {{"dropout", number_of(draft, "dropout", row.dropout)},
          {"attention_dropout", number_of(draft, "attention-dropout", row.attention_dropout)},
          {"activation_dropout", number_of(draft, "activation-dropout", has_name("transformer_wmt_en_de_big_t2t", row.name) ? 0.1 : 0)}};
}

// Which of the three tables of tokens are one: source, target, and the head's.
void tell_tables(Draft& draft, ModelConfig& model) {
  if (said(draft, "share-all-embeddings") != nullptr) return;
  model.tied_embeddings = false;
  const bool shares = said(draft, "share-decoder-input-output-embed") != nullptr;
  draft.lost.push_back(
      {"share-all-embeddings",
       shares ? "is not set: the source's table is apart, the target's is the head's; the plan's head is apart instead, which is as many"
              : "is not set: source, target and head have a table each; the plan has one for both, and the head's",
       shares ? "time and memory are the same but for two vocabularies" : "mind the memory of a table"});
}

std::string paired_family(bool is_before, bool is_bart) {
  if (is_bart) return is_before ? "mbart" : "bart";
  return is_before ? "pegasus" : "marian";
}

std::optional<ModelConfig> paired_network(Draft& draft, const Architecture& row) {
  const Stack encoder = stack_of(draft, "encoder", {row.layers, row.hidden, row.ffn, row.heads});
  const Stack decoder = stack_of(draft, "decoder", {row.layers, encoder.hidden, encoder.ffn, row.heads});
  if (decoder.hidden != encoder.hidden) {
    draft.wrong.push_back(
        {"decoder-embed-dim",
         fmt::format("is {}, and the encoder's is {}: no plan has stacks of different width", decoder.hidden, encoder.hidden),
         "give a recipe with one width"});
    return std::nullopt;
  }
  const bool is_bart = row.kind == Kind::Bart;
  for (const char* const side : {"encoder-learned-pos", "decoder-learned-pos"})
    if (!is_bart && said(draft, side) != nullptr)
      draft.lost.push_back({side, "is set: positions are weights there; the plan's are a table of sines", "mind their memory"});
  Json config = dropouts_of(draft, row);
  config["model_type"] = paired_family(has_norms_before(draft, row), is_bart);
  config["d_model"] = encoder.hidden;
  config["encoder_layers"] = encoder.layers, config["decoder_layers"] = decoder.layers;
  config["encoder_attention_heads"] = encoder.heads, config["decoder_attention_heads"] = decoder.heads;
  config["encoder_ffn_dim"] = encoder.ffn, config["decoder_ffn_dim"] = decoder.ffn;
  config["max_position_embeddings"] = size_said(draft, "max-source-positions", kUsualPositions);
  config["activation_function"] = activation_of(draft, is_bart ? "gelu" : "relu");
  config["scale_embedding"] = (!is_bart || has_name(row.flags, "scale-embedding")) && said(draft, "no-scale-embedding") == nullptr;
  std::optional<ModelConfig> model = from_family(draft, std::move(config));
  if (!model) return model;
  model->embedding_norm = is_set(draft, row, "layernorm-embedding");
  if (!is_bart) tell_tables(draft, *model);
  return model;
}

std::optional<ModelConfig> encoder_network(Draft& draft, const Architecture& row) {
  const Stack stack = stack_of(draft, "encoder", {row.layers, row.hidden, row.ffn, row.heads});
  constexpr std::int64_t kRowsInFront = 2;  // of padding and of what is behind it
  std::optional<ModelConfig> model =
      from_family(draft, {{"model_type", has_norms_before(draft, row) ? "roberta-prelayernorm" : "roberta"},
                          {"num_hidden_layers", stack.layers},
                          {"hidden_size", stack.hidden},
                          {"intermediate_size", stack.ffn},
                          {"num_attention_heads", stack.heads},
                          {"type_vocab_size", 1},
                          {"max_position_embeddings", size_said(draft, "max-positions", kPositionsOfRoberta) + kRowsInFront},
                          {"hidden_act", activation_of(draft, "gelu")},
                          {"hidden_dropout_prob", number_of(draft, "dropout", row.dropout)},
                          {"attention_probs_dropout_prob", number_of(draft, "attention-dropout", row.attention_dropout)}});
  if (!model) return model;
  model->token_types = 0;
  model->embedding_norm = is_set(draft, row, "layernorm-embedding");
  model->tied_embeddings = said(draft, "untie-weights-roberta") == nullptr;
  if (text_of(draft, "task", "masked_lm") == "masked_lm")
    draft.lost.push_back({"task", "masked_lm: its head reads the masked tokens alone, about 15 of 100; the plan's reads all",
                          "mind the head's time, and the memory of its logits"});
  return model;
}

std::optional<ModelConfig> language_model(Draft& draft, const Architecture& row) {
  const bool is_gpt3 = row.kind == Kind::Gpt3;
  ModelConfig model;
  model.model_type = "gpt2";
  model.layers = size_said(draft, "decoder-layers", row.layers);
  model.hidden = size_said(draft, "decoder-embed-dim", row.hidden);
  model.heads = model.kv_heads = size_said(draft, "decoder-attention-heads", row.heads);
  if (model.layers < 1 || model.hidden < 1 || model.heads < 1 || model.hidden % model.heads != 0) return std::nullopt;
  model.head_dim = model.hidden / model.heads;
  model.attention_bias = model.projection_bias = model.mlp_bias = true;
  model.ffn = size_said(draft, "decoder-ffn-embed-dim", is_gpt3 ? 4 * model.hidden : row.ffn);
  model.max_positions = size_said(draft, "max-target-positions", draft.sequence.value_or(kUsualPositions));
  model.tied_embeddings = is_gpt3 || said(draft, "share-decoder-input-output-embed") != nullptr;
  const bool is_relu = text_of(draft, "activation-fn", has_name("transformer_lm transformer_lm_big", row.name) ? "relu" : "gelu") == "relu";
  model.activation = is_relu ? Activation::Relu : Activation::Gelu;
  model.residual_dropout = model.embedding_dropout = number_of(draft, "dropout", row.dropout);
  model.attention_dropout = number_of(draft, "attention-dropout", row.attention_dropout);
  if (!is_gpt3 && said(draft, "decoder-learned-pos") == nullptr)
    draft.lost.push_back({"decoder-learned-pos", "is not set: positions are sines there; the plan's are weights", "mind their memory"});
  return model;
}

// The file does not say how long samples are: what is given, or the most that is read.
void settle_samples(Draft& draft, const RecipeContext& context, Kind kind) {
  if (draft.sequence) return;
  if (context.sequence > 0) return static_cast<void>(draft.sequence = context.sequence);
  const bool is_pair = is_paired(kind);
  draft.sequence =
      kind == Kind::Roberta ? size_said(draft, "max-positions", kPositionsOfRoberta)
      : is_pair ? size_said(draft, "max-source-positions", kUsualPositions) + size_said(draft, "max-target-positions", kUsualPositions)
                : kUsualPositions;
  draft.notes.push_back({kind == Kind::Roberta ? "max-positions"
                         : is_pair             ? "max-source-positions"
                                               : "tokens-per-sample",
                         fmt::format("{} tokens are the most that a sample has, and the plan takes all of them", *draft.sequence),
                         "give --sequence, if samples are shorter"});
}

void tell_stacks(Draft& draft) {
  draft.notes.push_back({"--sequence", "holds a source with its target; --max-tokens counts the longer one of them",
                         "give a plan's source_tokens (--source-tokens), if they are not halves"});
}

}  // namespace

std::int64_t longest_side(const Draft& draft) {
  const std::int64_t sequence = draft.sequence.value_or(0);
  if (!draft.plan.model.encoder) return sequence;
  return std::max(tokens_in(Tokens::Source, draft.plan.model, sequence), tokens_in(Tokens::Target, draft.plan.model, sequence));
}

std::optional<ModelConfig> fairseq_network(Draft& draft, const RecipeContext& context) {
  const std::string name = text_of(draft, "arch", "");
  const Architecture* const row = architecture_of(name);
  if (row == nullptr && !name.empty())  // --model says it
    (context.model ? draft.unknown : draft.wrong)
        .push_back({"arch", fmt::format("is {}: its sizes stand in fairseq's code, not in the file", shown(name)),
                    "give the config.json of that network with --model, where it is one stack of blocks, or an encoder with a decoder"});
  if (row == nullptr) return std::nullopt;
  settle_samples(draft, context, row->kind);
  if (row->kind == Kind::Roberta) return encoder_network(draft, *row);
  if (!is_paired(row->kind)) return language_model(draft, *row);
  tell_stacks(draft);
  return paired_network(draft, *row);
}

}  // namespace sim
