// Every setting of a file has one of four fates: read, lost (it matters, and a plan has no word for it), without effect on time and memory, unknown.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "sim/recipe/accounting.h"

namespace sim {
namespace {

// What a setting that nobody here knows might change, by what stands in its name. The first that fits.
struct Hint {
  std::string_view stems, what;
  bool is_common = false;  // in names that change nothing, too: hub_token, eval_batch_size
};
constexpr Hint kHints[] = {
    {"fp8 fp4 precision dtype quant float8 half amp$", "the precision: time and memory"},
    {"recompute checkpoint-act checkpoint_act checkpointing remat", "what is recomputed: time and memory"},
    {"offload swap cpu nvme", "what waits on the host: memory and transfers"},
    {"moe expert router", "the experts: time and memory"},
    {"parallel degree stage shard zero mesh pipeline virtual", "the layout: time and memory"},
    {"overlap comm$ communic bucket reduce gather", "the communication: time"},
    {"attention attn rope rotary window flash", "attention: time and memory"},
    {"batch sequence seq length token pack", "the batch: time and memory", true},
    {"layer hidden head ffn vocab embed norm activation", "the network: time and memory", true},
    {"optim adam momentum muon", "the optimizer's state: memory", true},
    {"graph compile fusion fused kernel backend", "the kernels: time"},
};

// "amp$": as a word of its own, since "sample" has it, too.
bool has_stem(std::string_view name, std::string_view stem) {
  if (!stem.ends_with("$")) return name.find(stem) != std::string_view::npos;
  stem.remove_suffix(1);
  const auto ends_word = [&](std::size_t at) {
    return at >= name.size() || std::string_view("-_.").find(name[at]) != std::string_view::npos;
  };
  for (std::size_t at = name.find(stem); at != std::string_view::npos; at = name.find(stem, at + 1))
    if ((at == 0 || ends_word(at - 1)) && ends_word(at + stem.size())) return true;
  return false;
}

const Hint* hint_of(const std::string& key, bool with_common) {
  const std::string name = in_lower_case(key);
  for (const Hint& hint : kHints)
    for (const std::string& stem : words_of(hint.stems))
      if ((with_common || !hint.is_common) && has_stem(name, stem)) return &hint;
  return nullptr;
}

std::string_view might_change(const std::string& key) {
  const Hint* const hint = hint_of(key, true);
  return hint != nullptr ? hint->what : "time or memory, in a way not known here";
}

// Whether the program reads or loses a setting that begins so.
bool counts_in(const Program& program, std::string_view section) {
  const auto begins = [&](std::string_view names) {
    return std::ranges::any_of(words_of(names), [&](const std::string& name) { return name.starts_with(section); });
  };
  return std::ranges::any_of(program.fields, [&](const Field& one) { return one.key.starts_with(section) || begins(one.aliases); }) ||
         std::ranges::any_of(program.lost, [&](const LostSetting& one) { return begins(one.keys); });
}

// What is logged, saved or measured between steps: whatever its names sound like.
bool is_beside_steps(std::string_view cover) {
  constexpr std::string_view kStems[] = {"log",    "ckpt",  "save",    "eval", "profil",    "wandb",     "tensorboard",
                                         "mlflow", "comet", "swanlab", "hub",  "straggler", "persistent"};
  return std::ranges::any_of(kStems, [&](std::string_view stem) { return cover.find(stem) != std::string_view::npos; });
}

// "section.*" and "begin_*" cover names that nobody has seen: one that sounds like time or memory is not passed over. Of a section, where the program reads
// others of it.
bool is_idle(const Program& program, const std::string& key) {
  const std::vector<std::string> names = words_of(program.without_effect);
  if (std::ranges::find(names, key) != names.end()) return true;
  const auto cover = std::ranges::find_if(names, [&](const std::string& name) { return name.ends_with("*") && has_name(name, key); });
  if (cover == names.end()) return false;
  if (!cover->ends_with(".*")) return is_beside_steps(*cover) || hint_of(key.substr(cover->size() - 1), false) == nullptr;
  return hint_of(leaf_of(key), false) == nullptr || !counts_in(program, cover->substr(0, cover->size() - 1));
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

std::vector<std::string> plain_words(std::string_view text) {
  std::vector<std::string> words = words_of(text);
  for (std::string& word : words) std::erase_if(word, [](char c) { return c == '"' || c == '\''; });
  return words;
}

bool has_name(std::string_view names, std::string_view key) {
  constexpr std::string_view kBetween = " \t\n";
  while (true) {  // without a copy: a search asks it of every plan that may compete
    const std::size_t begin = names.find_first_not_of(kBetween);
    if (begin == std::string_view::npos) return false;
    names.remove_prefix(begin);
    const std::string_view name = names.substr(0, names.find_first_of(kBetween));
    if (name.ends_with("*") ? key.starts_with(name.substr(0, name.size() - 1)) : name == key) return true;
    names.remove_prefix(name.size());
  }
}

const LostSetting* lost_of(const Program& program, const std::string& key) {
  for (const LostSetting& one : program.lost)
    if (has_name(one.keys, key)) return &one;
  return nullptr;
}

const Field* field_of(const Program& program, const std::string& key) {
  for (const Field& field : program.fields)
    if (field.key == key || has_name(field.aliases, key)) return &field;
  return nullptr;
}

bool matters(const LostSetting& lost, const std::string& value) {
  constexpr std::string_view kBut = "but ", kUnsaid = "none null auto";
  const std::string word = in_lower_case(value);
  if (lost.when.empty()) return is_on(value);
  if (!unknowns_in(value).empty()) return true;
  if (lost.when == "off") return !is_on(value) && !word.empty() && !has_name(kUnsaid, word);
  return lost.when.starts_with(kBut) ? !has_name(lost.when.substr(kBut.size()), word) : has_name(lost.when, word);
}

bool is_known_to(const Program& program, const std::string& key) {
  return field_of(program, key) != nullptr || lost_of(program, key) != nullptr || is_idle(program, key);
}

namespace {

// A setting under two of its names: the program refuses it, or passes over one of them.
void tell_of_two_names(const Program& program, const RecipeSettings& settings, Draft& draft) {
  std::map<const Field*, const RecipeSetting*> first;
  for (const RecipeSetting& setting : settings) {
    const Field* const field = setting.is_default ? nullptr : field_of(program, setting.key);
    if (field == nullptr || field->write == nullptr) continue;  // rows that are only read hold several questions
    const RecipeSetting& other = *first.try_emplace(field, &setting).first->second;
    if (other.key == setting.key || argument_of(field->spelling, other.value) == argument_of(field->spelling, setting.value)) continue;
    draft.unknown.push_back({setting.key,
                             fmt::format("is {}, and {} is {}: both are names of one setting, and the plan has the last of them",
                                         shown(setting.value), other.key, shown(other.value)),
                             "leave one of them out"});
  }
}

}  // namespace

Accounts read_settings(const Program& program, const RecipeSettings& settings, Draft& draft) {
  Accounts accounts;
  for (const RecipeSetting& setting : settings) {
    const Field* const field = field_of(program, setting.key);
    if (field == nullptr)
      draft.said[setting.key] = setting.value;
    else
      draft.said[std::string(field->means.empty() ? field->key : field->means)] = argument_of(field->spelling, setting.value);
  }
  tell_of_two_names(program, settings, draft);
  std::map<std::string_view, const RecipeSetting*> last;
  for (const RecipeSetting& setting : settings) last[setting.key] = &setting;
  for (const RecipeSetting& setting : settings) {
    if (last.at(setting.key) != &setting) continue;  // said again: the last one counts
    const Field* const field = field_of(program, setting.key);
    const LostSetting* const lost = field == nullptr ? lost_of(program, setting.key) : nullptr;
    if (field != nullptr) {
      if (!setting.is_default) accounts.read.push_back(setting.key);
      accounts.sizes += field->is_size ? 1 : 0;
    } else if (lost != nullptr || is_idle(program, setting.key)) {
      accounts.without_effect.push_back(setting.key);
    } else {
      draft.unknown.push_back({setting.key,
                               fmt::format("'{}' is not known; it might change {}", shown(setting.value), might_change(setting.key)),
                               "see what it does"});
    }
    constexpr std::string_view kOfTrainingAlone = "seed lr learning_rate learning-rate min_lr min-lr weight_decay weight-decay ";
    if (field != nullptr && has_name(kOfTrainingAlone, leaf_of(setting.key)) && !unknowns_in(setting.value).empty()) {
      draft.notes.push_back({setting.key, "is made with each start, and changes neither time nor memory", "the plan's stays as it is"});
    } else if (field != nullptr && setting.value == "auto") {
      draft.notes.push_back({setting.key, "is \"auto\"", "it follows from the model, the cluster and the command line here"});
    } else if (field != nullptr) {
      const RecipeSetting argument{setting.key, argument_of(field->spelling, setting.value), setting.written, setting.is_default};
      field->read(Value(argument, draft), draft);
    } else if (lost != nullptr && matters(*lost, setting.value)) {
      accounts.without_effect.pop_back();
      draft.lost.push_back({setting.key, fmt::format("{}: {}", shown(setting.value), lost->what), "mind it when you read the figures"});
    }
  }
  return accounts;
}

}  // namespace sim
