// Facts: oumi 0.5: core/configs/params (model_params, training_params, peft_params, fsdp_params, deepspeed_params), TrainingParams.to_hf.
#include "sim/recipe/oumi.h"

#include <algorithm>
#include <cctype>

#include "sim/recipe/accounting.h"

namespace sim {
namespace {

// What is called otherwise; the rest of `training` and `peft` are the Trainer's own words.
constexpr Renaming kOumiNames[] = {
    {"model.model_name", "", "model_name_or_path", ""},
    {"model.model_max_length", "", "max_length", ""},
    {"model.torch_dtype_str", "", "torch_dtype", ""},
    {"model.attn_implementation", "", "attn_implementation", ""},
    {"model.enable_liger_kernel", "", "use_liger_kernel", ""},
    {"model.freeze_layers", "", "freeze_backbone", ""},
    {"training.optimizer", "", "optim", ""},
    {"training.enable_gradient_checkpointing", "", "gradient_checkpointing", ""},
    {"training.mixed_precision_dtype", "BF16", "bf16", "true"},
    {"training.mixed_precision_dtype", "FP16", "fp16", "true"},
    {"training.mixed_precision_dtype", "", "bf16", "false"},
    {"training.compile", "", "torch_compile", ""},
    {"training.trainer_type", "TRL_SFT", "stage", "sft"},
    {"training.trainer_type", "HF", "stage", "sft"},
    {"training.trainer_type", "OUMI", "stage", "sft"},
    {"training.trainer_type", "", "stage", ""},
    {"training.empty_device_cache_steps", "", "torch_empty_cache_steps", ""},
    {"data.train.pack", "", "packing", ""},
    {"peft.q_lora_bits", "", "quantization_bit", ""},
    {"peft.peft_save_mode", "", "save_mode", ""},
    {"fsdp.enable_fsdp", "", "fsdp", ""},
    {"fsdp.cpu_offload", "", "fsdp_offload_params", ""},
    {"fsdp.transformer_layer_cls", "", "fsdp_transformer_layer_cls_to_wrap", ""},
    {"deepspeed.enable_deepspeed", "", "use_deepspeed", ""},
    {"deepspeed.zero_stage", "ZERO_0", "zero_stage", "0"},
    {"deepspeed.zero_stage", "ZERO_1", "zero_stage", "1"},
    {"deepspeed.zero_stage", "ZERO_2", "zero_stage", "2"},
    {"deepspeed.zero_stage", "ZERO_3", "zero_stage", "3"},
    {"deepspeed.offload_optimizer.device", "", "offload_optimizer_device", ""},
    {"deepspeed.offload_param.device", "", "offload_param_device", ""},
};

// As ZERO_2 or SHARD_GRAD_OP: "zero2_offload", "shard_grad_op auto_wrap".
std::string in_capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text.substr(0, text.find(' '));
}

std::string value_in_file(std::string_view key, const SettingsInFile& said) {
  for (const auto& [name, setting] : said)
    if (setting.key == key) return setting.value;
  return "";
}

// A layout of the Trainer is one word; there it is switched on, and has settings of its own.
void add_layout(const std::string& section, const std::string& key, const std::string& word, const SettingsInFile& said,
                std::vector<ChangedSetting>& all) {
  const std::string enable = section + ".enable_" + section, before = value_in_file(enable, said);
  const auto add = [&](const std::string& name, const std::string& after) {
    if (const std::string was = value_in_file(name, said); was != after) all.push_back({name, was, after});
  };
  if (word.empty()) return all.push_back({enable, before.empty() ? "true" : before, "false"});
  if (!is_on(before)) add(enable, "true");
  add(section + "." + key, section == "deepspeed" ? "ZERO_" + word.substr(4, 1) : in_capitals(word));
  if (word.ends_with("offload")) add("deepspeed.offload_optimizer.device", "cpu");
}

ChangedSetting named_by_oumi(ChangedSetting change) {
  for (const Renaming& one : kOumiNames)
    if (one.argument == change.key && (one.becomes.empty() || one.becomes == change.after))
      return {std::string(one.key), change.before, one.value.empty() ? change.after : std::string(one.value)};
  change.key.insert(0, change.key.starts_with("lora_") ? "peft." : "training.");
  return change;
}

constexpr std::string_view kSections[] = {"training.trainer_kwargs.", "training.", "peft.", "model."};

bool is_switched_on(std::string_view key, const RecipeSettings& settings) {
  const RecipeSetting* const named = first_named(key, settings);
  return named != nullptr && is_on(named->value);
}

}  // namespace

bool is_of_oumi(const RecipeSettings& settings) {
  const auto has = [&](std::string_view key) { return first_named(key, settings) != nullptr; };
  return has("model.model_name") && (has("training.trainer_type") || has("training.per_device_train_batch_size"));
}

RecipeSettings arguments_of_oumi(const RecipeSettings& settings) {
  RecipeSettings all;
  const bool by_fsdp = is_switched_on("fsdp.enable_fsdp", settings), by_engine = is_switched_on("deepspeed.enable_deepspeed", settings);
  const bool has_few_bits = is_switched_on("peft.q_lora", settings), says_bits = first_named("peft.q_lora_bits", settings) != nullptr;
  for (const RecipeSetting& one : settings) {
    if ((one.key.starts_with("fsdp.") && !by_fsdp) || (one.key.starts_with("deepspeed.") && !by_engine)) continue;  // of what is off
    if (one.key == (has_few_bits && says_bits ? "peft.q_lora" : "peft.q_lora_bits")) continue;  // one of them says which
    RecipeSetting argument = renamed(one, kOumiNames).value_or(one);
    for (const std::string_view section : kSections)
      if (argument.key.starts_with(section)) {
        argument.key.erase(0, section.size());
        break;
      }
    if (argument.key.starts_with("deepspeed.")) argument.key.insert(0, "oumi.");  // not of a file beside it
    argument.written = one.key;
    all.push_back(std::move(argument));
  }
  return all;
}

std::vector<ChangedSetting> in_words_of_oumi(std::vector<ChangedSetting> changes, const SettingsInFile& said) {
  const auto model = said.find("model_name_or_path");
  if (model == said.end() || model->second.key != "model.model_name") return changes;
  std::vector<ChangedSetting> all;
  for (ChangedSetting& change : changes)
    if (change.key == "deepspeed")
      add_layout("deepspeed", "zero_stage", change.after, said, all);
    else if (change.key == "fsdp" || change.key == "fsdp.enable_fsdp")
      add_layout("fsdp", "sharding_strategy", change.after, said, all);
    else
      all.push_back(change.key.find('.') == std::string::npos ? named_by_oumi(std::move(change)) : std::move(change));
  return all;
}

}  // namespace sim
