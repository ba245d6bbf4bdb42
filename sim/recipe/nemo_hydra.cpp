#include "sim/recipe/nemo_hydra.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/recipe/accounting.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/shell_script.h"
#include "sim/recipe/yaml_form.h"

namespace sim {
namespace {

constexpr Renaming kHydraNames[] = {
    {"trainer.devices", "", "nproc-per-node", ""},
    {"trainer.num_nodes", "", "nnodes", ""},
    {"trainer.precision", "", "precision", ""},
    {"trainer.gradient_clip_val", "", "clip-grad", ""},
    {"model.rotary_percentage", "", "rotary-percent", ""},
    {"model.normalization", "layernorm", "normalization", "LayerNorm"},
    {"model.normalization", "layernorm1p", "apply-layernorm-1p", "true"},
    {"model.normalization", "low_precision_layernorm", "normalization", "LayerNorm"},
    {"model.normalization", "rmsnorm", "normalization", "RMSNorm"},
    {"model.activation", "swiglu", "swiglu", "true"},
    {"model.activation", "fast-swiglu", "swiglu", "true"},
    {"model.activation", "geglu", "geglu", "true"},
    {"model.activation", "fast-geglu", "geglu", "true"},
    {"model.activation", "squared-relu", "squared-relu", "true"},
    {"model.activation", "gelu", "no-add-gate", "true"},
    {"model.bias", "false", "disable-bias-linear", "true"},
    {"model.bias", "False", "disable-bias-linear", "true"},
    {"model.bias", "", "add-bias-linear", ""},
    {"model.share_embeddings_and_output_weights", "false", "untie-embeddings-and-output-weights", "true"},
    {"model.share_embeddings_and_output_weights", "False", "untie-embeddings-and-output-weights", "true"},
    {"model.share_embeddings_and_output_weights", "", "no-untie-embeddings-and-output-weights", ""},
    {"model.megatron_amp_O2", "", "megatron-amp-O2", ""},
    {"model.transformer_engine", "false", "transformer-impl", "local"},
    {"model.transformer_engine", "False", "transformer-impl", "local"},
    {"model.transformer_engine", "", "transformer-impl", "transformer_engine"},
    {"model.use_flash_attention", "", "use-flash-attn", ""},
    {"model.ub_tp_comm_overlap", "", "tp-comm-overlap", ""},
    {"model.tokenizer.type", "", "tokenizer-type", ""},
    {"model.data.seq_length", "", "seq-length", ""},
    {"model.data.reset_attention_mask", "", "reset-attention-mask", ""},
    {"model.data.reset_position_ids", "", "reset-position-ids", ""},
    {"model.data.eod_mask_loss", "", "eod-mask-loss", ""},
    {"model.optim.name", "distributed_fused_adam", "use-distributed-optimizer", "true"},
    {"model.optim.name", "mcore_distributed_optim", "use-distributed-optimizer", "true"},
    {"model.optim.name", "fused_adam", "optimizer", "adam"},
    {"model.optim.name", "megatron_fused_adam", "optimizer", "adam"},
    {"model.optim.name", "", "optimizer", ""},
    {"model.optim.betas", "", "betas", ""},
    {"model.optim.overlap_grad_sync", "", "overlap-grad-reduce", ""},
    {"model.optim.overlap_param_sync", "", "overlap-param-gather", ""},
    {"model.optim.grad_sync_dtype", "bf16", "grad-reduce-in-bf16", "true"},
    {"model.optim.sched.warmup_steps", "", "lr-warmup-iters", ""},
    {"model.optim.sched.min_lr", "", "min-lr", ""},
    {"model.optim.sched.name", "CosineAnnealing", "lr-decay-style", "cosine"},
    {"model.native_amp_init_scale", "", "initial-loss-scale", ""},
    {"model.native_amp_growth_interval", "", "loss-scale-window", ""},
};
constexpr std::string_view kLauncher = "training=", kOfLauncher = "training.", kExample = "megatron_gpt_pretraining.py";
// Sections that stay whole names.
constexpr std::array<std::string_view, 10> kHydraSections = {
    "exp_manager.", "trainer.",           "run.",      "hydra.",  "model.tokenizer.", "model.nsys_profile.",
    "model.data.",  "model.optim.sched.", "model.gc_", "defaults"};

RecipeSetting argument_of_hydra(const RecipeSetting& setting) {
  if (std::optional<RecipeSetting> argument = renamed(setting, kHydraNames)) return *std::move(argument);
  const bool is_whole = std::ranges::any_of(kHydraSections, [&](std::string_view section) { return setting.key.starts_with(section); });
  if (is_whole) return setting;
  std::string name = leaf_of(setting.key);
  std::ranges::replace(name, '_', '-');
  return {std::move(name), setting.value};
}

// model.micro_batch_size=4, +model.new=1; what the launcher of NeMo 1 calls training.model is the model.
void change_as_said(const std::string& word, RecipeSettings& settings) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || word.find('.') > equals) return;
  std::string key = word.substr(0, equals), value = word.substr(equals + 1);
  while (key.starts_with("+")) key.erase(0, 1);
  if (key.starts_with(kOfLauncher)) key.erase(0, kOfLauncher.size());
  const auto known = std::ranges::find(settings, key, &RecipeSetting::key);
  if (known == settings.end())
    settings.push_back({std::move(key), std::move(value)});
  else
    known->value = std::move(value);
}

// The file, and the words that may change it.
struct HydraLine {
  RecipeSetting named;
  std::vector<std::string> words;
};

// Scripts beside that of GPT, each with an example file of its own.
void refuse_other_examples(const RecipeSource& source) {
  for (const std::string_view name : {"megatron_bert", "megatron_t5"})
    if (source.text.find(fmt::format("{}_pretraining.py", name)) != std::string::npos)
      throw InputError(
          source.path,
          {{"--config-name", fmt::format("is not given, and {0}_pretraining.py takes a file of its own then, {0}_config.yaml", name),
            "add it, and have that file beside this one"}});
}

HydraLine hydra_line(const RecipeSource& source, const RecipeReading& reading) {
  if (const RecipeSetting* const named = first_named("config-name", reading.settings))
    return {{named->key, named->value.substr(0, named->value.find(' '))}, words_of(reading.command)};
  refuse_other_examples(source);
  const bool is_launch = is_hydra_launch(source.text);
  if (!is_launch && source.text.find(kExample) == std::string::npos) return {};
  for (ShellCommand& command : follow_shell(source.text, source.path, source.given).commands)
    for (const std::string& word : command.words) {
      if (is_launch && word.starts_with(kLauncher)) return {{"training", word.substr(kLauncher.size())}, std::move(command.words)};
      if (!is_launch && word.find(kExample) != std::string::npos && word.find(' ') == std::string::npos)
        return {{}, std::move(command.words)};
    }
  return {};
}

}  // namespace

bool is_hydra_launch(const std::string& text) {
  const std::vector<std::string> words = words_of(text);
  return std::ranges::any_of(words,
                             [](const std::string& word) { return word.starts_with(kLauncher) && word.find('/') != std::string::npos; });
}

// What NeMo's own example has where a line names no file (1.23: examples/nlp/language_modeling/conf/megatron_gpt_config.yaml).
RecipeSettings usual_hydra_file() {
  constexpr std::pair<std::string_view, std::string_view> kUsual[] = {{"exp_manager.name", "megatron_gpt"},
                                                                      {"trainer.devices", "1"},
                                                                      {"trainer.num_nodes", "1"},
                                                                      {"trainer.precision", "16"},
                                                                      {"trainer.gradient_clip_val", "1.0"},
                                                                      {"model.micro_batch_size", "4"},
                                                                      {"model.global_batch_size", "8"},
                                                                      {"model.tensor_model_parallel_size", "1"},
                                                                      {"model.pipeline_model_parallel_size", "1"},
                                                                      {"model.encoder_seq_length", "512"},
                                                                      {"model.max_position_embeddings", "512"},
                                                                      {"model.num_layers", "12"},
                                                                      {"model.hidden_size", "768"},
                                                                      {"model.ffn_hidden_size", "3072"},
                                                                      {"model.num_attention_heads", "12"},
                                                                      {"model.make_vocab_size_divisible_by", "128"},
                                                                      {"model.optim.name", "fused_adam"}};
  RecipeSettings settings;
  for (const auto& [key, value] : kUsual) settings.push_back({std::string(key), std::string(value)});
  return settings;
}

void read_hydra_file(const RecipeSource& source, RecipeReading& reading) {
  HydraLine line = hydra_line(source, reading);
  std::string& file = line.named.value;
  const bool is_usual = file.empty() && !line.words.empty();
  const auto says_size = [](const std::string& word) {
    return word.find("model.") != std::string::npos && word.find('=') != std::string::npos;
  };
  if (is_usual && std::ranges::none_of(line.words, says_size))
    throw InputError(source.path, {{"--config-name", "is not given, and no size is: all stands in a file beside that script",
                                    "add --config-name=NAME, and have NAME.yaml beside this file"}});
  if (file.empty() && !is_usual) return;
  if (!file.empty() && !file.ends_with(".yaml") && unknowns_in(file).empty()) file += ".yaml";
  RecipeSettings settings = is_usual ? usual_hydra_file() : read_yaml_as_it_stands(text_beside(source, reading, line.named), file);
  if (is_usual)
    reading.unknown.push_back({"--config-name",
                               "is not given: what the line does not say is taken from NeMo's example, megatron_gpt_config.yaml",
                               "give the file, if it is another"});
  for (const std::string& word : line.words) change_as_said(word, settings);
  fill_references(settings);
  reading.settings = std::move(settings);
}

const std::string_view kHydraWithoutEffect =
    " trainer.enable_checkpointing exp_manager.checkpoint_callback_params.model_parallel_size config-name config-path config-dir "
    "exp_manager.* trainer.* run.* hydra.* defaults name restore-from-path model.tokenizer.* "
    "model.nsys_profile.* model.data.* model.fp8* "
    "model.optim.sched.* model.gc_* use-scaled-init-method do-layer-norm-weight-decay pre-process post-process "
    "grad-allreduce-chunk-size-mb grad-div-ar-fusion resume-from-checkpoint "
    "apex-transformer-log-level mcore-gpt "
    "seq-len-interpolation-factor normalize-attention-scores reduce-amax contiguous-grad-buffer "
    "contiguous-param-buffer capturable megatron-legacy grad-sync-dtype attention-type get-attention-mask-from-fusion ";

bool is_of_nemo_hydra(const RecipeSettings& settings) {
  const auto has = [&](std::string_view before) {
    return std::ranges::any_of(settings, [&](const RecipeSetting& one) { return one.key.starts_with(before); });
  };
  return has("trainer.") && has("exp_manager.") && has("model.");
}

// Its formats of 8 bit stand there whether model.fp8 is on or not; groups of queries need no other word; nodes are often whoever starts it to say.
RecipeSettings arguments_of_nemo_hydra(const RecipeSettings& settings) {
  const RecipeSetting *const scales = first_named("model.fp8", settings), *const groups = first_named("model.num_query_groups", settings);
  const bool is_scaled = scales != nullptr && is_on(scales->value);
  RecipeSettings arguments;
  for (const RecipeSetting& setting : settings)
    arguments.push_back(!is_scaled && setting.key.starts_with("model.fp8") ? setting : argument_of_hydra(setting));
  const RecipeSetting* const optimizer = first_named("model.optim.name", settings);
  if (optimizer != nullptr && optimizer->value == "distributed_fused_adam" && first_named("model.optim.bucket_cap_mb", settings) == nullptr)
    arguments.push_back({"bucket-cap-mb", "100", "", true});                     // apex' own
  const RecipeSetting* const type = first_named("trainer.precision", settings);  // off by itself (megatron_base_model.py)
  if (type != nullptr && type->value.find("16") != std::string::npos && first_named("model.megatron_amp_O2", settings) == nullptr)
    arguments.push_back({"megatron-amp-O2", "false", "", true});
  if (groups != nullptr && is_on(groups->value)) arguments.push_back({"group-query-attention", "true"});
  if (first_named("trainer.devices", settings) != nullptr && first_named("trainer.num_nodes", settings) == nullptr)
    arguments.push_back({"nnodes", "auto"});
  return arguments;
}

}  // namespace sim
