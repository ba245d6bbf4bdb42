// torchtitan: a Python recipe for `--module plan --config plan`, and the pipeline's order as CSV beside it where the plan has one that PyTorch has no name for.
// Its released TOML files (before 0.3) and command line have the same names and are read, too.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "sim/recipe/beside.h"
#include "sim/recipe/primus.h"
#include "sim/recipe/torchtitan.h"
#include "sim/recipe/torchtitan_refusals.h"
#include "sim/recipe/torchtitan_registry.h"
#include "sim/recipe/torchtitan_scales.h"
#include "sim/units/at.h"
#include "sim/units/number_text.h"

namespace sim {
namespace {

void refuse_meshes(const ParallelPlan& plan, Judgement& judgement) {
  const DeviceMesh& mesh = plan.mesh;
  judgement.refuse((plan.zero_stage == 1 || plan.zero_stage == 2) && mesh.copies() > 1, "/zero_stage",
                   fmt::format("stage {}: torchtitan keeps everything whole, or shards parameters, too", plan.zero_stage),
                   "plan with --fix zero=3 or zero=0");
  judgement.refuse(plan.zero_stage == 0 && mesh.context > 1, "/zero_stage",
                   fmt::format("context ranks ({}) share parameters there", mesh.context), "plan with --fix zero=3");
  judgement.refuse(mesh.replicas > 1 && (plan.zero_stage != 3 || mesh.data % mesh.replicas != 0), "/mesh/replicas",
                   fmt::format("{} replicas of stage {} over {} data ranks", mesh.replicas, plan.zero_stage, mesh.data),
                   "plan with --fix zero=3 and replicas that divide the data degree");
  judgement.refuse(mesh.context > 1 && plan.context_algorithm != ContextAlgorithm::AllGather, "/context_algorithm",
                   fmt::format("{}: torchtitan gathers keys and values", sim::at(kContextAlgorithmNames, plan.context_algorithm)),
                   "plan with --fix context_algorithm=all_gather");
  const std::int64_t dense = std::int64_t{plan.zero_stage == 3 ? mesh.data / std::max(1, mesh.replicas) : 1} * mesh.context * mesh.tensor;
  judgement.refuse(dense % mesh.expert != 0, "/mesh/expert",
                   fmt::format("dp_shard x cp x tp = {} is not efsdp x ep for ep {}", dense, mesh.expert),
                   "plan with --fix zero=3, and an expert degree that divides it");
  judgement.refuse(mesh.expert > 1 && mesh.expert_cut() != 1, "/mesh/expert_tensor",
                   fmt::format("expert {} with {} ranks that share each: experts are whole there", mesh.expert, mesh.expert_cut()),
                   "plan with --fix expert_tensor=1");
}

void judge_torchtitan(const ParallelPlan& plan, Judgement& judgement) {
  const Precision precision = plan.workload.precision.compute();
  refuse_meshes(plan, judgement);
  judgement.refuse(goes_as_csv(plan) && plan.placement() == ChunkPlacement::V, "/schedule",
                   fmt::format("{} places chunks like a V, which torchtitan does for ZBVZeroBubble and DualPipeV alone", plan.schedule),
                   "plan with --fix schedule=zbv, dualpipev or interleaved");
  judgement.refuse(precision != Precision::Bf16 && precision != Precision::Fp32, "/workload/precision",
                   fmt::format("there is no setting for {}", sim::at(kPrecisionNames, precision)), "plan with --precision bf16 or fp32");
  judgement.refuse(plan.microbatch_group > 0, "/microbatch_group", "groups of microbatches have the sizes there that PyTorch gives them",
                   "leave it out of the plan, or export to Megatron-LM");
  judgement.refuse(plan.offload_optimizer && !plan.offload_parameters, "/offload_optimizer",
                   "torchtitan offloads parameters with the optimizer, or nothing",
                   "plan with --fix offload_optimizer=false, or export to DeepSpeed");
  note_units(plan, judgement);
  note_reshard(plan, judgement);
  judgement.note(goes_as_csv(plan), "/schedule",
                 fmt::format("{} has no name there: its order stands in {}", plan.schedule, kPipelineOrder.file),
                 "keep the file beside the recipe");
  judgement.note(goes_as_csv(plan), "/order", "stands in the plan when it comes back", "nothing to do");
  judgement.note(takes_chunks(plan), "/schedule", fmt::format("{} is performed in PyTorch's own order", plan.schedule),
                 "export to csv for this plan's");
  refuse_other_networks(plan.model, judgement);
  judgement.refuse(plan.model.tied_embeddings && has_stages(plan), "/model/tie_word_embeddings",
                   "embedding and head are not shared over stages there", "plan with --fix pipeline=1");
  judgement.note(true, "", fmt::format("rates and data are those of {}", torchtitan_kind(plan.model).function), "set them in the recipe");
  judgement.note(precision == Precision::Bf16 && !reduces_in_fp32(plan), "/workload/precision", "gradients are reduced in fp32 there",
                 "plan with --fp32-gradients");
  const Modules modules = plan.recomputed_modules();
  judgement.note(plan.recompute == Recompute::Selective && modules.none(), "/recompute", "selective is another choice of operators there",
                 "a fused attention kernel needs none; otherwise use recompute=full");
  judgement.refuse(plan.recompute_scope != RecomputeScope{.modules = modules} || !(modules.none() || modules == Modules(Module::Op)),
                   "/recompute_scope", fmt::format("\"{}\" has no setting there", to_text(plan.recompute_scope)),
                   "recompute all blocks, or modules op");
  judgement.note(plan.vocabulary_multiple != 128, "/vocabulary_multiple", "the vocabulary is the model's",
                 fmt::format("pad it to a multiple of {}", plan.vocabulary_multiple));
  judgement.note(plan.zero_stage == 3 && plan.mesh.copies() == 1, "/zero_stage", "one rank has nothing to share", "nothing to do");
  judgement.note(plan.zero_stage != 0 && plan.zero_stage != 3 && plan.mesh.copies() == 1, "/zero_stage", "one rank has nothing to share",
                 "nothing to do");
  judgement.note(plan.zero_stage != 3, "/bucket_size", "gradients are reduced in buckets of 100 MiB", "nothing to do");
  judgement.note(plan.prefetch != 1, "/prefetch", "FSDP 2 gathers one unit ahead", "nothing to do");
  const bool each = plan.zero_stage == 3 && !has_stages(plan);
  judgement.note(plan.num_microbatches() > 1 && each != (plan.accumulation == Accumulation::ReduceEach), "/accumulation",
                 each ? "gradients are reduced with every microbatch there" : "gradients are reduced with the last microbatch there",
                 "simulate the plan imported again");
  judgement.note(plan.workload.optimizer != OptimizerKind::AdamW, "/workload/optimizer", "the recipe has AdamW", "change its optimizer");
  judgement.note(true, "/training", "rates, number of steps and checkpoints are of the recipe it starts from", "set them there");
}

std::string python_value(const std::string& value) {
  if (value == "true" || value == "false") return value == "true" ? "True" : "False";
  return is_literal(value) || value == "None" || value.ends_with(")") ? value : "\"" + value + "\"";
}

// `NAME = dict(...)` of the settings whose keys begin with that section.
std::string dictionary(std::string_view name, std::string_view section, const RecipeSettings& settings) {
  std::string text = fmt::format("{} = dict(", name);
  for (const RecipeSetting& setting : settings)
    if (setting.key.starts_with(section))
      text += fmt::format("{}{}={}", text.ends_with("(") ? "" : ", ", leaf_of(setting.key), python_value(setting.value));
  return text + ")\n";
}

std::vector<RecipeFile> torchtitan_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  std::string text =
      comment_lines(head) + fmt::format("#\n#   torchrun --nnodes {} --nproc-per-node {} -m torchtitan.train --module plan --config plan\n",
                                        plan.cluster.hosts(), plan.cluster.devices_per_host());
  text += "from dataclasses import replace\nfrom functools import partial\n\nimport torch.nn as nn\n";
  if (const std::string policy = *written_recomputation(plan); policy != "None")
    text += fmt::format("from torchtitan.distributed.activation_checkpoint import {}\n", policy.substr(0, policy.find('.')));
  const TorchtitanKind& kind = torchtitan_kind(plan.model);
  text += network_imports(kind) + "\n" + dictionary("SIZES", "network.", settings) + dictionary("ROPE", "rope.", settings) +
          network_builder(kind);
  text += fmt::format(
      "\n\ndef plan() -> Trainer.Config:\n    config = {}()\n"
      "    config.model_spec = replace(config.model_spec, flavor=\"plan\", model=network(SIZES))\n"
      "    config.loss.loss_fn.global_vocab_size = SIZES[\"vocab_size\"]\n",
      kind.function);
  for (const RecipeSetting& setting : settings)
    if (!setting.key.starts_with("network.") && !setting.key.starts_with("rope.") && setting.key != kOptionOfToml &&
        setting.key != kIsOfToml)
      text += fmt::format("    config.{} = {}\n", setting.key, python_value(setting.value));
  std::vector<RecipeFile> files = {{std::string(kTorchtitan.file), text + "    return config\n"}};
  if (goes_as_csv(plan)) files.push_back({std::string(kPipelineOrder.file), order_csv(plan)});
  return files;
}

// `from torchtitan.models.llama3.config_registry import llama3_70b`: the function that a recipe starts from. Our own starts from none: it has sizes.
void add_function(const std::string& text, RecipeSettings& settings) {
  const std::string_view mark = ".config_registry import ";
  const std::size_t at = text.find(mark), module = text.rfind("models.", at);
  if (at == std::string::npos || module == std::string::npos || text.find("SIZES = dict(") != std::string::npos) return;
  const std::size_t begin = text.find_first_not_of(" (\r\n\t", at + mark.size());  // from a import (\n b,\n)
  std::size_t end = std::min(begin, text.size());
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
  settings.insert(settings.begin(), {{"model.name", text.substr(module + 7, at - module - 7)},
                                     {"function", text.substr(std::min(begin, end), end - std::min(begin, end))}});
}

// Of our own recipe: what builds the network from its sizes says nothing more.
std::string without_builder(const std::string& text) {
  const std::size_t begin = text.find("\ndef "), end = text.find("def plan()");
  return begin == std::string::npos || end == std::string::npos || end < begin ? text : text.substr(0, begin) + text.substr(end);
}

// `CONFIG_FILE=some.toml ./run_train.sh`, torchtitan's own way to start; without it the script takes debug_model.toml.
void take_file_of_environment(RecipeReading& reading) {
  if (reading.command.find("run_train.sh") == std::string::npos || first_named("job.config_file", reading.settings) != nullptr) return;
  const auto found = reading.environment.find("CONFIG_FILE");
  reading.settings.push_back({"job.config_file", found == reading.environment.end() ? "debug_model.toml" : found->second});
}

// `--job.config_file some.toml`: what the line says stands above it.
void read_file_of_command(const RecipeSource& source, RecipeReading& reading) {
  const auto named = std::ranges::find(reading.settings, "job.config_file", &RecipeSetting::key);
  if (named == reading.settings.end()) return;
  const RecipeSetting one = *named;
  RecipeSettings all = read_assignments(text_beside(source, reading, one), one.value);
  reading.settings.erase(named);
  put_below(reading, std::move(all));
}

// Primus' YAML: changes of a configuration of its own, and the network by the name of a file, "llama3.1_70B.yaml", "qwen3_1.7b.yaml".
void read_network_of_primus(std::string name, RecipeSettings& settings) {
  name = name.substr(0, name.rfind(".yaml"));
  const std::size_t cut = name.rfind('_');
  if (cut == std::string::npos) return;
  std::string module = name.substr(0, cut), flavor = name.substr(cut + 1);
  module.resize(std::min(module.find('.'), module.size()));
  std::ranges::transform(flavor, flavor.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  settings.push_back({"model.name", std::move(module)});
  settings.push_back({"model.flavor", std::move(flavor)});
}
RecipeReading settings_of_primus(const RecipeSource& source) {
  PrimusFile file = primus_file(source);
  RecipeReading reading{std::move(file.overrides), {}, {}};
  read_network_of_primus(std::move(file.network), reading.settings);
  for (RecipeSetting& one : file.others) reading.settings.push_back(std::move(one));
  reading.unknown.push_back({"pre_trainer.yaml", "is Primus' own file: what it sets of degrees, batch and recomputation is not read",
                             "see what it sets, where this file does not"});
  return reading;
}

// Each makes one configuration, and a plan is of one. An underscore in front names a helper; what is indented is of a class.
void refuse_several_functions(const RecipeSource& source) {
  int found = 0;
  bool is_public = false;
  std::istringstream lines(source.text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("def ")) is_public = !line.starts_with("def _");
    const bool ends_head = line.starts_with("def ") || line.starts_with(")");  // of arguments on lines of their own
    if (ends_head && is_public && line.find("-> ") != std::string::npos && line.ends_with("Trainer.Config:")) ++found;
  }
  if (found > 1)
    throw InputError(source.path,
                     {{"", fmt::format("makes {} configurations, one in each function", found), "give a file with one of them"}});
}

// Of releases that read TOML (torchtitan/config/job_config.py, 0.1 and 0.2): whole blocks, every second one.
void add_usual_recomputation(RecipeSettings& settings) {
  const RecipeSetting* const mode = first_named("activation_checkpoint.mode", settings);
  const bool says_mode = mode != nullptr, is_selective = !says_mode || mode->value == "selective";
  const bool says_option = first_named(kOptionOfToml, settings) != nullptr;
  if (!says_mode) settings.push_back({.key = "activation_checkpoint.mode", .value = "selective", .is_default = true});
  if (is_selective && !says_option) settings.push_back({.key = std::string(kOptionOfToml), .value = "2", .is_default = true});
}

constexpr std::string_view kOneForEachStage = "one for each stage";

// Releases that kept the pipeline's degree under [experimental] counted microbatches, by themselves one for each stage.
void add_usual_microbatches(RecipeSettings& settings) {
  const auto says = [&](std::string_view leaf) {
    return std::ranges::any_of(settings, [&](const RecipeSetting& one) { return leaf_of(one.key) == leaf; });
  };
  const RecipeSetting* const degree = first_named("experimental.pipeline_parallel_degree", settings);
  if (degree == nullptr || degree->value == "1" || says("pipeline_parallel_microbatches") || says("pipeline_parallel_microbatch_size"))
    return;
  settings.push_back({.key = "pipeline_parallel_microbatches", .value = std::string(kOneForEachStage), .is_default = true});
}

// The small network for tries had other sizes in the releases whose degrees stand under [experimental] and [training].
bool is_older_debug_network(const RecipeSettings& settings) {
  const RecipeSetting* const flavor = first_named("model.flavor", settings);
  const auto is_older = [](const RecipeSetting& one) {
    return one.key.starts_with("experimental.") && one.key.ends_with("_degree") && !one.is_default;
  };
  return flavor != nullptr && flavor->value == "debugmodel" && std::ranges::any_of(settings, is_older);
}

RecipeReading torchtitan_settings(const RecipeSource& source) {
  refuse_several_functions(source);
  if (is_of_primus(source.text, "torchtitan")) return settings_of_primus(source);
  const bool is_python = source.text.find("def ") != std::string::npos || source.text.find("import ") != std::string::npos;
  const bool is_command =
      !is_python && (source.text.find("--parallelism.") != std::string::npos || source.text.find("--training.") != std::string::npos ||
                     source.text.find("--module") != std::string::npos || source.text.find("--job.config_file") != std::string::npos ||
                     source.text.find("<<") != std::string::npos);  // a script may write the file, and start nothing
  RecipeReading reading = is_command ? read_shell(source.text, source.path, source.given)
                                     : RecipeReading{read_assignments(without_builder(source.text), source.path), {}, {}};
  RecipeSettings& settings = reading.settings;
  if (is_command) take_file_of_environment(reading);
  read_file_of_command(source, reading);
  if (is_python) add_function(source.text, settings);
  add_usual_microbatches(settings);
  if (is_older_debug_network(settings))
    reading.unknown.push_back(
        {"model.flavor",
         "is debugmodel in a file of a release that kept degrees under [experimental], whose debugmodel had 8 blocks; "
         "the plan has those of 0.3.0, 6",
         "give --model, or another flavor"});
  bool is_toml = !is_python;
  for (RecipeSetting& setting : settings) {
    std::string& key = setting.key;
    if (key.starts_with("config.")) key.erase(0, 7);
    if (is_command && key == "config") key = "function";
    if (key == "function" || key == "module") is_toml = false;
    if (!is_known_to(source.program, key) && is_known_to(source.program, leaf_of(key))) key = leaf_of(key);
  }
  std::stable_partition(settings.begin(), settings.end(),
                        [](const RecipeSetting& one) { return leaf_of(one.key) == "pipeline_parallel_degree"; });
  if (is_toml) {
    add_usual_recomputation(settings);
    settings.push_back({.key = std::string(kIsOfToml), .value = "true", .is_default = true});
  }
  return reading;
}

// What the registry's function sets, where the file does not. Older files set all of theirs themselves.
void settle_function(Draft& draft) {
  if (const TorchtitanFunction* const function = function_of(draft)) {
    ParallelPlan& plan = draft.plan;
    if (!draft.local_batch) draft.local_batch = function->local_batch;
    if (!draft.sequence) draft.sequence = function->sequence;
    if (!draft.said.contains("optimizer.lr")) plan.training.learning_rate = function->learning_rate;
    if (!draft.said.contains("parallelism.tensor_parallel_degree")) plan.mesh.tensor = function->tensor;
    if (!draft.said.contains("parallelism.pipeline_parallel_schedule")) plan.schedule = function->schedule;
    if (function->scales && !draft.scales_products) draft.scales_products = true, draft.scales = function->scales;
    if (!function->lost.empty()) draft.lost.push_back({std::string(function->name), std::string(function->lost), "mind time and memory"});
    if (!draft.said.contains("parallelism.expert_parallel_degree")) plan.mesh.expert = function->expert;
    if (!draft.said.contains("activation_checkpoint") && function->recompute != Recompute::Selective)
      return static_cast<void>(plan.recompute = function->recompute);
  }
  if (!draft.sequence) draft.sequence = 2048;
  if (draft.said.contains("activation_checkpoint")) return;
  draft.plan.recompute = Recompute::Selective;
  draft.plan.recompute_scope.modules = Module::Op;
}

// Layers and a weight for each end are dealt out evenly, the first parts get one more (distributed/pipeline_parallel.py, release 0.3.0):
// 32 layers in 4 parts are 8, 9, 8 and 7.
void settle_parts(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t stages = plan.mesh.pipeline, first = draft.less_layers.first, last = draft.less_layers.last;
  const bool looped = takes_chunks(plan);
  const std::int64_t all = plan.model.layers + first + last, each = draft.blocks_of_chunk.value_or(0);
  const bool is_named = !draft.blocks.empty();
  const std::int64_t asked = is_named ? std::ssize(draft.blocks) : each > 0 ? (all + each - 1) / each : stages * (looped ? 2 : 1);
  plan.chunks = static_cast<std::int32_t>(std::clamp<std::int64_t>(asked / stages, 1, 10'000));
  const std::int64_t parts = stages * plan.chunks;
  if (is_named || parts > all) return;
  for (std::int64_t part = 0; part < parts; ++part)
    draft.blocks.push_back(all / parts + (part < all % parts ? 1 : 0) - (part == 0 ? first : 0) - (part == parts - 1 ? last : 0));
}

PrecisionPolicy all_in_bf16(const PrecisionPolicy& policy) {
  return policy.with(Numbers::Masters, Precision::Bf16).with(Numbers::Moments, Precision::Bf16);
}

// Releases that read TOML left the types to fully_shard, and to autocast on data ranks alone (distributed/utils.py, maybe_enable_amp).
bool mixes_types(const Draft& draft) {
  const DeviceMesh& mesh = draft.plan.mesh;
  const std::int64_t parts = std::int64_t{mesh.pipeline} * mesh.tensor;
  return !flag_of(draft, std::string(kIsOfToml), false) || parts == 1 || mesh.context > 1 || shards_over_data(draft);
}

// Gradients are summed in fp32, but in forks; one type for weights and states: no fp32 copies.
PrecisionPolicy types_of_torchtitan(Draft& draft) {
  const bool are_bf16 = text_of(draft, "training.dtype", "float32") == "bfloat16", mixes = mixes_types(draft);
  const Precision products = draft.precision.value_or(Precision::Bf16), stored = are_bf16 ? Precision::Bf16 : Precision::Fp32;
  if (!mixes && products != stored)
    draft.notes.push_back({"mixed_precision_param",
                           "is without effect on tensor or pipeline ranks without sharding: these releases then compute in training.dtype",
                           "shard on data ranks, or write dtype = \"bfloat16\" where bf16 is meant"});
  const bool sums_in_fp32 = mixes ? text_of(draft, "training.mixed_precision_reduce", "float32") != "bfloat16" : !are_bf16;
  const PrecisionPolicy scaled = products_of(draft, mixes ? products : stored, ScaleRecipe::Tensorwise);
  PrecisionPolicy policy = mixed_precision(scaled.scales() ? scaled.with_unscaled(unscaled_by_torchao(draft)) : scaled, sums_in_fp32);
  if (scaled.scales() && scales_head_by_torchao(draft)) policy = policy.with_scaled_head();
  return are_bf16 && policy.compute() == Precision::Bf16 ? all_in_bf16(policy) : policy;
}

// Samples of a microbatch, of those that a data rank has in one pass of the pipeline.
std::int64_t samples_of_microbatch(Draft& draft, std::int64_t local) {
  const std::string pieces = text_of(draft, "parallelism.pipeline_parallel_microbatches", "");
  const std::int64_t parts = std::int64_t{draft.plan.mesh.pipeline} * draft.plan.chunks;
  if (pieces == kOneForEachStage)
    draft.notes.push_back(
        {"pipeline_parallel_microbatches",
         fmt::format("is not in the file: {} microbatches are taken, one for each stage, as torchtitan had by itself then", parts),
         "write it, if it is another"});
  const std::int64_t count = pieces.empty() ? 0 : pieces == kOneForEachStage ? parts : sim::number_in<std::int64_t>(pieces).value_or(0);
  const std::int64_t micro = count > 0 ? local / count : draft.microbatch.value_or(1);
  if (micro < 1 || local % micro != 0 || (count > 0 && local % count != 0))
    draft.wrong.push_back({"pipeline_parallel_microbatch_size",
                           fmt::format("cuts the {} samples of a data rank into unequal microbatches", local), "correct one of them"});
  return std::max<std::int64_t>(1, micro);
}

// Each step of accumulation is a pass of its own: the pipeline drains, and fills again (torchtitan/train.py, train_step).
void settle_passes(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t local = draft.local_batch.value_or(8), micro = samples_of_microbatch(draft, local);
  const std::int64_t data = plan.cluster.devices / std::max(1, plan.mesh.pipeline * plan.mesh.tensor * plan.mesh.context);
  const std::int64_t steps = draft.accumulation_steps.value_or(1);
  const std::int64_t passes = draft.global_batch ? *draft.global_batch / std::max<std::int64_t>(1, local * data) : steps;
  draft.microbatch = micro;
  if (draft.accumulation_steps || !draft.global_batch) draft.accumulation_steps = local / micro * steps;
  plan.passes = static_cast<std::int32_t>(std::clamp<std::int64_t>(passes, 1, kMostMicrobatches));
  const bool shards = draft.shard != 1 && data > draft.replicate.value_or(1);
  if (plan.passes > 1 && shards)
    draft.lost.push_back(
        {"training.global_batch_size",
         fmt::format("makes a step of {} passes, each of which reduces gradients; the plan reduces them once", plan.passes),
         "mind the time of the others' reductions"});
}

// Inductor pipelines exchanges with products of compiled blocks alone (distributed/compile.py).
void settle_tensor_overlap_of_titan(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const TorchtitanFunction* const function = function_of(draft);
  const bool asks = flag_of(draft, "compile.enable_async_tensor_parallel", function != nullptr && function->sends_along_products);
  if (asks && plan.sequence_parallel) plan.tensor_overlap = TensorOverlap::AlongProducts;
}

// run_train.sh starts torchrun on one node, by itself with eight processes.
void take_processes_of_its_script(Draft& draft) {
  if (draft.processes || draft.launch.command.find("run_train.sh") == std::string::npos) return;
  constexpr std::int64_t kByItself = 8;
  const auto said = draft.launch.environment.find("NGPU");
  draft.are_processes_certain = false;  // several nodes may start it
  draft.processes = said == draft.launch.environment.end() ? kByItself : sim::number_in<std::int64_t>(said->second).value_or(kByItself);
}

void settle_torchtitan(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  take_processes(draft);
  take_processes_of_its_script(draft);
  settle_function(draft);
  const std::int64_t stages = plan.mesh.pipeline;
  if (text_of(draft, "parallelism.context_parallel_rotate_method", "") == "alltoall") plan.context_algorithm = ContextAlgorithm::Ring;
  plan.workload.precision = types_of_torchtitan(draft);
  plan.sequence_parallel = draft.sequence_parallel.value_or(true) && plan.mesh.tensor > 1;
  settle_tensor_overlap_of_titan(draft);
  refuse_what_torchtitan_stops_at(draft);
  if (!draft.shard) draft.shard = -1;
  if (stages == 1) {
    draft.blocks.clear(), draft.order_file.clear(), plan.schedule = "1f1b";
    draft.microbatch = draft.local_batch.value_or(8);  // torchtitan's default
    if (!draft.global_batch) draft.accumulation_steps = draft.accumulation_steps.value_or(1);
  } else {
    settle_parts(draft);
    settle_passes(draft);
  }
  draft.reduces_each = stages == 1 && draft.shard != 1;
  if (!plan.model.experts) plan.workload.expert_loads = {};
  if (draft.shard == 1) plan.bucket_size = Bytes(100 << 20);
}

// FSDP 2 reduces in fp32 (mixed_precision_reduce, which accepts nothing else) and gathers ahead; whole weights are replicated with bucket_cap_mb=100.
void torchtitan_habits(ParallelPlan& plan) {
  const bool in_bf16 = keeps_all_in_bf16(plan.workload.precision);
  plan.workload.precision = mixed_precision(plan.workload.precision, true);
  if (in_bf16) plan.workload.precision = all_in_bf16(plan.workload.precision);
  plan.bucket_size = plan.zero_stage == 3 ? Bytes(25 << 20) : Bytes(100 << 20);
  plan.prefetch = 1;
  plan.vocabulary_multiple = 128;
}

bool is_summed_in_fp32_of_bf16(const PrecisionPolicy& policy) {
  return keeps_all_in_bf16(policy) && policy.of(Numbers::Wire) == Precision::Fp32;
}

}  // namespace

const Program kTorchtitan = {
    .name = "torchtitan",
    .title = "torchtitan",
    .version = "0.3.0",
    .file = "plan.py",
    .marks =
        "data_parallel_shard_degree data_parallel_degree data_parallel_replicate_degree "
        "tensor_parallel_degree+!sharding_parallel_degree+!paddle pipeline_parallel_degree+!sharding_parallel_degree+!paddle "
        "context_parallel_degree expert_parallel_degree --parallelism. --training.+!oumi "
        "--model.flavor --job.config_file [model]+flavor+[training] torchtitan",
    .fields = torchtitan_fields(),
    .judge = judge_torchtitan,
    .files = torchtitan_files,
    .settings = torchtitan_settings,
    .settle = settle_torchtitan,
    .lost = torchtitan_lost(),
    .without_effect = kTorchtitanWithoutEffect,
    .training = {.learning_rate = 8e-4, .warmup_steps = 200},
    .network = torchtitan_network,
    .software = "torchtitan-2026",
    .habits = torchtitan_habits,
    .says_types = is_summed_in_fp32_of_bf16};

}  // namespace sim
