#include "planner/axis_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "planner/plan_candidate.h"
#include "sim/schedule/schedule.h"
#include "sim/units/input_error.h"

namespace planner {
namespace {

constexpr std::string_view kShards = "dp_shard";  // no axis: data / replicas

constexpr std::string_view kUlysses = "ulysses";

struct Word {
  std::string_view said, meant;
};
// Megatron's, DeepSpeed's and torchtitan's own names, and the letters of papers.
constexpr std::array kNames = std::to_array<Word>({{"tp", "tensor"},
                                                   {"tensor_parallel", "tensor"},
                                                   {"tensor_parallel_size", "tensor"},
                                                   {"tensor_parallel_degree", "tensor"},
                                                   {"tensor_model_parallel_size", "tensor"},
                                                   {"pp", "pipeline"},
                                                   {"pipeline_parallel", "pipeline"},
                                                   {"pipeline_parallel_size", "pipeline"},
                                                   {"pipeline_parallel_degree", "pipeline"},
                                                   {"pipeline_model_parallel_size", "pipeline"},
                                                   {"dp", "data"},
                                                   {"data_parallel", "data"},
                                                   {"data_parallel_size", "data"},
                                                   {"cp", "context"},
                                                   {"context_parallel", "context"},
                                                   {"context_parallel_degree", "context"},
                                                   {"context_parallel_size", "context"},
                                                   {"ep", "expert"},
                                                   {"expert_parallel", "expert"},
                                                   {"expert_parallel_size", "expert"},
                                                   {"expert_parallel_degree", "expert"},
                                                   {"expert_model_parallel_size", "expert"},
                                                   {"etp", "expert_tensor"},
                                                   {"expert_tensor_parallel_size", "expert_tensor"},
                                                   {"vpp", "chunks"},
                                                   {"v", "chunks"},
                                                   {"vp", "chunks"},
                                                   {"virtual_pipeline", "chunks"},
                                                   {"virtual_pipeline_parallel_size", "chunks"},
                                                   {"virtual_pipeline_model_parallel_size", "chunks"},
                                                   {"mbs", "microbatch"},
                                                   {"micro_batch", "microbatch"},
                                                   {"micro_batch_size", "microbatch"},
                                                   {"per_device_train_batch_size", "microbatch"},
                                                   {"train_micro_batch_size_per_gpu", "microbatch"},
                                                   {"local_batch_size", "microbatch"},
                                                   {"zero_stage", "zero"},
                                                   {"reshard_after_forward", "reshard"},
                                                   {"sp", "sequence_parallel"},
                                                   {"ac", "recompute"},
                                                   {"activation_checkpointing", "recompute"},
                                                   {"gradient_checkpointing", "recompute"},
                                                   {"recompute_granularity", "recompute"},
                                                   {"flash_attention", "attention"},
                                                   {"flash_attn", "attention"},
                                                   {"use_flash_attn", "attention"},
                                                   {"attn_implementation", "attention"},
                                                   {"attention_backend", "attention"},
                                                   {"pipeline_parallel_schedule", "schedule"},
                                                   {"pipeline_schedule", "schedule"},
                                                   {"sharding_strategy", "zero"},
                                                   {"fsdp_sharding_strategy", "zero"},
                                                   {"data_parallel_sharding_strategy", "zero"},
                                                   {"dp_replicate", "replicas"},
                                                   {"data_parallel_replicate_degree", "replicas"},
                                                   {"data_parallel_shard_degree", kShards},
                                                   {kShards, kShards},
                                                   {"ds_sequence_parallel_size", kUlysses},
                                                   {"ulysses_degree", kUlysses},
                                                   {kUlysses, kUlysses}});

struct Phrase {
  std::string_view said, axis, value;
};
constexpr std::array kPhrases = std::to_array<Phrase>({{"ddp", "zero", "0"},
                                                       {"zero0", "zero", "0"},
                                                       {"zero1", "zero", "1"},
                                                       {"zero2", "zero", "2"},
                                                       {"zero3", "zero", "3"},
                                                       {"zero_0", "zero", "0"},
                                                       {"zero_1", "zero", "1"},
                                                       {"zero_2", "zero", "2"},
                                                       {"zero_3", "zero", "3"},
                                                       {"fsdp", "zero", "3"},
                                                       {"fsdp2", "zero", "3"},
                                                       {"full_shard", "zero", "3"},
                                                       {"fully_shard", "zero", "3"},
                                                       {"no_shard", "zero", "0"},
                                                       {"distributed_optimizer", "zero", "1"},
                                                       {"use_distributed_optimizer", "zero", "1"},
                                                       {"sp", "sequence_parallel", "true"},
                                                       {"sequence_parallel", "sequence_parallel", "true"},
                                                       {"no_sp", "sequence_parallel", "false"},
                                                       {"full_recompute", "recompute", "full"},
                                                       {"full_ac", "recompute", "full"},
                                                       {"gradient_checkpointing", "recompute", "full"},
                                                       {"activation_checkpointing", "recompute", "full"},
                                                       {"selective_recompute", "recompute", "selective"},
                                                       {"selective_ac", "recompute", "selective"},
                                                       {"no_recompute", "recompute", "none"},
                                                       {"no_ac", "recompute", "none"},
                                                       {"stage0", "zero", "0"},
                                                       {"stage1", "zero", "1"},
                                                       {"stage2", "zero", "2"},
                                                       {"stage3", "zero", "3"},
                                                       {"stage_0", "zero", "0"},
                                                       {"stage_1", "zero", "1"},
                                                       {"stage_2", "zero", "2"},
                                                       {"stage_3", "zero", "3"},
                                                       {"optim", "zero", "1"},
                                                       {"optim_grads", "zero", "2"},
                                                       {"optim_grads_params", "zero", "3"},
                                                       {"flash", "attention", "flash2"},
                                                       {"flash_attention", "attention", "flash2"},
                                                       {"flash_attn", "attention", "flash2"},
                                                       {"flash_attention_2", "attention", "flash2"},
                                                       {"flash_attention_3", "attention", "flash3"},
                                                       {"no_flash_attention", "attention", "unfused"},
                                                       {"eager", "attention", "unfused"},
                                                       {"interleaved_1f1b", "schedule", "interleaved"},
                                                       {"interleaved1f1b", "schedule", "interleaved"},
                                                       {"zb", "schedule", "zb-1p"},
                                                       {"zero_bubble", "schedule", "zb-1p"},
                                                       {"zb_h1", "schedule", "zb-1p"},
                                                       {"zb_h2", "schedule", "zb-2p"},
                                                       {"zb_v", "schedule", "zbv"},
                                                       {"zbvzerobubble", "schedule", "zbv"},
                                                       {"loopedbfs", "schedule", "looped-bfs"},
                                                       {"ulysses", "context_algorithm", "all_to_all"},
                                                       {"offload", "offload_optimizer", "true"}});

constexpr std::array kAnswers = std::to_array<Word>({{"yes", "true"},
                                                     {"on", "true"},
                                                     {"true", "true"},
                                                     {"always", "true"},
                                                     {"no", "false"},
                                                     {"off", "false"},
                                                     {"false", "false"},
                                                     {"never", "false"}});

// What people say that no axis is: where it is said, or what says it.
constexpr std::string_view kBatch = "belongs to the question: give --global-batch", kSequence = "belongs to the question: give --sequence",
                           kPrecision = "belongs to the question: give --precision",
                           kOptimizer = "belongs to the question: give --optimizer",
                           kAccumulated = "follows from batch, data and microbatch: fix those, as in --fix dp=8 --fix mbs=2",
                           kHybrid = "takes a number: say how many replicas, as in --fix fsdp --fix dp_replicate=4",
                           kLayersAChunk = "is said by how many chunks a stage has: --fix vpp=2",
                           kKeepsWeights = "is said in two words: --fix zero3 --fix reshard=false",
                           kDevices = "belongs to the question: give --devices",
                           kCompiled = "is of the program: give --software of one that compiles its blocks, like fms-fsdp",
                           kTwoCopies = "holds the weights twice, as no plan does: --fix dualpipev is its half, which holds them once";
constexpr std::array kElsewhere = std::to_array<Word>({{"gas", kAccumulated},
                                                       {"gradient_accumulation", kAccumulated},
                                                       {"gradient_accumulation_steps", kAccumulated},
                                                       {"microbatches", kAccumulated},
                                                       {"num_microbatches", kAccumulated},
                                                       {"gbs", kBatch},
                                                       {"global_batch", kBatch},
                                                       {"global_batch_size", kBatch},
                                                       {"train_batch_size", kBatch},
                                                       {"seq", kSequence},
                                                       {"seq_len", kSequence},
                                                       {"seq_length", kSequence},
                                                       {"sequence", kSequence},
                                                       {"sequence_length", kSequence},
                                                       {"max_seq_len", kSequence},
                                                       {"precision", kPrecision},
                                                       {"bf16", kPrecision},
                                                       {"fp16", kPrecision},
                                                       {"fp8", kPrecision},
                                                       {"mxfp8", kPrecision},
                                                       {"nvfp4", kPrecision},
                                                       {"optimizer", kOptimizer},
                                                       {"adam", kOptimizer},
                                                       {"adamw", kOptimizer},
                                                       {"muon", kOptimizer},
                                                       {"compile", kCompiled},
                                                       {"torch_compile", kCompiled},
                                                       {"dualpipe", kTwoCopies},
                                                       {"devices", kDevices},
                                                       {"gpus", kDevices},
                                                       {"world_size", kDevices},
                                                       {"hsdp", kHybrid},
                                                       {"hybrid_shard", kHybrid},
                                                       {"shard_grad_op", kKeepsWeights},
                                                       {"num_layers_per_virtual_pipeline_stage", kLayersAChunk}});

// As names are compared: "--Tensor-Parallel" is "tensor_parallel".
std::string plain(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of('-'), text.size()));
  std::string name(text);
  for (char& letter : name)
    letter = letter == '-' || letter == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name;
}

// Its own name, if nobody calls it otherwise.
std::string axis_named(std::string_view said) {
  const auto word = std::ranges::find(kNames, plain(said), &Word::said);
  return std::string(word == kNames.end() ? said : word->meant);
}

// Empty: an axis, or nobody says it.
std::string_view elsewhere(std::string_view text) {
  const std::string axis = axis_named(text.substr(0, text.find('=')));
  const bool is_told_by_value = axis != text && (axis == "zero" || axis == "schedule");
  const std::string said = plain(is_told_by_value ? text.substr(text.find('=') + 1) : text.substr(0, text.find('=')));
  const auto word = std::ranges::find(kElsewhere, said, &Word::said);
  return word == kElsewhere.end() ? std::string_view() : word->meant;
}

const Phrase* phrase_of(std::string_view said) {
  const auto phrase = std::ranges::find(kPhrases, said, &Phrase::said);
  return phrase == kPhrases.end() ? nullptr : &*phrase;
}

std::string schedule_named(const std::string& said) {
  for (const sim::Schedule& schedule : sim::all_schedules())
    if (plain(schedule.name) == said) return std::string(schedule.name);
  return "";
}

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && number > 0 && number <= 1'000'000 ? number : 0;
}

// What a switch means where the axis is none.
struct Switch {
  std::string_view axis, on, off;
};
constexpr Switch kSwitches[] = {{"recompute", "full", "none"}, {"attention", "flash2", "unfused"}};

// "yes", as tables of plans say it; "stage3" of zero, as it is said without the name, too.
std::string answer(const std::string& axis, std::string_view value) {
  const auto word = std::find_if(kAnswers.begin(), kAnswers.end(), [&](const Word& one) { return one.said == plain(value); });
  const std::string_view meant = word == kAnswers.end() ? value : word->meant;
  const auto of_axis = std::ranges::find(kSwitches, axis, &Switch::axis);
  if (of_axis != std::end(kSwitches) && meant == "true") return std::string(of_axis->on);
  if (of_axis != std::end(kSwitches) && meant == "false") return std::string(of_axis->off);
  const Phrase* const phrase = phrase_of(plain(value));
  return std::string(phrase != nullptr && phrase->axis == axis ? phrase->value : meant);
}

}  // namespace

std::vector<Argument> axes_said(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    const std::string said = plain(text);
    if (const std::string schedule = schedule_named(said); !schedule.empty()) return {{"schedule", schedule}};
    const Phrase* const phrase = phrase_of(said);
    return phrase == nullptr ? std::vector<Argument>{} : std::vector<Argument>{{std::string(phrase->axis), std::string(phrase->value)}};
  }
  const std::string own(text.substr(0, equals));
  if (own.empty() || equals + 1 == text.size()) return {};
  const std::string axis = axis_named(own), value = answer(axis, text.substr(equals + 1));
  if (axis == kShards) return {{axis, value}, {"zero", "3"}};
  if (axis == kUlysses) return {{"context", value}, {"context_algorithm", "all_to_all"}};
  if (axis != "schedule") return {{axis, value}};
  const std::string schedule = schedule_named(plain(value));
  return {{axis, schedule.empty() ? value : schedule}};
}

void settle_shards(std::vector<Argument>& axes) {
  const auto named = [&](std::string_view name) {
    return std::find_if(axes.begin(), axes.end(), [&](const Argument& axis) { return axis.name == name; });
  };
  const auto shards = named(kShards);
  if (shards == axes.end()) return;
  const std::int64_t shard = number_of(shards->value), replicas = named("replicas") == axes.end() ? 1 : number_of(named("replicas")->value);
  shards->name = "data";
  if (shard * replicas > 0) shards->value = std::to_string(shard * replicas);
}

Fixed fixed_as_said(const std::vector<std::string>& said) {
  const auto refuse = [](const std::string& problem, const std::string& remedy) {
    throw sim::InputError("--fix", {{"", problem, remedy}});
  };
  std::vector<Argument> axes;
  for (const std::string& text : said) {
    if (const std::string_view where = elsewhere(text); !where.empty()) refuse("'" + text + "' is no axis", "it " + std::string(where));
    const std::vector<Argument> meant = axes_said(text);
    if (meant.empty()) refuse("'" + text + "' is not axis=value", "write it like tensor=4 (or tp=4), or in a word like 1F1B or zero3");
    for (const Argument& one : meant)
      if (std::find(axes.begin(), axes.end(), one) == axes.end()) axes.push_back(one);
  }
  settle_shards(axes);
  Fixed fixed;
  for (const Argument& one : axes)
    if (!fixed.emplace(one.name, one.value).second) refuse(one.name + " is fixed twice", "keep one");
  return fixed;
}

}  // namespace planner
