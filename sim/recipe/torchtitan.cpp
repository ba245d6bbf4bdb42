// torchtitan: a Python recipe for `--module plan --config plan`, and the pipeline's order as CSV beside it where the plan has one that PyTorch has no name for.
// Its released TOML files (before 0.3) and command line have the same names and are read, too.
#include <fmt/format.h>

#include <algorithm>

#include "sim/recipe/program.h"

namespace sim {
namespace {

struct NamedSchedule {
  std::string_view ours, theirs;
};
constexpr NamedSchedule kNamedSchedules[] = {
    {"1f1b", "1F1B"}, {"gpipe", "GPipe"}, {"interleaved", "Interleaved1F1B"}, {"zbv", "ZBVZeroBubble"}};
constexpr std::string_view kReshards[] = {"always", "never", "default"};

struct BaseRecipe {
  std::string_view model_type, module, function;
};
constexpr BaseRecipe kBaseRecipes[] = {
    {"llama", "llama3", "llama3_8b"}, {"deepseek_v3", "deepseek_v3", "deepseek_v3_16b"}, {"qwen3_moe", "qwen3", "qwen3_30b_a3b"}};

const NamedSchedule* named_schedule(const ParallelPlan& plan) {
  const auto row = std::find_if(std::begin(kNamedSchedules), std::end(kNamedSchedules),
                                [&](const NamedSchedule& one) { return one.ours == plan.schedule; });
  return row == std::end(kNamedSchedules) ? nullptr : &*row;
}
const BaseRecipe* base_recipe(const ParallelPlan& plan) {
  const auto row = std::find_if(std::begin(kBaseRecipes), std::end(kBaseRecipes),
                                [&](const BaseRecipe& one) { return one.model_type == plan.model.model_type; });
  return row == std::end(kBaseRecipes) ? nullptr : &*row;
}
bool has_stages(const ParallelPlan& p) { return p.mesh.pipeline > 1; }
bool goes_as_csv(const ParallelPlan& p) { return has_stages(p) && named_schedule(p) == nullptr; }
Written of_stages(const ParallelPlan& p, std::string value) { return written_if(has_stages(p), std::move(value)); }
std::string truth_value(bool value) { return value ? "true" : "false"; }
void known_here(const Value&, Draft&) {}

// Modules of each virtual stage, in the model's order.
std::string modules_text(const ParallelPlan& plan) {
  const std::vector<std::int64_t> blocks = blocks_of(plan);
  std::string text = "[";
  std::int64_t next = 0;
  for (std::size_t part = 0; part < blocks.size(); ++part) {
    text += part == 0 ? "[\"tok_embeddings\"" : ", [";
    for (std::int64_t block = 0; block < blocks[part]; ++block)
      text += fmt::format("{}\"layers.{}\"", text.ends_with("[") ? "" : ", ", next++);
    text += part + 1 < blocks.size() ? "]" : text.ends_with("[") ? "\"norm\", \"lm_head\"]" : ", \"norm\", \"lm_head\"]";
  }
  return text + "]";
}

void read_modules(const Value& value, Draft& draft) {
  int depth = 0;
  for (std::size_t at = 0; at < value.text().size(); ++at) {
    depth += value.text()[at] == '[' ? 1 : value.text()[at] == ']' ? -1 : 0;
    if (value.text()[at] == '[' && depth == 2) draft.blocks.push_back(0);
    if (!draft.blocks.empty() && value.text().compare(at, 7, "layers.") == 0) ++draft.blocks.back();
  }
  if (draft.blocks.empty()) value.wrong("names no modules", "give a list of lists of modules");
}

void read_schedule(const Value& value, Draft& draft) {
  for (const NamedSchedule& one : kNamedSchedules)
    if (one.theirs == value.text()) draft.plan.schedule = one.ours;
  if (value.text().starts_with("PipelineSchedule") || value.text() == "_PipelineScheduleRuntime") return;  // the CSV says it
  if (std::none_of(std::begin(kNamedSchedules), std::end(kNamedSchedules),
                   [&](const NamedSchedule& one) { return one.theirs == value.text(); }))
    value.wrong(fmt::format("is '{}'", value.text()), "use GPipe, 1F1B, Interleaved1F1B or ZBVZeroBubble, or give the order as CSV");
}

constexpr Field kTorchtitanFields[] = {
    {"training.seq_len", "seq_len", [](const ParallelPlan& p) { return written(p.workload.sequence); },
     [](const Value& v, Draft& d) { d.sequence = v.count(); }, true},
    {"training.local_batch_size", "local_batch_size",
     [](const ParallelPlan& p) { return written(p.microbatch_size * (has_stages(p) ? p.num_microbatches() : 1)); },
     [](const Value& v, Draft& d) { d.local_batch = v.count(); }, true},
    {"training.global_batch_size", "global_batch_size", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) {
       if (v.integer() > 0) d.global_batch = v.integer();
     }},
    {"training.max_norm", "max_norm", [](const ParallelPlan& p) { return written_number(p.training.gradient_clip); },
     [](const Value& v, Draft& d) { d.plan.training.gradient_clip = v.number(); }},
    {"training.mixed_precision_param", "mixed_precision_param",
     [](const ParallelPlan& p) { return Written(p.workload.precision == Precision::Bf16 ? "bfloat16" : "float32"); },
     [](const Value& v, Draft& d) { d.precision = v.text() == "float32" ? Precision::Fp32 : Precision::Bf16; }},
    {"training.mixed_precision_reduce", "mixed_precision_reduce", nullptr, known_here},
    {"parallelism.data_parallel_replicate_degree", "data_parallel_replicate_degree",
     [](const ParallelPlan& p) { return written(p.zero_stage == 3 ? p.mesh.replicas : p.mesh.data); },
     [](const Value& v, Draft& d) { d.replicate = v.degree(); }},
    {"parallelism.data_parallel_shard_degree", "data_parallel_shard_degree",
     [](const ParallelPlan& p) { return written(p.zero_stage == 3 ? p.mesh.data / p.mesh.replicas : 1); },
     [](const Value& v, Draft& d) { d.shard = v.integer(); }, true},
    {"parallelism.fsdp_reshard_after_forward", "fsdp_reshard_after_forward",
     [](const ParallelPlan& p) { return Written(std::string(kReshards[p.reshard_after_forward ? 0 : 1])); },
     [](const Value& v, Draft& d) {
       const std::size_t policy = v.choice(kReshards);
       d.plan.reshard_after_forward = policy == 0 || (policy == 2 && d.plan.mesh.pipeline == 1);
     }},
    {"parallelism.tensor_parallel_degree", "tensor_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.tensor); },
     [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.degree(); }, true},
    {"parallelism.enable_sequence_parallel", "enable_sequence_parallel",
     [](const ParallelPlan& p) { return Written(truth_value(p.sequence_parallel)); },
     [](const Value& v, Draft& d) { d.sequence_parallel = v.boolean(); }},
    {"parallelism.pipeline_parallel_degree", "pipeline_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.pipeline); },
     [](const Value& v, Draft& d) { d.plan.mesh.pipeline = v.degree(); }, true},
    {"parallelism.pipeline_parallel_schedule", "pipeline_parallel_schedule",
     [](const ParallelPlan& p) {
       return of_stages(p, named_schedule(p) != nullptr ? std::string(named_schedule(p)->theirs)
                           : p.chunks > 1               ? "PipelineScheduleMulti"
                                                        : "PipelineScheduleSingle");
     },
     read_schedule},
    {"parallelism.pipeline_parallel_schedule_csv", "pipeline_parallel_schedule_csv",
     [](const ParallelPlan& p) { return written_if(goes_as_csv(p), std::string(kPipelineOrder.file)); },
     [](const Value& v, Draft& d) { d.order_file = v.text(); }},
    {"parallelism.pipeline_parallel_microbatch_size", "pipeline_parallel_microbatch_size",
     [](const ParallelPlan& p) { return of_stages(p, std::to_string(p.microbatch_size)); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }},
    {"parallelism.pipeline_parallel_layers_per_stage", "pipeline_parallel_layers_per_stage", nullptr,
     [](const Value& v, Draft& d) {
       if (v.text() != "None") d.blocks_of_chunk = v.degree();
     }},
    {"parallelism.module_fqns_per_model_part", "module_fqns_per_model_part pipeline_parallel_module_fqns_per_model_part",
     [](const ParallelPlan& p) { return of_stages(p, modules_text(p)); }, read_modules},
    {"parallelism.context_parallel_degree", "context_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.context); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(), d.plan.context_algorithm = ContextAlgorithm::AllGather; }},
    {"parallelism.expert_parallel_degree", "expert_parallel_degree", [](const ParallelPlan& p) { return written(p.mesh.expert); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }},
    {"training.enable_cpu_offload", "enable_cpu_offload", nullptr,
     [](const Value& v, Draft& d) {
       d.plan.offload_optimizer = v.boolean();
       if (v.boolean()) v.note("offloads parameters, too, which a plan does not", "mind memory and time");
     }},
    {"activation_checkpoint", "",
     [](const ParallelPlan& p) { return Written(p.recompute == Recompute::Full ? "FullAC.Config()" : "None"); },
     [](const Value& v, Draft& d) {
       d.plan.recompute = v.text().starts_with("FullAC") ? Recompute::Full : Recompute::None;
       if (!v.text().starts_with("FullAC") && v.text() != "None")
         v.note(fmt::format("{} keeps a choice of operators, which no plan says", v.text()), "the plan recomputes nothing");
     }},
    {"debug.seed", "seed", [](const ParallelPlan& p) { return written(static_cast<std::int64_t>(p.training.seed)); },
     [](const Value& v, Draft& d) {
       d.plan.training.seed = static_cast<std::uint64_t>(std::clamp<std::int64_t>(v.integer(), 0, kLargestSeed));
     }},
};

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
  judgement.refuse(
      mesh.context > 1 && plan.context_algorithm != ContextAlgorithm::AllGather, "/context_algorithm",
      fmt::format("{}: torchtitan gathers keys and values", kContextAlgorithmNames[static_cast<std::size_t>(plan.context_algorithm)]),
      "plan with --fix context_algorithm=all_gather");
  const std::int64_t dense = std::int64_t{plan.zero_stage == 3 ? mesh.data / std::max(1, mesh.replicas) : 1} * mesh.context * mesh.tensor;
  judgement.refuse(dense % mesh.expert != 0, "/mesh/expert",
                   fmt::format("dp_shard x cp x tp = {} is not efsdp x ep for ep {}", dense, mesh.expert),
                   "plan with --fix zero=3, and an expert degree that divides it");
  judgement.refuse(
      mesh.expert > 1 && mesh.tensor > 1, "/mesh/expert",
      fmt::format("expert {} with tensor {}: experts are not cut by tensor ranks there, in the plan they are", mesh.expert, mesh.tensor),
      "plan with --fix tensor=1 or expert=1");
}

void judge_torchtitan(const ParallelPlan& plan, Judgement& judgement) {
  const Precision precision = plan.workload.precision;
  refuse_meshes(plan, judgement);
  judgement.refuse(goes_as_csv(plan) && plan.placement() == ChunkPlacement::V, "/schedule",
                   fmt::format("{} places chunks like a V, which torchtitan does for ZBVZeroBubble alone", plan.schedule),
                   "plan with --fix schedule=zbv or interleaved");
  judgement.refuse(precision != Precision::Bf16 && precision != Precision::Fp32, "/workload/precision",
                   fmt::format("there is no setting for {}", kPrecisionNames[static_cast<std::size_t>(precision)]),
                   "plan with --precision bf16 or fp32");
  judgement.refuse(plan.offload_optimizer, "/offload_optimizer", "torchtitan offloads parameters with the optimizer, or nothing",
                   "plan with --fix offload_optimizer=false, or export to DeepSpeed");
  note_units(plan, judgement);
  note_reshard(plan, judgement);
  judgement.note(goes_as_csv(plan), "/schedule",
                 fmt::format("{} has no name there: its order stands in {}", plan.schedule, kPipelineOrder.file),
                 "keep the file beside the recipe");
  judgement.note(goes_as_csv(plan), "/order", "stands in the plan when it comes back", "nothing to do");
  judgement.note(plan.schedule == "zbv" || plan.schedule == "interleaved", "/schedule",
                 fmt::format("{} is performed in PyTorch's own order", plan.schedule), "export to csv for this plan's");
  judgement.note(true, "",
                 fmt::format("the recipe starts from {}", base_recipe(plan) != nullptr
                                                              ? std::string(base_recipe(plan)->function)
                                                              : fmt::format("{} ({})", kBaseRecipes[0].function, plan.model.model_type)),
                 "import the recipe of the model in its place");
  judgement.note(precision == Precision::Bf16 && !plan.workload.fp32_gradients, "/workload/fp32_gradients",
                 "gradients are reduced in fp32 there", "plan with --fp32-gradients");
  judgement.note(plan.recompute == Recompute::Selective, "/recompute", "selective is another choice of operators there",
                 "a fused attention kernel needs none; otherwise use recompute=full");
  judgement.note(plan.vocabulary_multiple != 128, "/vocabulary_multiple", "the vocabulary is the model's",
                 fmt::format("pad it to a multiple of {}", plan.vocabulary_multiple));
  judgement.note(plan.zero_stage == 3 && plan.mesh.copies() == 1, "/zero_stage", "one rank has nothing to share", "nothing to do");
  judgement.note(plan.zero_stage != 0 && plan.zero_stage != 3 && plan.mesh.copies() == 1, "/zero_stage", "one rank has nothing to share",
                 "nothing to do");
  judgement.note(plan.zero_stage != 3, "/bucket_size", "gradients are reduced in buckets of 100 MiB", "nothing to do");
  judgement.note(!plan.prefetch, "/prefetch", "FSDP 2 gathers ahead", "nothing to do");
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

std::vector<RecipeFile> torchtitan_files(const RecipeHead& head, const RecipeSettings& settings, const ParallelPlan& plan) {
  const BaseRecipe base = base_recipe(plan) != nullptr ? *base_recipe(plan) : kBaseRecipes[0];
  std::string text =
      comment_lines(head) + fmt::format("#\n#   torchrun --nnodes {} --nproc-per-node {} -m torchtitan.train --module plan --config plan\n",
                                        plan.cluster.nodes(), plan.cluster.devices_per_node());
  if (plan.recompute == Recompute::Full) text += "from torchtitan.distributed.activation_checkpoint import FullAC\n";
  text += fmt::format(
      "from torchtitan.models.{}.config_registry import {} as base\nfrom torchtitan.trainer import Trainer\n\n\ndef plan() -> "
      "Trainer.Config:\n    config = base()\n",
      base.module, base.function);
  for (const RecipeSetting& setting : settings) text += fmt::format("    config.{} = {}\n", setting.key, python_value(setting.value));
  std::vector<RecipeFile> files = {{std::string(kTorchtitan.file), text + "    return config\n"}};
  if (goes_as_csv(plan)) files.push_back({std::string(kPipelineOrder.file), order_csv(plan)});
  return files;
}

RecipeReading torchtitan_settings(const RecipeSource& source) {
  const bool is_command = source.text.find("--parallelism.") != std::string::npos && source.text.find("def ") == std::string::npos;
  RecipeReading reading =
      is_command ? read_shell(source.text, source.path, source.given) : RecipeReading{read_assignments(source.text, source.path), {}, {}};
  RecipeSettings& settings = reading.settings;
  for (RecipeSetting& setting : settings) setting.key = leaf_of(setting.key);
  std::erase_if(settings, [](const RecipeSetting& one) { return one.key == "config"; });  // `config = base()`
  std::stable_partition(settings.begin(), settings.end(), [](const RecipeSetting& one) { return one.key == "pipeline_parallel_degree"; });
  return reading;
}

void settle_torchtitan(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t stages = plan.mesh.pipeline;
  plan.workload.precision = draft.precision.value_or(Precision::Bf16);
  plan.workload.fp32_gradients = is_sixteen_bit(plan.workload.precision);
  plan.sequence_parallel = draft.sequence_parallel.value_or(true) && plan.mesh.tensor > 1;
  if (!draft.shard) draft.shard = -1;
  if (stages == 1) {
    draft.blocks.clear(), draft.order_file.clear(), plan.schedule = "1f1b";
    draft.microbatch = draft.local_batch.value_or(8);  // torchtitan's default
    if (!draft.global_batch) draft.accumulation_steps = 1;
  } else {
    const std::int64_t micro = std::max<std::int64_t>(1, draft.microbatch.value_or(1));
    draft.microbatch = micro;
    if (!draft.global_batch) draft.accumulation_steps = draft.local_batch.value_or(8) / micro;
    const bool looped = plan.schedule == "interleaved" || plan.schedule == "zbv";
    const std::int64_t parts = !draft.blocks.empty()   ? std::ssize(draft.blocks)
                               : draft.blocks_of_chunk ? plan.model.layers / *draft.blocks_of_chunk
                                                       : stages * (looped ? 2 : 1);
    plan.chunks = static_cast<std::int32_t>(std::clamp<std::int64_t>(parts / stages, 1, 10'000));
  }
  draft.reduces_each = stages == 1 && draft.shard != 1;
  if (draft.shard == 1) plan.bucket_size = Bytes(100 << 20);
}

// FSDP 2 reduces in fp32 (mixed_precision_reduce, which accepts nothing else) and gathers ahead; whole weights are replicated with bucket_cap_mb=100.
void torchtitan_habits(ParallelPlan& plan) {
  plan.workload.fp32_gradients = is_sixteen_bit(plan.workload.precision);
  plan.bucket_size = plan.zero_stage == 3 ? Bytes(25 << 20) : Bytes(100 << 20);
  plan.prefetch = true;
  plan.vocabulary_multiple = 128;
}

}  // namespace

const Program kTorchtitan = {
    .name = "torchtitan",
    .title = "torchtitan",
    .version = "0.3.0",
    .file = "plan.py",
    .marks = "data_parallel_shard_degree tensor_parallel_degree pipeline_parallel_degree context_parallel_degree torchtitan",
    .fields = kTorchtitanFields,
    .judge = judge_torchtitan,
    .files = torchtitan_files,
    .settings = torchtitan_settings,
    .settle = settle_torchtitan,
    .software = "torchtitan-2025",
    .habits = torchtitan_habits};

}  // namespace sim
