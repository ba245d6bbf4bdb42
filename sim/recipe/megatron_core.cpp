// Configurations of Megatron-Core in Python: what Megatron-Bridge and NeMo 2 have in common.
#include "sim/recipe/megatron_core.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <span>
#include <sstream>

#include "sim/recipe/accounting.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/megatron_hybrid.h"
#include "sim/recipe/megatron_network.h"
#include "sim/recipe/shell_script.h"

namespace sim {
namespace {

std::string dashed(std::string name) {
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

// Both programs have functions of these names that give a whole precision.
struct NamedPrecision {
  std::string_view name, scales{};  // "": none
  bool gathers_scaled = false;
  int unscaled_at_each_end = 0;  // blocks
};
constexpr NamedPrecision kNamedPrecisions[] = {
    {"bf16_mixed"},
    {"fp16_mixed"},
    {"bf16_with_fp8_mixed", "delayed", true},
    {"bf16_with_fp8_delayed_scaling_mixed", "delayed", true},
    {"bf16_with_fp8_current_scaling_mixed", "tensorwise", true, 1},
    {"nemotron_h_bf16_with_fp8_current_scaling_mixed", "tensorwise", true, 2},
    {"nanov2_bf16_with_fp8_current_scaling_mixed", "blockwise", true, 2},
    {"bf16_with_mxfp8_mixed", "mxfp8", true},
    {"bf16_with_fp8_subchannel_scaling_mixed", "blockwise"},
    {"bf16_with_nvfp4_mixed", "nvfp4"},
};

// Parameters of NeMo's recipe functions.
constexpr Renaming kRecipeNames[] = {
    {"tensor_parallelism", "", "tensor_model_parallel_size", ""},
    {"pipeline_parallelism", "", "pipeline_model_parallel_size", ""},
    {"virtual_pipeline_parallelism", "", "virtual_pipeline_model_parallel_size", ""},
    {"context_parallelism", "", "context_parallel_size", ""},
    {"expert_parallelism", "", "expert_model_parallel_size", ""},
    {"expert_tensor_parallelism", "", "expert_tensor_parallel_size", ""},
    {"sequence_parallelism", "", "sequence_parallel", ""},
    {"pipeline_parallelism_type", "", "pipeline_dtype", ""},
};

const NamedPrecision* precision_named(const std::string& value) {
  const auto row = std::ranges::find(kNamedPrecisions, leaf_of(value), &NamedPrecision::name);
  return row == std::end(kNamedPrecisions) ? nullptr : &*row;
}

// In the names of Megatron-LM's table, which both programs' rows answer to.
void unfold(const NamedPrecision& precision, bool is_bridge, RecipeSettings& settings) {
  const bool is_fp16 = precision.name.starts_with("fp16");
  if (is_bridge)
    settings.push_back({is_fp16 ? "mixed_precision.fp16" : "mixed_precision.bf16", "true"});
  else
    settings.push_back({"plugin.precision", is_fp16 ? "16-mixed" : "bf16-mixed"});
  const std::string section = is_bridge ? "mixed_precision." : "plugin.";
  if (precision.scales == "nvfp4") return settings.push_back({section + "fp4", "e2m1"});
  if (precision.scales.empty()) return;
  settings.push_back({section + "fp8", "hybrid"});
  settings.push_back({section + "fp8_recipe", std::string(precision.scales)});
  if (precision.gathers_scaled) settings.push_back({section + "fp8_param_gather", "true"});
  if (precision.unscaled_at_each_end == 0) return;
  settings.push_back({section + "first_last_layers_bf16", "true"});
  for (const char* const end : {"start", "end"})
    settings.push_back({fmt::format("{}num_layers_at_{}_in_bf16", section, end), std::to_string(precision.unscaled_at_each_end)});
}

bool is_section(const std::string& key) {
  return std::all_of(key.begin(), key.end(), [](unsigned char c) { return std::isupper(c) != 0 || c == '_'; });
}

// `cfg.model.tensor_model_parallel_size`, `recipe.trainer.strategy.sequence_parallel`, `_target_`: by as many of the last words as a row has.
std::string own_name(const Program& program, const std::string& key) {
  for (std::size_t at = 0; at != std::string::npos; at = key.find('.', at + 1)) {
    std::string tail = key.substr(at == 0 ? 0 : at + 1);
    if (is_known_to(program, tail)) return tail;
    if (is_known_to(program, dashed(tail))) return dashed(tail);
  }
  return key;
}

bool is_python(std::string_view text) {
  const std::string_view kMarks[] = {"\nimport ", "\nfrom ", "\ndef "};
  return begins_as_python(text) ||
         std::ranges::any_of(kMarks, [&](std::string_view mark) { return text.find(mark) != std::string_view::npos; });
}

// `--name value` and `--name=value`, in the order of the line; without a value "true".
std::vector<std::string> values_of(std::string_view options, std::span<const std::string> words) {
  std::vector<std::string> values;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::size_t equals = words[at].find('=');
    if (!has_name(options, words[at].substr(0, equals))) continue;
    const bool is_alone = at + 1 == words.size() || words[at + 1].starts_with("-");
    values.push_back(equals != std::string::npos ? words[at].substr(equals + 1) : is_alone ? "true" : words[at + 1]);
  }
  return values;
}

// `run_recipe.py --mode lora`, `--peft_scheme lora`: adapters as the package makes them (bridge/peft/lora.py); overrides change them.
// Any other word that is not known to train all weights is for the settling to refuse.
void take_adapters_of_options(std::span<const std::string> words, RecipeSettings& settings) {
  constexpr std::string_view kOfAllWeights = "full pretrain finetune sft auto";
  for (const std::string& kind : values_of("--mode --peft --peft_scheme --peft-scheme", words)) {
    if (kind == "lora")
      settings.insert(settings.begin(), {{"peft.dim", "32"}, {"peft.alpha", "32"}, {"peft.dropout", "0"}});
    else if (is_on(kind) && !has_name(kOfAllWeights, kind))
      settings.insert(settings.begin(), {"tuner-type", kind});
  }
}

// torchrun's counts stand before the program.
void take_launch(std::span<const std::string> words, RecipeSettings& settings) {
  const auto program = std::ranges::find_if(words, [](const std::string& word) { return word.ends_with(".py"); });
  const std::span<const std::string> launcher(words.begin(), program);
  for (const std::string& nodes : values_of("--nnodes", launcher)) settings.push_back({"nnodes", nodes});
  for (const std::string& each : values_of("--nproc-per-node --nproc_per_node", launcher)) settings.push_back({"nproc-per-node", each});
}

// `torchrun run_recipe.py model.seq_length="$SEQ"`: what stands behind the program, as the script fills it in. Nothing: no such command.
RecipeSettings overrides_in(const RecipeSource& source) {
  RecipeSettings most;
  const OtherScript beside = [&](const std::string& path) { return script_beside(source.path, path); };
  for (const ShellCommand& command : follow_shell(source.text, source.path, source.given, beside).commands) {
    RecipeSettings settings;
    for (const std::string& word : command.words) {
      const std::size_t equals = word.find('='), dot = word.find('.');
      const bool is_override = dot < equals && equals != std::string::npos && std::ranges::all_of(word.substr(0, equals), [](char c) {
                                 return is_name_character(c) || c == '.' || c == '+';
                               });
      if (is_override)
        settings.push_back({word.substr(word.find_first_not_of('+'), equals - word.find_first_not_of('+')), word.substr(equals + 1)});
    }
    take_adapters_of_options(command.words, settings);
    if (!settings.empty()) take_launch(command.words, settings);
    if (settings.size() > most.size()) most = std::move(settings);
  }
  return most;
}

RecipeReading read_core(const RecipeSource& source) {
  // Python; or a command, with model.tensor_model_parallel_size=2 behind it.
  constexpr std::string_view kAssigned[] = {"import ", "def ", " = ", "torchrun", "torch.distributed", "python"};
  const bool is_assigned = !begins_as_yaml(source.text) && std::ranges::any_of(kAssigned, [&](std::string_view mark) {
    return source.text.find(mark) != std::string::npos;
  });
  const KnownKey is_known = [&](const std::string& key) {
    const std::string argument = renamed({key, ""}, kRecipeNames).value_or(RecipeSetting{key, ""}).key;
    return is_known_to(source.program, argument) || is_known_to(source.program, dashed(argument));
  };
  if (is_assigned && !is_python(source.text))
    if (RecipeSettings overrides = overrides_in(source); !overrides.empty()) return {std::move(overrides), {}, {}};
  return {is_assigned ? read_assignments(source.text, source.path, is_known) : read_yaml(source.text, source.path), {}, {}};
}

// What all pretrain_recipe of NeMo's package begin with: bf16_mixed(), distributed Adam, gradients in fp32 beside backward, weights beside forward.
void take_beginning_of_nemo(const std::string& text, RecipeReading& reading) {
  if (text.find("pretrain_recipe(") == std::string::npos) return;
  const RecipeSetting kBeginning[] = {{"trainer.plugins.precision", "bf16-mixed"},
                                      {"trainer.strategy.ddp.grad_reduce_in_fp32", "true"},
                                      {"trainer.strategy.ddp.overlap_grad_reduce", "true"},
                                      {"trainer.strategy.ddp.overlap_param_gather", "true"},
                                      {"optim.config.use_distributed_optimizer", "true"}};
  const auto names_type = [](const RecipeSetting& one) { return precision_named(one.value) != nullptr; };
  const bool has_type = std::ranges::any_of(reading.settings, names_type);
  for (const RecipeSetting& own : kBeginning) {
    const std::string leaf = leaf_of(own.key);
    const auto is_set = [&](const RecipeSetting& one) { return leaf_of(one.key) == leaf; };
    if (std::ranges::any_of(reading.settings, is_set) || (has_type && leaf == "precision")) continue;
    reading.settings.push_back({.key = own.key, .value = own.value, .is_default = true});
  }
}

// `llm.llama3_8b.pretrain_recipe(`: which of several a run takes, its code decides; a search trains each of what it finds.
void refuse_several_recipes(const RecipeSource& source) {
  std::set<std::string> names;
  std::istringstream lines(source.text);
  for (std::string line; std::getline(lines, line);)
    for (const std::string& word : words_of(line.substr(0, line.find('#'))))
      for (const std::string_view call : {".pretrain_recipe", ".finetune_recipe"})
        if (const std::size_t at = word.find(call); at != std::string::npos)
          names.insert(word.substr(word.find_last_of("(=,", at) + 1, at - word.find_last_of("(=,", at) - 1));
  if (names.size() > 1)
    throw InputError(source.path,
                     {{"recipe", fmt::format("{} of the program's own are begun here: {}", names.size(), fmt::join(names, ", ")),
                       "leave the one that is meant"}});
  std::size_t made = 0;  // run.Partial(llm.pretrain, ...), run.Partial(llm.finetune, ...)
  for (std::size_t at = source.text.find("Partial("); at != std::string::npos; at = source.text.find("Partial(", at + 1)) ++made;
  if (made > 1)
    throw InputError(source.path, {{"recipe", fmt::format("{} are made here, each by its Partial", made), "leave the one that is meant"}});
  if (source.text.find("AutoConfigurator(") != std::string::npos)
    throw InputError(source.path, {{"recipe", "is a search: several settings are tried, one run for each",
                                    "print the configuration of one of them, and import that"}});
}

// Values of a recipe of the program's own are in its package, not in the file.
void tell_of_other_recipes(const std::string& text, RecipeReading& reading) {
  for (const std::string_view mark : {"_recipe(", "_pretrain_config(", "_sft_config(", "from_hf_pretrained(", "AutoBridge."})
    if (text.find(mark) != std::string::npos)
      return reading.unknown.push_back(
          {std::string(mark.substr(mark.starts_with("_") ? 1 : 0, mark.find_first_of("(.", 1) - (mark.starts_with("_") ? 1 : 0))),
           "begins with a recipe of the program's own, whose values are not in this file; it might change everything",
           "print the configuration that it makes, and import that"});
}

}  // namespace

RecipeReading core_settings(const RecipeSource& whole) {
  const std::size_t end = whole.text.find("\ndef plan() ->");  // of our own file: what stands behind the sections says nothing more
  const RecipeSource source{whole.text.substr(0, end), whole.path, whole.given, whole.program};
  refuse_several_recipes(source);
  RecipeReading reading = read_core(source);
  tell_of_other_recipes(source.text, reading);
  const bool is_bridge = source.program.name == kMegatronBridge.name;
  if (!is_bridge) take_beginning_of_nemo(source.text, reading);
  RecipeSettings settings;
  for (RecipeSetting& setting : reading.settings) {
    const std::string leaf = leaf_of(setting.key);
    if (const NamedPrecision* const precision = precision_named(setting.value)) {
      unfold(*precision, is_bridge, settings);
      if (is_bridge) settings.push_back({"mixed_precision", leaf_of(setting.value)});
      continue;
    }
    if (setting.value == "dict" || is_section(leaf) || leaf == "_target_" || leaf == "_call_" || leaf == "_partial_") continue;
    const RecipeSetting named = renamed({leaf, setting.value}, kRecipeNames).value_or(setting);
    setting.key = own_name(source.program, named.key);
    settings.push_back(std::move(setting));
  }
  // Degrees first, and what is recomputed: others are read with them.
  std::stable_partition(settings.begin(), settings.end(), [](const RecipeSetting& one) {
    return one.key.ends_with("model_parallel_size") || one.key.ends_with("recompute_granularity") ||
           one.key.ends_with("recompute_method") || one.key.ends_with("optimizer_cpu_offload");
  });
  reading.settings = std::move(settings);
  return reading;
}

std::optional<ModelConfig> core_network(Draft& draft, const RecipeContext& context) {
  const std::string activation = leaf_of(text_of(draft, "activation-func", ""));
  if (said(draft, "gated-linear-unit") != nullptr) draft.said[activation == "quick_gelu" ? "quick-geglu" : "swiglu"] = "true";
  if (said(draft, "num-query-groups") != nullptr) draft.said["group-query-attention"] = "true";
  if (said(draft, "multi-latent-attention") != nullptr) draft.said.try_emplace("kv-lora-rank", "512");  // MLATransformerConfig's
  return megatron_network(draft, context);
}

void settle_core(Draft& draft) {
  if (!draft.fp32_gradients) draft.fp32_gradients = true;
  draft.unscaled_first = draft.unscaled_first.value_or(0);  // MegatronMixedPrecision's, and MixedPrecisionConfig's
  draft.unscaled_last = draft.unscaled_last.value_or(0);
  TokenDispatcher& dispatcher = draft.plan.token_dispatcher;
  const bool is_named = said(draft, "num-experts") == nullptr;  // one of the program's own networks, all of which exchange tokens
  if (is_named && dispatcher == TokenDispatcher::AsTheProgram) dispatcher = TokenDispatcher::AllToAll;
  settle_megatron(draft);
  if (said(draft, "cross-entropy-loss-fusion") == nullptr)
    draft.plan.cluster.software.fused_loss = true;  // GPTConfig's, and GPTModelProvider's
}

void judge_core(const ParallelPlan& plan, Judgement& judgement) {
  judge_megatron_core(plan, judgement);
  judgement.refuse(is_hybrid(plan.model), "/model", "blocks by halves are another class of networks there, which is not written",
                   "export to Megatron-LM");
  judgement.refuse(!plan.model.gated_mlp && plan.model.activation == Activation::SquaredRelu, "/model/hidden_act",
                   "a squared relu is a function of the package, which is not written", "export to Megatron-LM");
  judgement.refuse(plan.model.position == Position::Learned && plan.model.max_positions != plan.workload.sequence, "/workload/sequence",
                   fmt::format("the network has {} learned positions, and a sequence {}: they are one number there",
                               plan.model.max_positions, plan.workload.sequence),
                   "plan with that sequence, or export to Megatron-LM");
  judgement.note(plan.training.checkpoint_interval > 0, "/training", "how often is saved is left to the program", "set it there");
  judgement.note(plan.training.loss_scale_rule != LossScaleRule::PyTorch, "/training",
                 "how the loss scale follows overflows is left to the program", "nothing to do");
  judgement.note(true, "", "data, tokenizer and the number of steps are not of the plan", "set them in the recipe");
}

std::string core_without_effect(std::string_view own) { return std::string(kMegatronWithoutEffect) + std::string(own); }

std::string core_head(const RecipeHead& head, const ParallelPlan& plan, std::string_view file) {
  return comment_lines(head) +
         fmt::format("#\n#   torchrun --nnodes {} --nproc-per-node {} {}\n", plan.cluster.hosts(), plan.cluster.devices_per_host(), file);
}

bool has_section(const RecipeSettings& settings, std::string_view name) {
  return std::ranges::any_of(settings, [&](const RecipeSetting& one) { return one.key.starts_with(name); });
}

std::string core_sections(const RecipeSettings& settings) {
  std::map<std::string, std::string> sections;
  std::vector<std::string> order;
  for (const RecipeSetting& setting : settings) {
    const std::size_t dot = setting.key.find('.');
    std::string name = setting.key.substr(0, dot);
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (!sections.contains(name)) order.push_back(name);
    std::string& text = sections[name];
    const std::string& value = setting.value;
    const bool is_bare = is_literal(value) || value.starts_with("(") || value.starts_with("F.") || value == "quick_gelu";
    text += fmt::format("{}    {}={}", text.empty() ? "" : ",\n", setting.key.substr(dot + 1),
                        value == "true"    ? "True"
                        : value == "false" ? "False"
                        : is_bare          ? value
                                           : fmt::format("\"{}\"", value));
  }
  std::string text;
  for (const std::string& name : order) text += fmt::format("{} = dict(\n{})\n", name, sections[name]);
  return text;
}

}  // namespace sim
