#include <fmt/format.h>

#include <array>

#include "sim/tokenizer/byte_pair.h"
#include "sim/tokenizer/normalizer.h"
#include "sim/tokenizer/tokenizer.h"
#include "sim/tokenizer/unigram.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

using Steps = std::vector<TextStep>;
using Vocabulary = nlohmann::json;  // of 10^5 keys and more
constexpr std::int64_t kMostTokens = 1 << 30;
constexpr const char* kAnother = "use a tokenizer without it, or make the tokens with the program it is of";

void refuse(const JsonReader& where, const std::string& key, const std::string& what) {
  where.violate(key, what + ", which is not known here", kAnother);
}
void add(Steps& steps, std::optional<TextStep> step, const JsonReader& where, const std::string& key) {
  if (step)
    steps.push_back(std::move(*step));
  else
    where.violate(key, "is no regular expression that can be read", kAnother);
}

// One of the kinds that stand in `table`, by its "type".
struct Kind {
  std::string_view type;
  void (*read)(const JsonReader& step, Steps& steps);
};
template <std::size_t N>
void read_step(const JsonReader& step, const Kind (&table)[N], const char* members, Steps& steps) {
  const std::string type = step.text("type", "");
  if (type == "Sequence") {
    for (const JsonReader& member : step.children(members)) read_step(member, table, members, steps);
    return;
  }
  for (const Kind& kind : table)
    if (kind.type == type) return kind.read(step, steps);
  refuse(step, "type", fmt::format("is \"{}\"", type));
}

// {"Regex": "..."} or {"String": "..."}.
struct Pattern {
  std::string text;
  bool is_regex = false;
};
Pattern read_pattern(const JsonReader& step) {
  const JsonReader pattern = step.child("pattern");
  if (pattern.has("Regex")) return {pattern.text("Regex"), true};
  return {pattern.text("String"), false};
}

void read_replace(const JsonReader& step, Steps& steps) {
  const Pattern pattern = read_pattern(step);
  const std::string content = step.text("content", "");
  if (pattern.is_regex)
    add(steps, replace_pattern(pattern.text, content), step, "pattern");
  else
    steps.push_back(replace_text(pattern.text, content));
}

void read_form(const JsonReader& step, Steps& steps) { steps.push_back(*normal_form(step.text("type"))); }

constexpr Kind kNormalizers[] = {
    {"NFC", read_form},
    {"NFD", read_form},
    {"NFKC", read_form},
    {"NFKD", read_form},
    {"Lowercase", read_form},
    {"Replace", read_replace},
    {"Prepend", [](const JsonReader& step, Steps& steps) { steps.push_back(prepend_text(step.text("prepend"))); }},
    {"Strip", [](const JsonReader& step,
                 Steps& steps) { steps.push_back(strip_space(step.boolean("strip_left", true), step.boolean("strip_right", true))); }},
};

SplitBehavior behavior_of(const JsonReader& step, SplitBehavior usual) {
  return static_cast<SplitBehavior>(step.choice("behavior", kSplitBehaviorNames, static_cast<std::size_t>(usual)));
}

void read_split(const JsonReader& step, Steps& steps) {
  const Pattern pattern = read_pattern(step);
  const SplitBehavior behavior = behavior_of(step, SplitBehavior::Isolated);
  const bool is_inverted = step.boolean("invert", false);
  if (pattern.is_regex)
    add(steps, split_by_pattern(pattern.text, behavior, is_inverted), step, "pattern");
  else
    steps.push_back(split_by_text(pattern.text, behavior, is_inverted));
}

Prepend prepend_of(const JsonReader& step) {
  static constexpr std::array<std::string_view, 3> kNames = {"always", "first", "never"};
  const Prepend older = step.boolean("add_prefix_space", true) ? Prepend::Always : Prepend::Never;
  return static_cast<Prepend>(step.choice("prepend_scheme", kNames, static_cast<std::size_t>(older)));
}

TextStep split_like(const char* pattern, SplitBehavior behavior, bool is_inverted = false) {
  return *split_by_pattern(pattern, behavior, is_inverted);
}

constexpr Kind kPreTokenizers[] = {
    {"ByteLevel",
     [](const JsonReader& step, Steps& steps) {
       steps.push_back(byte_level(step.boolean("add_prefix_space", true), step.boolean("use_regex", true)));
     }},
    {"Split", read_split},
    {"Metaspace",
     [](const JsonReader& step, Steps& steps) {
       steps.push_back(metaspace(step.text("replacement", "\u2581"), prepend_of(step), step.boolean("split", true)));
     }},
    {"Digits",
     [](const JsonReader& step, Steps& steps) {
       steps.push_back(
           split_like("\\p{N}", step.boolean("individual_digits", false) ? SplitBehavior::Isolated : SplitBehavior::Contiguous));
     }},
    {"Whitespace", [](const JsonReader&, Steps& steps) { steps.push_back(split_like("\\w+|[^\\w\\s]+", SplitBehavior::Removed, true)); }},
    {"WhitespaceSplit", [](const JsonReader&, Steps& steps) { steps.push_back(split_like("\\s", SplitBehavior::Removed)); }},
    {"Punctuation",
     [](const JsonReader& step, Steps& steps) {
       steps.push_back(split_like("[!-/:-@\\[-`{-~\\p{P}]", behavior_of(step, SplitBehavior::Isolated)));
     }},
};

// "a b", or ["a", "b"] in newer files.
bool read_merge(const Json& merge, std::pair<std::string, std::string>& pair) {
  if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
    pair = {merge[0], merge[1]};
    return true;
  }
  if (!merge.is_string()) return false;
  const std::string text = merge;
  const std::size_t space = text.find(' ');
  if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos) return false;
  pair = {text.substr(0, space), text.substr(space + 1)};
  return true;
}

void read_vocabulary(const Vocabulary& vocabulary, const JsonReader& model, std::unordered_map<std::string, std::uint32_t>& ids) {
  if (!vocabulary.is_object()) return model.violate("vocab", "is no object of tokens and their ids", "check the file");
  for (const auto& [text, id] : vocabulary.items()) {
    const bool is_id = id.is_number_integer() && id >= 0 && id < kMostTokens;
    if (!is_id) return model.violate("vocab", "gives a token something that is no id", "check the file");
    ids[text] = id.get<std::uint32_t>();
  }
}

void read_merges(const JsonReader& model, BytePairs& pairs) {
  const Json* merges = model.has("merges") ? &model.json()["merges"] : nullptr;
  if (merges == nullptr || !merges->is_array()) return model.violate("merges", "is no list", "check the file");
  std::uint32_t rank = 0;
  for (const Json& merge : *merges) {
    std::pair<std::string, std::string> pair;
    const bool is_pair = read_merge(merge, pair);
    const auto left = pairs.ids.find(pair.first), right = pairs.ids.find(pair.second), both = pairs.ids.find(pair.first + pair.second);
    if (!is_pair || left == pairs.ids.end() || right == pairs.ids.end() || both == pairs.ids.end())
      return model.violate("merges", fmt::format("has as number {} no pair of tokens whose join is a token", rank), "check the file");
    pairs.merges.insert_or_assign(std::uint64_t{left->second} << 32 | right->second, BytePairs::Merge{rank++, both->second});
  }
}

bool is_set(const Json& value) {
  const bool is_no_text = value.is_string() && value.get_ref<const std::string&>().empty();
  return !is_no_text && value != 0 && value != false;
}

void refuse_others(const JsonReader& model, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (model.has(key) && is_set(model.json()[key])) refuse(model, key, "is set");
}

Tokenizer::Model read_byte_pairs(const Vocabulary& tokens, const JsonReader& model, std::int64_t& vocabulary) {
  BytePairs pairs;
  read_vocabulary(tokens, model, pairs.ids);
  read_merges(model, pairs);
  refuse_others(model, {"dropout", "continuing_subword_prefix", "end_of_word_suffix"});
  pairs.fuses_unknown = model.boolean("fuse_unk", false);
  pairs.falls_back_to_bytes = model.boolean("byte_fallback", false);
  pairs.ignores_merges = model.boolean("ignore_merges", false);
  if (const std::string unknown = model.text("unk_token", ""); pairs.ids.contains(unknown))
    pairs.unknown = pairs.ids[unknown];
  else if (!unknown.empty())
    model.violate("unk_token", "is no token", "check the file");
  for (const auto& [text, id] : pairs.ids) vocabulary = std::max<std::int64_t>(vocabulary, id + 1);
  return byte_pair_model(std::move(pairs));
}

Tokenizer::Model read_unigram(const Vocabulary& tokens, const JsonReader& model, std::int64_t& vocabulary) {
  UnigramPieces unigram;
  for (const auto& piece : tokens.is_array() ? tokens : Vocabulary::array()) {
    if (!piece.is_array() || piece.size() != 2 || !piece[0].is_string() || !piece[1].is_number()) break;
    unigram.pieces.emplace_back(piece[0].get<std::string>(), piece[1].get<double>());
  }
  if (unigram.pieces.empty() || unigram.pieces.size() != tokens.size())
    model.violate("vocab", "is no list of pieces and their log-probabilities", "check the file");
  refuse_others(model, {"alpha", "nbest_size"});
  unigram.falls_back_to_bytes = model.boolean("byte_fallback", false);
  vocabulary = static_cast<std::int64_t>(unigram.pieces.size());
  const double last = static_cast<double>(std::max<std::int64_t>(1, vocabulary) - 1);
  if (model.has("unk_id")) unigram.unknown = static_cast<std::uint32_t>(model.integer("unk_id", 0, {0, last}));
  return unigram_model(std::move(unigram));
}

std::vector<AddedToken> read_added(const JsonReader& file, std::int64_t& vocabulary) {
  std::vector<AddedToken> added;
  for (const JsonReader& token : file.children("added_tokens")) {
    const std::int64_t id = token.integer("id", {}, {0, kMostTokens});
    if (token.boolean("single_word", false)) refuse(token, "single_word", "is true");
    added.push_back({.text = token.text("content"),
                     .id = static_cast<std::uint32_t>(id),
                     .is_normalized = token.boolean("normalized", true),
                     .takes_left = token.boolean("lstrip", false),
                     .takes_right = token.boolean("rstrip", false)});
    vocabulary = std::max(vocabulary, id + 1);
  }
  return added;
}

}  // namespace

Tokenizer load_tokenizer(const std::string& path) {
  Vocabulary all = parse_sorted_json(load_text_file(path), path), tokens;
  if (all.is_object() && all.contains("model") && all["model"].is_object() && all["model"].contains("vocab"))
    all["model"]["vocab"].swap(tokens);
  const Json json = Json::parse(all.dump());
  const JsonReader file(json, path);
  const JsonReader model = file.child("model");
  file.finish();
  const std::string type = model.text("type", model.has("merges") ? "BPE" : "");
  Tokenizer::Model encode;
  std::int64_t vocabulary = 0;
  if (type == "BPE")
    encode = read_byte_pairs(tokens, model, vocabulary);
  else if (type == "Unigram")
    encode = read_unigram(tokens, model, vocabulary);
  else
    refuse(model, "type", fmt::format("is \"{}\"", type));
  Steps normalizer, pre_tokenizer;
  if (file.has("normalizer")) read_step(file.child("normalizer"), kNormalizers, "normalizers", normalizer);
  if (file.has("pre_tokenizer")) read_step(file.child("pre_tokenizer"), kPreTokenizers, "pretokenizers", pre_tokenizer);
  std::vector<AddedToken> added = read_added(file, vocabulary);
  file.finish();
  return {std::move(encode), std::move(normalizer), std::move(pre_tokenizer), std::move(added), vocabulary};
}

}  // namespace sim
