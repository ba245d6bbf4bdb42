#include "sim/recipe/changed_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/recipe/accounting.h"
#include "sim/recipe/oumi.h"

namespace sim {
namespace {

// What a program does without a word in the file is switched off by one.
struct OnByItself {
  std::string_view key, marks;  // of files that hold one of these
  std::string_view off, value;
};
constexpr OnByItself kOnByItself[] = {
    {"gradient_checkpointing", "finetuning_type cutoff_len", "disable_gradient_checkpointing", "true"},  // LLaMA-Factory
    {"gradient_checkpointing", "", "gradient_checkpointing", "false"},
};

// Settings that are added to files with one of these alone, by a name of the table or the file's own: others have no such word.
struct OnlyBeside {
  std::string_view keys, marks;
};
constexpr OnlyBeside kOnlyBeside[] = {
    {"tensor_parallel_size context_parallel_size expert_parallel_size", "sequence_len"},  // Axolotl
    {"flash_attention xformers_attention eager_attention", "sequence_len"},               // likewise
    {"attn_implementation", "attn_implementation"},                                       // one word of it takes another's place
    {"gradient-accumulation-steps", "gradient-accumulation-steps"},                       // follows from the batch of a step
    {"activation_checkpoint.selective_ac_option", "activation_checkpoint.mode"},          // torchtitan's TOML
};

constexpr std::string_view kOffByDefault =
    "fsdp_config.fsdp_activation_checkpointing fsdp_config.fsdp_offload_params checkpoint-activations";

// When the first changes, the second may not stay: the program refuses both together, or the second overrules the first.
struct GoesWith {
  std::string_view change, goes;
  std::string_view value{};  // that it has in the file; empty: any
};
constexpr GoesWith kGoesWith[] = {{"fsdp", "deepspeed"},
                                  {"deepspeed", "fsdp"},
                                  {"recompute-granularity", "recompute-activations"},
                                  {"recompute-granularity", "checkpoint-activations"},
                                  {"attention-backend", "transformer-impl", "local"},
                                  {"gradient_checkpointing", "disable_gradient_checkpointing"}};

// What a file leaves to other settings stays so: torchtitan's shards over the ranks that other degrees leave.
constexpr std::string_view kShardsOfWhatIsLeft = "parallelism.data_parallel_shard_degree", kWhatIsLeft = "-1";

// torchtitan, where the file names no batch of a step: what ranks have at once.
struct WithoutAWord {
  std::string_view key;
  std::int64_t (*value)(const ParallelPlan&);
};
constexpr WithoutAWord kWithoutAWord[] = {{"training.global_batch_size", [](const ParallelPlan& p) {
                                             return p.microbatch_size * (p.mesh.pipeline > 1 ? p.num_microbatches() : 1) * p.mesh.data;
                                           }}};

// Other names of a setting have other values.
constexpr Renaming kOldValues[] = {{"activation_checkpoint.mode", "FullAC.Config()", "activation_checkpoint.mode", "full"},
                                   {"activation_checkpoint.mode", "SelectiveAC.Config()", "activation_checkpoint.mode", "selective"},
                                   {"activation_checkpoint.mode", "None", "activation_checkpoint.mode", "none"},
                                   {"flash_attn", "flash_attention_2", "flash_attn", "fa2"},  // LLaMA-Factory
                                   {"flash_attn", "flash_attention_3", "flash_attn", "fa3"},
                                   {"flash_attn", "eager", "flash_attn", "disabled"}};

std::string name_of(const Field& field) { return std::string(field.means.empty() ? field.key : field.means); }

bool has_one_of(std::string_view names, const SettingsInFile& said) {
  return std::ranges::any_of(words_of(names), [&](const std::string& name) {
    return said.contains(name) || std::ranges::any_of(said, [&](const auto& one) { return one.second.key == name; });
  });
}

bool may_be_added(std::string_view key, const SettingsInFile& said) {
  return std::ranges::all_of(kOnlyBeside, [&](const OnlyBeside& one) { return !has_name(one.keys, key) || has_one_of(one.marks, said); });
}

const OnByItself* on_by_itself(std::string_view key, const SettingsInFile& said) {
  const auto* const found = std::ranges::find_if(
      kOnByItself, [&](const OnByItself& one) { return one.key == key && (one.marks.empty() || has_one_of(one.marks, said)); });
  return found == std::end(kOnByItself) ? nullptr : found;
}

// One plan's change, in a file that says this.
class ChangesOfFile {
 public:
  ChangesOfFile(const Program& program, const SettingsInFile& said) : program_(program), said_(said) {}

  void take(const Field& field, const std::string& was, const std::string& is) {
    const OnByItself* const off = is.empty() ? on_by_itself(field.key, said_) : nullptr;
    if (off != nullptr) return add(std::string(off->off), off->off, "", std::string(off->value));
    add(name_of(field), field.key, was, is);
  }

  // Behind all others.
  void take_what_goes(const ParallelPlan& before, const ParallelPlan& after) {
    for (const GoesWith& one : kGoesWith) {
      const Field *const change = field_of(program_, std::string(one.change)), *const goes = field_of(program_, std::string(one.goes));
      if (change == nullptr || text_in_file(*change, before) == text_in_file(*change, after)) continue;
      if (goes != nullptr && text_in_file(*goes, after).empty() && has_value(*goes, one.value)) add(name_of(*goes), goes->key, "", "");
    }
  }

  // What the file left to others must be said once it is another.
  void take_what_is_left(const ParallelPlan& before, const ParallelPlan& after) {
    for (const WithoutAWord& one : kWithoutAWord) {
      const Field* const field = field_of(program_, std::string(one.key));
      const auto found = said_.find(std::string(one.key));
      const bool is_said = found != said_.end() && is_on(found->second.value) && !found->second.value.starts_with("-");
      const auto follows = [&](const ParallelPlan& plan) { return text_in_file(*field, plan) == std::to_string(one.value(plan)); };
      if (field != nullptr && !is_said && follows(before) && !follows(after))
        add(name_of(*field), field->key, "", text_in_file(*field, after));
    }
  }

  std::vector<ChangedSetting> all;

 private:
  bool has_value(const Field& field, std::string_view value) const {
    const auto found = said_.find(name_of(field));
    return value.empty() || (found != said_.end() && found->second.value == value);
  }

  // `is` "": it goes.
  void add(const std::string& name, std::string_view key, const std::string& was, const std::string& is) {
    const auto found = said_.find(name);
    if (found == said_.end()) {
      const bool holds_anyway = is.empty() || (is == "false" && has_name(kOffByDefault, key));
      if (!holds_anyway && may_be_added(key, said_)) all.push_back({std::string(program_.option) + std::string(key), "", is});
      return;
    }
    const RecipeSetting& there = found->second;
    const std::string own = std::string(program_.option) + there.key,
                      becomes = renamed({there.key, is}, kOldValues).value_or(RecipeSetting{there.key, is}).value;
    const bool is_there_already =
        there.value == becomes || (key == kShardsOfWhatIsLeft && there.value == kWhatIsLeft) || (!is_on(there.value) && !is_on(becomes));
    if (!is_there_already && std::ranges::find(all, own, &ChangedSetting::key) == all.end())
      all.push_back({own, there.value.empty() ? was : shown(there.value), becomes});
  }

  const Program& program_;
  const SettingsInFile& said_;
};

}  // namespace

SettingsInFile settings_in_file(const Program& program, const RecipeSettings& settings) {
  SettingsInFile said;
  for (const RecipeSetting& setting : settings) {
    if (setting.is_default) continue;
    const Field* const field = field_of(program, setting.key);
    said[field == nullptr ? setting.key : name_of(*field)] = {setting.written.empty() ? setting.key : setting.written, setting.value};
  }
  return said;
}

std::vector<ChangedSetting> changed_settings(const Program& program, const ParallelPlan& before, const ParallelPlan& after,
                                             const SettingsInFile& said) {
  ChangesOfFile of_file(program, said);
  for (const Field& field : program.fields) {
    const std::string was = text_in_file(field, before), is = text_in_file(field, after);
    if (was != is) of_file.take(field, was, is);
  }
  of_file.take_what_goes(before, after);
  if (!of_file.all.empty()) of_file.take_what_is_left(before, after);
  return in_words_of_oumi(std::move(of_file.all), said);
}

std::string to_text(const ChangedSetting& change) {
  const auto said = [&](const std::string& value) { return value == "true" ? change.key : change.key + " " + value; };
  if (change.before.empty()) return "add " + said(change.after);
  if (change.after.empty()) return "remove " + change.key;
  return fmt::format("{} {} -> {}", change.key, change.before, change.after);
}

}  // namespace sim
