#include "sim/recipe/recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "sim/recipe/accounting.h"
#include "sim/recipe/megatron_residency.h"
#include "sim/units/at.h"
#include "sim/units/own_file.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

constexpr std::string_view kWorkerSoftware = "meshwright";
constexpr const Program* kPrograms[] = {&kMegatron,   &kMegatronBridge, &kNemo,    &kDeepSpeed, &kAccelerate,
                                        &kTorchtitan, &kNanotron,       &kFairseq, &kLightning, &kPipelineOrder};

RecipeHead head_of(const Program& program, const ParallelPlan& plan, const std::vector<Violation>& notes) {
  RecipeHead head{fmt::format("Written by Meshwright for {} {} from plan {}", program.title, program.version, plan_hash(plan)), {}};
  for (const Violation& note : notes) head.remarks.push_back(fmt::format("{}; {}", located(note), note.remedy));
  return head;
}

// Inputs of blocks on the host are a wrapper in the program, in every one of them.
void judge_host(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  if (&program == &kPipelineOrder) return;  // an order says nothing else either
  judgement.refuse(plan.offload_activations && !program.offloads_inputs, "/offload_activations",
                   fmt::format("inputs of blocks on the host are of the program, not of {}'s settings", program.title),
                   "plan with --fix offload_activations=false");
  judgement.refuse(plan.offload_parameters && !program.offloads_parameters, "/offload_parameters", "weights stay on the device there",
                   "leave it out of the plan, or export to DeepSpeed, Accelerate or torchtitan");
  judgement.refuse(plan.on_drive != OnDrive::None && &program != &kDeepSpeed, "/on_drive", "what is on the host lies in its memory there",
                   "leave it out of the plan, or export to DeepSpeed");
  judgement.note(plan.on_drive != OnDrive::None && &program == &kDeepSpeed, "/on_drive", "is written as nvme_path /local_nvme",
                 "name a folder on each node's drives");
  const Program* const deals[] = {&kDeepSpeed, &kMegatron, &kMegatronBridge, &kNemo};
  judgement.refuse(plan.offload_share < 1 && std::ranges::find(deals, &program) == std::end(deals), "/offload_share",
                   "all of the optimizer lies on the host there, or nothing",
                   "leave it out of the plan, or export to DeepSpeed or Megatron-LM");
  const Program* const sends[] = {&kMegatron, &kMegatronBridge};
  judgement.refuse(!plan.offload_modules.none() && std::ranges::find(sends, &program) == std::end(sends), "/offload_modules",
                   "what modules have saved stays on the device there", "leave it out of the plan, or export to Megatron-LM");
  const bool says_modules = plan.offload_blocks == 0 && !plan.offload_modules.has(Module::Mlp), says_blocks = sends_blocks(plan);
  judgement.refuse(!plan.offload_modules.none() && !says_modules && !says_blocks, "/offload_modules",
                   "there modules but mlp send what they have saved, in all blocks, or the first blocks all that they keep",
                   "leave mlp and offload_blocks out of the plan, or name all modules and a number of blocks");
  judgement.note(plan.persistence_threshold > 0 && &program != &kDeepSpeed, "/persistence_threshold",
                 fmt::format("parameters of at most {} elements are freed there as all are", plan.persistence_threshold),
                 "a little less memory, and more gathers");
  judgement.note(plan.first_bucket_size.value() > 0 && plan.zero_stage < 3 && &program != &kAccelerate, "/first_bucket_size",
                 "all buckets are of one size there", "nothing to do");
}

void judge_head(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  const Program* const delays[] = {&kMegatron, &kMegatronBridge, &kNemo, &kPipelineOrder};
  judgement.refuse(plan.delay_head_wgrad > 0 && std::ranges::find(delays, &program) == std::end(delays), "/delay_head_wgrad",
                   "gradients of the head's weights come with its backward there", "leave it out of the plan, or export to Megatron-LM");
}

// Fewer key/value heads than tensor ranks: Megatron-Core gathers what ranks made of all heads (transformer/attention.py).
void judge_heads(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  const Program* const able[] = {&kMegatron, &kMegatronBridge, &kNemo, &kPipelineOrder};
  judgement.refuse(
      shares_keys(plan.model, plan.mesh.tensor) && std::ranges::find(able, &program) == std::end(able), "/mesh/tensor",
      fmt::format("{} gives each tensor rank key/value heads of its own, and there are {}", program.title, heads_of(plan.model).keys),
      fmt::format("plan with --fix tensor={}", heads_of(plan.model).keys));
}

void judge_exchange(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  judgement.refuse(plan.token_dispatcher != TokenDispatcher::AsTheProgram && !program.says_dispatch, "/token_dispatcher",
                   fmt::format("{} exchanges tokens in its own way", program.title), "plan with --fix token_dispatcher=as_the_program");
  judgement.refuse(plan.expert_overlap && !program.says_exchange_beside, "/expert_overlap",
                   fmt::format("{} exchanges tokens beside no other microbatch", program.title), "plan with --fix expert_overlap=false");
}

void judge_loads(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  const LoadKind loads = plan.workload.expert_loads.kind;
  const bool has_no_say = &program == &kPipelineOrder || (&program == &kTorchtitan && loads == LoadKind::Even);
  judgement.note(loads != LoadKind::AsRecorded && !has_no_say, "/workload/expert_loads",
                 "says what a router makes of tokens, and stands in no setting", "expect other times where it does otherwise");
}

// Megatron's GPT data sets pack documents by arguments; elsewhere, and for other ways to fill rows, the data says it.
void judge_samples(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  const bool is_said = &program == &kPipelineOrder || (&program == &kMegatron && plan.workload.samples.filling == RowFilling::Packed);
  judgement.note(plan.workload.samples.has_documents() && !is_said, "/workload/samples",
                 fmt::format("\"{}\" stands in no setting of {}'s that is written here: the data decides", to_text(plan.workload.samples),
                             program.title),
                 "give it rows made so, and an attention that knows of documents");
  judgement.refuse(plan.context_by_document && &program != &kMegatron, "/context_by_document",
                   fmt::format("{} gives all samples the same context degree", program.title), "leave it out of the plan");
  judgement.refuse(plan.context_by_document && &program == &kMegatron && plan.mesh.pipeline > 1, "/context_by_document",
                   fmt::format("{} deals documents anew on one stage alone", program.title), "plan with --fix pipeline=1");
}

void judge_groups(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  judgement.refuse(!plan.cluster.groups.empty(), "/cluster/groups",
                   fmt::format("{} has no word for shares: its data ranks have equal ones", program.title),
                   "leave share out of the cluster");
}

// Where a program has no word for kernels of attention the code says it that builds the network.
void judge_attention(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  if (plan.attention == AttentionWord::AsTheProgram || &program == &kPipelineOrder) return;
  const std::string_view word = sim::at(kAttentionWords, plan.attention);
  if (program.says_attention == nullptr)
    return judgement.note(true, "/attention",
                          fmt::format("{} is said where the network is built, not in {}'s settings", word, program.title),
                          "choose it there");
  std::vector<std::string_view> words;
  for (std::size_t one = 0; one < std::size(kAttentionWords); ++one)
    if (program.says_attention(static_cast<AttentionWord>(one)).has_value()) words.push_back(kAttentionWords[one]);
  judgement.refuse(!program.says_attention(plan.attention), "/attention", fmt::format("{} has no word for {}", program.title, word),
                   fmt::format("plan with --fix attention={}", fmt::join(words, " or ")));
}

// Modules that are not trained, and low-rank pairs: layouts are the same with and without.
void judge_trained(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  std::vector<std::string_view> able;
  for (const Program* one : kPrograms)
    if (!one->trained_by.empty()) able.push_back(one->name);
  struct Part {
    bool asked;
    std::string_view where, what, option;
  };
  for (const Part& part : {Part{plan.model.adapters.has_value(), "/workload/adapters", "adapters", "--adapters"},
                           Part{plan.model.frozen.any(), "/workload/frozen", "modules that are not trained", "--frozen"}}) {
    judgement.note(part.asked && !program.trained_by.empty(), std::string(part.where),
                   fmt::format("{} stand in no setting that is written here", part.what),
                   fmt::format("say them in {}", program.trained_by));
    judgement.refuse(part.asked && program.trained_by.empty(), std::string(part.where),
                     fmt::format("{} has no word for {}", program.title, part.what),
                     fmt::format("plan for {}, or without {}", fmt::join(able, ", "), part.option));
  }
}

void judge_slices(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  judgement.refuse(plan.slices > 1, "/slices",
                   fmt::format("{} has no word for {} slices of a sample, which pass whole there", program.title, plan.slices),
                   "plan with --fix slices=1; the worker performs them");
}

// Gradients in fp32, as they are sent: what the tables of fields know.
void judge_precision(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  const PrecisionPolicy& policy = plan.workload.precision;
  if (!policy.has_units_apart() && program.says_types != nullptr && program.says_types(policy)) return;
  PrecisionPolicy said = program.says_scales ? policy.as_it_follows() : PrecisionPolicy(policy.compute());
  if (program.says_scales && policy.scales())
    said = PrecisionPolicy(Precision::Bf16).with(*policy.scales(), policy.gathers_scaled()).with_unscaled(policy.unscaled_blocks());
  if (program.says_codecs != nullptr && program.says_codecs(policy))
    said = said.with_weight_codec(policy.weight_codec()).with_gradient_codec(policy.gradient_codec());
  if (reduces_in_fp32(plan)) said = said.with(Numbers::Gradients, Precision::Fp32);
  for (const WideKind kind : {WideKind::Stream, WideKind::Routers})
    if (const auto precision = policy.of(kind); precision && program.says_scales) said = said.with(kind, *precision);
  judgement.refuse(
      &program != &kPipelineOrder && policy != said, "/workload/precision",
      fmt::format("\"{}\" keeps numbers apart in ways that {}'s settings are not known to say", to_text(policy), program.title),
      fmt::format("plan with --precision \"{}\"", to_text(said)));
}

// What crosses the end of a step changes how long it takes: a program without a word for it is another plan.
void judge_crossing(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  judgement.refuse(plan.overlap_weight_gather && !program.gathers_beside_forward, "/overlap_weight_gather",
                   fmt::format("{} gathers new weights before the next forward", program.title), "leave it out of the plan");
  judgement.refuse(plan.post_validation != PostValidation::None, "/post_validation",
                   fmt::format("{} knows the gradients' norm before it steps", program.title), "leave it out of the plan");
  judgement.refuse(plan.sums_by_priority(), "/partition_size", fmt::format("{} sums gradients as they come", program.title),
                   "leave partition_size and credit_size out of the plan");
  judgement.refuse(plan.optimizer_in_backward, "/optimizer_in_backward",
                   fmt::format("{} steps when all gradients of a step are there", program.title), "leave it out of the plan");
  judgement.refuse(plan.paged_optimizer, "/paged_optimizer", fmt::format("{}'s files name no optimizer that pages", program.title),
                   "plan with --fix paged_optimizer=false");
}

// Words of a program's loop over microbatches and ranks, which few programs say. A Megatron-Core program without the argument exchanges apart; others exchange
// as their profile has it.
struct RareWord {
  std::string_view where;
  bool (*is_asked)(const ParallelPlan& plan);
  std::vector<const Program*> said_by;
  std::string_view problem, remedy;  // problem: with the program's name
};

const std::vector<RareWord>& rare_words() {
  static const std::vector<RareWord> kWords = {
      {"/tensor_overlap",
       [](const ParallelPlan& p) { return p.tensor_overlap == TensorOverlap::AlongProducts || p.tensor_overlap == TensorOverlap::Apart; },
       {&kMegatron, &kMegatronBridge, &kNemo, &kTorchtitan},
       "{} has no word for exchanges along products",
       "leave it out of the plan"},
      {"/tensor_overlap",
       [](const ParallelPlan& p) { return p.tensor_overlap == TensorOverlap::BesideWeights; },
       {&kMegatron, &kMegatronBridge, &kNemo},
       "{} has no word for sums of gradients of inputs beside gradients of weights",
       "leave it out of the plan"},
      {"/passes",
       [](const ParallelPlan& p) { return p.passes > 1; },
       {&kTorchtitan},
       "all microbatches of a step go through the pipeline in one pass in {}",
       "leave it out of the plan, or export to torchtitan"},
      {"/reshard_after_backward",
       [](const ParallelPlan& p) { return p.reshard_after_backward != ReshardAfterBackward::AsTheProgram; },
       {},
       "{} has no setting for when a backward gives gathered weights up",
       "leave it out of the plan"}};
  return kWords;
}

void judge_rare_words(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  for (const RareWord& word : rare_words())
    judgement.refuse(word.is_asked(plan) && std::ranges::find(word.said_by, &program) == word.said_by.end(), std::string(word.where),
                     fmt::format(fmt::runtime(word.problem), program.title), std::string(word.remedy));
}

void judge_step(const Program& program, const ParallelPlan& plan, Judgement& judgement) {
  if (&program == &kPipelineOrder) return;
  judge_rare_words(program, plan, judgement);
  judge_crossing(program, plan, judgement);
  judge_trained(program, plan, judgement);
  judgement.refuse(plan.workload.optimizer > OptimizerKind::Sgd, "/workload/optimizer",
                   fmt::format("{} is not written for {}", sim::at(kOptimizerNames, plan.workload.optimizer), program.title),
                   "plan with --optimizer adamw or sgd");
  judgement.refuse(plan.direct_source, "/direct_source", fmt::format("{} sends the source along through the stages", program.title),
                   "leave it out of the plan");
  const bool says_owners = program.says_owners != nullptr && program.says_owners(plan);
  judgement.refuse(plan.state_shards == StateShards::Tensors && !says_owners, "/state_shards",
                   fmt::format("{} gives data ranks even slices, not whole tensors", program.title), "plan with state_shards=slices");
  judgement.note(plan.gradient_sync != GradientSync::Scatter && !says_owners, "/gradient_sync", "gradients are summed as the program does",
                 "nothing to do");
  judgement.note(plan.cuda_graphs != CudaGraphs::None && !program.says_graphs, "/cuda_graphs", "kernels are issued one by one there",
                 "switch graphs on in the program");
}

Judgement judged(const Program& program, const ParallelPlan& plan) {
  Judgement judgement;
  program.judge(plan, judgement);
  judge_precision(program, plan, judgement);
  judge_host(program, plan, judgement);
  judge_heads(program, plan, judgement);
  judge_head(program, plan, judgement);
  judge_exchange(program, plan, judgement);
  judge_attention(program, plan, judgement);
  judge_slices(program, plan, judgement);
  judge_groups(program, plan, judgement);
  judge_step(program, plan, judgement);
  judge_loads(program, plan, judgement);
  judge_samples(program, plan, judgement);
  return judgement;
}

}  // namespace

void Judgement::refuse(bool when, std::string where, std::string problem, std::string remedy) {
  if (when) refused.push_back({std::move(where), std::move(problem), std::move(remedy)});
}
void Judgement::note(bool when, std::string where, std::string problem, std::string remedy) {
  if (when) notes.push_back({std::move(where), std::move(problem), std::move(remedy)});
}

void note_reshard(const ParallelPlan& plan, Judgement& judgement) {
  judgement.note(plan.mesh.reshard > 1, "/mesh/reshard",
                 fmt::format("all shards are gathered again there, in the plan {} ranks keep the weights among them", plan.mesh.reshard),
                 "plan with --fix reshard_ranks=1, or export to DeepSpeed");
}

void note_units(const ParallelPlan& plan, Judgement& judgement) {
  judgement.note(plan.layers_per_unit > 1, "/layers_per_unit",
                 fmt::format("layers are gathered one by one there, in the plan {} together", plan.layers_per_unit),
                 "plan with --fix layers_per_unit=1, or wrap them so in the program");
}

std::span<const Program* const> all_programs() { return kPrograms; }

const Program* find_program(std::string_view name) {
  const auto row = std::find_if(std::begin(kPrograms), std::end(kPrograms), [&](const Program* program) { return program->name == name; });
  return row == std::end(kPrograms) ? nullptr : *row;
}

std::vector<Violation> why_not_for(const Program& program, const ParallelPlan& plan) {
  constexpr std::string_view kChosen[] = {"/accumulation", "/layers_per_unit", "/cuda_graphs",
                                          "/mesh/reshard"};  // axes: another plan is as the program does it
  Judgement judgement = judged(program, plan);
  for (Violation& note : judgement.notes)
    if (std::find(std::begin(kChosen), std::end(kChosen), note.where) != std::end(kChosen)) judgement.refused.push_back(std::move(note));
  return std::move(judgement.refused);
}

void take_habits(const Program& program, ParallelPlan& plan) {
  if (program.habits != nullptr) program.habits(plan);
}

std::function<void(ParallelPlan&)> habits_of_search(const Program* program) {
  return [program](ParallelPlan& plan) {
    if (program != nullptr) take_habits(*program, plan);
    const bool can = program == nullptr || program->gathers_beside_forward, is_sharded = plan.zero_stage == 1 || plan.zero_stage == 2;
    plan.overlap_weight_gather =
        can && plan.cluster.software.overlap_gather && is_sharded && plan.mesh.shards() > 1 && !plan.offload_optimizer;
  };
}

void take_software(const Program& program, Cluster& cluster) {
  if (!program.software.empty() && cluster.software.name == kWorkerSoftware)
    cluster.software = load_software(std::string(program.software));
}

Recipe make_recipe(const Program& program, const ParallelPlan& plan) {
  Judgement judgement = judged(program, plan);
  Recipe recipe{std::move(judgement.refused), std::move(judgement.notes), {}};
  if (!recipe.refused.empty()) return recipe;
  RecipeSettings settings;
  for (const Field& field : program.fields)
    if (std::string value = text_in_file(field, plan); !value.empty()) settings.push_back({std::string(field.key), std::move(value)});
  recipe.files = program.files(head_of(program, plan, recipe.notes), settings, plan);
  return recipe;
}

namespace {

// JSON has no place for a word of ours: the same text is written over, another is not.
void require_replaceable(const RecipeFile& file, const std::string& path) {
  const bool is_order = file.name.ends_with(".csv");
  if (std::filesystem::is_regular_file(path) && load_text_file(path) == file.text) return;
  require_own(path, is_order ? OwnFile::Order : OwnFile::Recipe);
}

}  // namespace

Recipe export_recipe(const Program& program, const ParallelPlan& plan, const std::string& folder) {
  Recipe recipe = make_recipe(program, plan);
  if (!recipe.refused.empty()) throw InputError(fmt::format("{} cannot say this plan", program.title), recipe.refused);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw InputError(folder, {{"", error.message(), "give a folder that can be made"}});
  for (const RecipeFile& file : recipe.files) require_replaceable(file, folder + "/" + file.name);
  for (const RecipeFile& file : recipe.files) save_text_file(file.text, folder + "/" + file.name);
  return recipe;
}

}  // namespace sim
