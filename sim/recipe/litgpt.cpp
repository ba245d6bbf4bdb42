// LitGPT: the YAML of `litgpt pretrain`, `finetune_full` and `finetune_lora`, or their command lines. Only read. Which of them a file is for stands in its
// names: a checkpoint to begin with, a rank of adapters, or neither. The layout is of its code: Fabric's FSDP over all devices.
// Facts: litgpt/{args,pretrain}.py, litgpt/finetune/{full,lora}.py (Lightning-AI/litgpt, 0.5.13).
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/accounting.h"
#include "sim/recipe/beside.h"
#include "sim/recipe/lightning.h"
#include "sim/recipe/litgpt_networks.h"
#include "sim/recipe/program.h"
#include "sim/recipe/said_values.h"

namespace sim {
namespace {

void read_optimizer_of_litgpt(const Value& v, Draft& d) {
  constexpr std::pair<std::string_view, OptimizerKind> kNames[] = {{"Adam", OptimizerKind::AdamW},
                                                                   {"AdamW", OptimizerKind::AdamW},
                                                                   {"AdamW8bit", OptimizerKind::AdamW8bit},
                                                                   {"SGD", OptimizerKind::Sgd},
                                                                   {"PagedAdamW", OptimizerKind::AdamW},
                                                                   {"Muon", OptimizerKind::Muon},
                                                                   {"PagedAdamW8bit", OptimizerKind::AdamW8bit},
                                                                   {"PagedAdamW32bit", OptimizerKind::AdamW}};
  const std::string name = leaf_of(v.text());
  d.plan.paged_optimizer = name.starts_with("Paged");
  for (const auto& [known, kind] : kNames)
    if (name == known) return static_cast<void>(d.plan.workload.optimizer = kind);
  v.lost(fmt::format("is {}, which no plan has: AdamW is taken", v.text()), "mind its state's memory and its time");
}

constexpr std::string_view kNormsOfLitgpt[] = {"LayerNorm", "RMSNorm"};
constexpr std::string_view kMlpsOfLitgpt[] = {"GptNeoxMLP", "LLaMAMLP", "GemmaMLP", "LLaMAMoE"};

constexpr Field kLitgptFields[] = {
    {"train.micro_batch_size", "", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }, true},
    {"train.global_batch_size", "", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) { d.global_batch = v.count(); }, true},
    {"train.max_seq_length", "train.max_seq_len", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.sequence = v.count();
     },
     true},
    {"train.tie_embeddings", "", nullptr, flag_said},
    {"model_config.n_layer", "", nullptr, number_said, true},  // a network of its own
    {"model_config.n_embd", "", nullptr, number_said},
    {"model_config.n_head", "", nullptr, number_said},
    {"model_config.n_query_groups", "", nullptr, number_said},
    {"model_config.head_size", "", nullptr, number_said},
    {"model_config.intermediate_size", "", nullptr, number_said},
    {"model_config.block_size", "", nullptr, number_said},
    {"model_config.vocab_size", "", nullptr, number_said},
    {"model_config.padded_vocab_size", "", nullptr, number_said},
    {"model_config.bias", "", nullptr, flag_said},
    {"model_config.parallel_residual", "", nullptr, flag_said},
    {"model_config.rotary_percentage", "", nullptr, number_said},
    {"model_config.rope_base", "", nullptr, number_said},
    {"model_config.norm_class_name", "", nullptr, word_said<kNormsOfLitgpt>},
    {"model_config.mlp_class_name", "", nullptr, word_said<kMlpsOfLitgpt>},
    {"model_config.name", "", nullptr, only_said},
    {"model_config.hf_config", "", nullptr, only_said},
    {"train.max_norm", "", [](const ParallelPlan& p) { return written_number(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = is_on(v.text()) ? v.number() : 0; }},
    {"train.min_lr", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.minimum_learning_rate = v.number(); }},
    {"train.lr_warmup_steps", "", nullptr,
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.plan.training.warmup_steps = v.count();
     }},
    {"precision", "", nullptr, only_said},
    {"devices", "", nullptr, runs_said},
    {"num_nodes", "", nullptr, number_said},
    {"checkpoint_dir", "", nullptr, only_said, true},  // all else has a default
    {"model_name", "", nullptr, only_said, true},
    {"optimizer.class_path", "optimizer", nullptr, read_optimizer_of_litgpt},
    {"optimizer.init_args.lr", "train.learning_rate optimizer.lr", nullptr,
     [](const Value& v, Draft& d) { d.plan.training.learning_rate = v.number(); }},
    {"optimizer.init_args.weight_decay", "train.weight_decay optimizer.weight_decay", nullptr,
     [](const Value& v, Draft& d) { d.plan.training.weight_decay = v.number(); }},
    {"optimizer.init_args.betas", "optimizer.betas", nullptr, read_pair_of_betas},
    {"optimizer.init_args.eps", "optimizer.eps", nullptr, [](const Value& v, Draft& d) { d.plan.training.epsilon = v.number(); }},
    {"train.beta1", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.beta1 = v.number(1); }},
    {"train.beta2", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.beta2 = v.number(1); }},
    {"seed", "", nullptr, [](const Value& v, Draft& d) { d.plan.training.seed = static_cast<std::uint64_t>(v.number(1e15)); }},
    {"quantize", "", nullptr, only_said},
    {"lora_r", "", nullptr, number_said},
    {"lora_alpha", "", nullptr, number_said},
    {"lora_dropout", "", nullptr, number_said},
    {"lora_query", "", nullptr, flag_said},
    {"lora_key", "", nullptr, flag_said},
    {"lora_value", "", nullptr, flag_said},
    {"lora_projection", "", nullptr, flag_said},
    {"lora_mlp", "", nullptr, flag_said},
};

constexpr LostSetting kLitgptLost[] = {
    {"model_config.*", "a word about a network of its own that is not read"},
    {"lora_head", "pairs beside the head, which a plan has no word for"},
    {"optimizer.init_args.* optimizer.*", "a setting of the optimizer that no plan has"},
    {"train.lr_warmup_fraction", "a share of the run; the plan warms up by steps"},
    {"finetune_adapter", "prompts in front of attention that are trained alone; the plan trains all weights"},
    {"longlora longlora.*", "attention within groups; the plan's spans the sample"},
};
constexpr std::string_view kLitgptWithoutEffect =
    "out_dir resume data data.* train.save_interval train.log_interval train.epochs train.max_tokens train.max_steps train.max_time "
    "initial_checkpoint_dir tokenizer_dir logger_name eval eval.* log log.* access_token config io.* multihead.* ";

// Behind the program's name stands what it does, and the network or checkpoint.
bool is_line_of_litgpt(std::string_view text) { return text.find("litgpt ") != std::string_view::npos && !begins_as_yaml(text); }

// `litgpt pretrain_mixed NAME` of a fork: told by its name, and its network is not left to another.
void take_other_command(const std::vector<std::string>& words, RecipeReading& reading) {
  const auto own = std::ranges::find_if(words, [](const std::string& word) { return word == "litgpt" || word.ends_with("/litgpt"); });
  if (words.end() - own < 2 || own[1].starts_with("-")) return;
  reading.settings.push_back({"litgpt " + own[1], "true"});
  if (words.end() - own > 2 && !own[2].starts_with("-"))
    reading.settings.push_back({own[1].starts_with("pretrain") ? "model_name" : "checkpoint_dir", shown(own[2])});
}

// The first word that is neither an option nor its one value.
std::vector<std::string>::const_iterator behind_options(std::vector<std::string>::const_iterator at,
                                                        std::vector<std::string>::const_iterator end) {
  while (at != end && at->starts_with("-")) at += at->find('=') != std::string::npos || at + 1 == end ? 1 : 2;
  return at;
}

// `litgpt finetune_lora DIR`: which of its programs, and the network or checkpoint. Its plain finetune is finetune_lora.
void take_command_of_litgpt(RecipeReading& reading) {
  const std::vector<std::string> words = words_of(reading.command);
  const auto program = std::ranges::find_if(words, [](const std::string& word) {
    return has_name("pretrain finetune finetune_full finetune_lora finetune_adapter finetune_adapter_v2", word);
  });
  if (program == words.end()) return take_other_command(words, reading);
  const auto take = [&](const std::string& key, const std::string& value) {
    if (first_named(key, reading.settings) == nullptr) reading.settings.push_back({key, value});
  };
  const auto next = behind_options(std::next(program), words.end());
  const bool has_name_behind = next != words.end();
  const bool tunes = *program != "pretrain";
  if (has_name_behind) take(tunes ? "checkpoint_dir" : "model_name", shown(*next));
  if (*program == "finetune" || *program == "finetune_lora") take("lora_r", "8");
  if (program->starts_with("finetune_adapter")) take("finetune_adapter", "true");
}

RecipeReading litgpt_settings(const RecipeSource& source) {
  if (!is_line_of_litgpt(source.text)) return {read_yaml(source.text, source.path), {}, {}};
  const auto is_known = [&](const std::string& key) { return is_known_to(source.program, key); };
  RecipeReading reading = read_shell(source.text, source.path, source.given, is_known);
  if (const RecipeSetting* const named = first_named("config", reading.settings))
    put_below(reading, read_yaml(text_beside(source, reading, *named), named->value));
  take_command_of_litgpt(reading);
  return reading;
}

// By the name of a network or of a checkpoint's folder, where nobody gives the network.
std::optional<ModelConfig> network_of_litgpt(Draft& draft, const RecipeContext& context) {
  const bool has_own = said(draft, "model_config.n_layer") != nullptr;
  if (context.model && has_own)
    draft.lost.push_back({"model_config", "a network of its own; the plan's is the one of --model", "leave --model out"});
  if (context.model) return std::nullopt;
  if (std::optional<ModelConfig> own = litgpt_network_of_sizes(draft)) return own;
  if (draft.said.contains("model_config.n_layer") && !context.model)
    draft.wrong.push_back(
        {"model_config",
         fmt::format("is of blocks that are not read here ({})", text_of(draft, "model_config.mlp_class_name", "of its own")),
         "give the config.json of a network like it with --model"});
  for (const char* const key : {"model_name", "checkpoint_dir"})
    if (const std::string* const name = said(draft, key); name != nullptr && !has_own)
      if (std::optional<ModelConfig> network = litgpt_network(*name)) {
        draft.notes.push_back({key, *name + ": the network that LitGPT has by that name", "give --model, if it is another"});
        return network;
      }
  return std::nullopt;
}

bool trains_pairs(const Draft& draft) { return said(draft, "lora_r") != nullptr; }

// Queries and values, where the file does not say; the joint product of its networks is cut by what reads it.
void settle_adapters_of_litgpt(Draft& draft) {
  if (!trains_pairs(draft)) {
    if (said(draft, "quantize") != nullptr)
      draft.wrong.push_back({"quantize", "weights of fewer bits are frozen, and the file names no adapters beside them", "give lora_r"});
    return;
  }
  using enum AdapterTarget;
  Adapters adapters;
  adapters.rank = std::clamp<std::int64_t>(static_cast<std::int64_t>(number_of(draft, "lora_r", 8)), 1, 1 << 20);
  const auto alpha = static_cast<std::int64_t>(number_of(draft, "lora_alpha", 16));
  adapters.alpha = alpha == adapters.rank ? 0 : alpha;
  adapters.dropout = number_of(draft, "lora_dropout", 0.05);
  if (flag_of(draft, "lora_query", true)) adapters = adapters.on(Query);
  if (flag_of(draft, "lora_key", false)) adapters = adapters.on(Key);
  if (flag_of(draft, "lora_value", true)) adapters = adapters.on(Value);
  if (flag_of(draft, "lora_projection", false)) adapters = adapters.on(Output);
  if (flag_of(draft, "lora_mlp", false))
    adapters = draft.plan.model.gated_mlp ? adapters.on(Gate).on(Up).on(Down) : adapters.on(Up).on(Down);
  const std::string quantized = text_of(draft, "quantize", "");
  adapters.base = quantized.starts_with("bnb.int8") ? BaseFormat::Int8 : is_on(quantized) ? BaseFormat::Nf4 : BaseFormat::Weights;
  draft.plan.model.adapters = adapters;
}

bool is_pretraining(const Draft& draft) { return said(draft, "checkpoint_dir") == nullptr; }

// "auto": all of a node.
void settle_devices_of_litgpt(Draft& draft) {
  const double of_node = number_of(draft, "devices", 0), nodes = number_of(draft, "num_nodes", 1);
  if (of_node >= 1) draft.processes = static_cast<std::int64_t>(std::min(of_node * nodes, 1e6));
  if (!draft.said.contains("devices") && !is_pretraining(draft)) draft.processes = 1;
}

// Of the arguments that `litgpt pretrain` has by itself.
void take_habits_of_pretraining(Draft& draft) {
  auto& training = draft.plan.training;
  if (!draft.said.contains("train.max_norm")) training.gradient_clip = 1;
  if (!draft.said.contains("train.min_lr")) training.minimum_learning_rate = 4e-5;
  if (!draft.said.contains("train.lr_warmup_steps")) training.warmup_steps = 2000;
}

void settle_litgpt(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  settle_devices_of_litgpt(draft);
  const bool pretrains = is_pretraining(draft), cuts = plan.cluster.devices > 1;
  if (cuts) draft.shard = -1;
  if (cuts && pretrains) draft.replicate = plan.cluster.nodes();  // HYBRID_SHARD
  plan.recompute = cuts && !pretrains ? Recompute::Full : Recompute::None;
  if (pretrains) take_habits_of_pretraining(draft);
  if (!draft.microbatch) draft.microbatch = pretrains ? 4 : 1;
  if (!draft.global_batch) draft.global_batch = pretrains ? 512 : 16;
  if (!draft.sequence && pretrains) draft.sequence = plan.model.max_positions;
  settle_adapters_of_litgpt(draft);
  const std::string name = text_of(draft, "precision", "");
  const std::optional<PrecisionPolicy> policy = precision_of_lightning(is_on(name) ? name : "bf16-mixed", cuts);
  if (!policy) return draft.wrong.push_back({"precision", fmt::format("is '{}', which no plan says", name), "use bf16-true or bf16-mixed"});
  plan.workload.precision = plan.model.adapters ? PrecisionPolicy(policy->compute()) : *policy;
  if (is_on(text_of(draft, "train.tie_embeddings", "")) && !plan.model.tied_embeddings)
    draft.lost.push_back({"train.tie_embeddings", "ties the head to the embedding; the plan's is apart", "mind its memory"});
  const bool has_sizes = litgpt_network_of_sizes(draft).has_value();
  for (const char* const key : {"model_name", "checkpoint_dir"})
    if (const std::string* const network = said(draft, key); network != nullptr && !has_sizes && !litgpt_network(*network))
      draft.notes.push_back({key, shown(*network) + ": the network of the plan is the one of --model", "see that it is the same"});
  if (pretrains)
    draft.lost.push_back(
        {"torch.compile", "is called on the network of a pretraining; the plan has the kernels of its software profile", "mind its time"});
}

void judge_litgpt(const ParallelPlan& plan, Judgement& judgement) { kLightning.judge(plan, judgement); }
void litgpt_habits(ParallelPlan& plan) { kLightning.habits(plan); }

}  // namespace

const Program kLitgpt = {
    .name = "litgpt",
    .title = "LitGPT",
    .version = "0.5.13",
    .file = "litgpt.yaml",
    .marks = "lr_warmup_steps:+micro_batch_size:+out_dir: litgpt+--train. litgpt+--config litgpt+pretrain+--data litgpt+finetune+--data",
    .fields = kLitgptFields,
    .judge = judge_litgpt,
    .files = no_files,
    .settings = litgpt_settings,
    .settle = settle_litgpt,
    .lost = kLitgptLost,
    .without_effect = kLitgptWithoutEffect,
    .training = {.learning_rate = 1e-3, .beta2 = 0.999, .weight_decay = 0.01, .gradient_clip = 0, .seed = 42},
    .network = network_of_litgpt,
    .software = "fsdp1",
    .trained_by = "the command that it is handed to",
    .habits = litgpt_habits};

}  // namespace sim
