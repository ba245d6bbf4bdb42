#include "sim/recipe/draft.h"

#include "sim/plan/drives.h"
#include "sim/recipe/accounting.h"
#include "sim/recipe/attention_words.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"
#include "sim/units/number_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

namespace sim {
namespace {

constexpr std::string_view kSeparators = "()[],'\"";  // around lists: of rates by epoch, of betas

constexpr std::int64_t kLargestNumber = 1'000'000'000'000'000;

std::optional<double> number_in(std::string text) {
  if (!text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) != 0) std::erase(text, '_');  // 220_000_000
  return sim::number_in<double>(text);
}

// The file knows best.
std::int64_t stated(Draft& draft, std::optional<std::int64_t> in_file, std::int64_t given, const std::string& option) {
  if (in_file && given != 0 && *in_file != given)
    draft.notes.push_back({option, fmt::format("is {}, and the file says {}: that is taken", given, *in_file), "change the file"});
  return in_file.value_or(given);
}

void settle_data_degree(Draft& draft) {
  DeviceMesh& mesh = draft.plan.mesh;
  const std::int64_t devices = draft.plan.cluster.devices, others = std::int64_t{mesh.tensor} * mesh.pipeline * mesh.context;
  const std::string& variable = draft.launch.filled_in;  // of the job's head, which may be overruled
  if (draft.processes && *draft.processes != devices)
    (draft.are_processes_certain && variable.empty() ? draft.wrong : draft.notes)
        .push_back({"", fmt::format("starts {}, and the cluster has {}", counted(*draft.processes, "process"), counted(devices, "device")),
                    variable.empty() ? "give --devices to match" : fmt::format("give --devices to match, or --set {}=number", variable)});
  if (devices % others != 0)
    return draft.wrong.push_back({"",
                                  fmt::format("tensor {} x pipeline {} x context {} = {} does not divide the cluster's {} devices",
                                              mesh.tensor, mesh.pipeline, mesh.context, others, devices),
                                  "give the cluster that this is for, with --devices"});
  mesh.data = static_cast<std::int32_t>(devices / others);
}

void settle_sharding(Draft& draft) {
  if (!draft.shard && !draft.replicate) return;
  DeviceMesh& mesh = draft.plan.mesh;
  const std::int64_t copies = std::max<std::int64_t>(1, draft.replicate.value_or(1));
  const std::int64_t shard = draft.shard.value_or(1) < 1 ? mesh.data / copies : draft.shard.value_or(1);
  if (copies > mesh.data || shard != mesh.data / copies || mesh.data % copies != 0)
    return draft.wrong.push_back({"",
                                  fmt::format("replicate {} x shard {} are not the {} data ranks that are left of {} devices", copies,
                                              shard, mesh.data, draft.plan.cluster.devices),
                                  "give the cluster that this is for, with --devices"});
  const bool moves_alone = draft.plan.offload_parameters && draft.plan.cluster.devices == 1;  // units come up from the host on one, too
  const bool cuts = shard * mesh.context > 1 || moves_alone;
  draft.plan.zero_stage = cuts ? 3 : 0;
  mesh.replicas = cuts ? static_cast<std::int32_t>(copies) : 1;
}

void settle_batch(Draft& draft, const RecipeContext& context) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t data = plan.mesh.data;
  const auto sane = [&](std::int64_t number) { return std::clamp<std::int64_t>(number, 0, kMostSamples); };
  plan.workload.sequence = sane(stated(draft, draft.sequence, context.sequence, "--sequence"));
  std::int64_t global = sane(stated(draft, draft.global_batch, context.global_batch, "--global-batch"));
  std::int64_t micro = sane(stated(draft, draft.microbatch, context.microbatch, "--microbatch"));
  std::int64_t steps = sane(draft.accumulation_steps.value_or(0));
  if (draft.accumulates_once && steps == 0 && (global == 0 || micro == 0)) steps = 1;
  if (micro == 0 && steps > 0) micro = global / (steps * data);
  if (micro == 0) {
    micro = 1;
    draft.unknown.push_back({"--microbatch", "is neither given nor in the file: taken as 1 sample", "give --microbatch"});
  }
  if (global == 0 && steps > 0)
    global = sane(
        static_cast<std::int64_t>(std::min(1e15, static_cast<double>(micro) * static_cast<double>(steps) * static_cast<double>(data))));
  if (plan.workload.sequence == 0) draft.wrong.push_back({"--sequence", "is not in the file", "give --sequence, tokens a sample"});
  if (global == 0) draft.wrong.push_back({"--global-batch", "is not in the file", "give --global-batch, samples a step"});
  if (global > 0 && steps > 0 &&
      static_cast<double>(micro) * static_cast<double>(steps) * static_cast<double>(data) != static_cast<double>(global))
    draft.wrong.push_back(
        {"",
         fmt::format("microbatch {} x {} accumulation steps x {} data ranks are not the global batch of {}", micro, steps, data, global),
         "correct one of them"});
  plan.workload.global_batch = std::max<std::int64_t>(1, global);
  plan.microbatch_size = micro;
}

void settle_cut(Draft& draft) {
  ParallelPlan& plan = draft.plan;
  const std::int64_t parts = std::int64_t{plan.mesh.pipeline} * plan.chunks;
  if (parts > plan.model.inner_layers() + (draft.blocks.empty() ? 0 : 2))
    return draft.wrong.push_back(
        {"", fmt::format("{} stages x {} chunks are more than the model's {} blocks", plan.mesh.pipeline, plan.chunks, plan.model.layers),
         "use fewer"});
  if (draft.blocks.empty()) {
    plan.cut = even_cut(plan.model.inner_layers(), {.stages = plan.mesh.pipeline, .microbatches = 1, .chunks = plan.chunks});
    return;
  }
  const std::int64_t sum = std::accumulate(draft.blocks.begin(), draft.blocks.end(), std::int64_t{0});
  if (std::ssize(draft.blocks) != parts || sum != plan.model.layers)
    return draft.wrong.push_back(
        {"", fmt::format("cuts {} blocks into {} chunks, and the model has {} for {}", sum, draft.blocks.size(), plan.model.layers, parts),
         "correct the cut"});
  std::int64_t next = 1;
  for (const std::int64_t blocks : draft.blocks) {
    const bool predicts = plan.model.predicts_apart() && plan.cut.first.size() == draft.part_of_predictions;
    plan.cut.first.push_back(LayerIndex(plan.cut.first.empty() ? 0 : static_cast<std::int32_t>(next)));
    next += blocks + (predicts ? 1 : 0);
  }
}

// Of the largest block: layers are gathered one by one there.
std::int64_t elements_of_unit(const ParallelPlan& plan) {
  const ModelGraph model = make_model_graph(plan);
  std::int64_t most = 1;
  for (std::size_t layer = 1; layer + 1 < model.layers.size(); ++layer) {
    std::int64_t elements = 0;
    for (const Parameter& parameter : model.layers[layer].parameters) elements += parameter.elements();
    most = std::max(most, elements);
  }
  return most;
}

// A part of one counts as one.
std::int32_t units_ahead(const ParallelPlan& plan, std::int64_t elements) {
  if (elements <= 0) return 0;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(elements / elements_of_unit(plan), 1, kMostPrefetched));
}

}  // namespace

std::string text_of(const Draft& draft, const std::string& key, std::string otherwise) {
  const auto found = draft.said.find(key);
  if (found != draft.said.end()) return found->second;
  return otherwise;
}

bool flag_of(const Draft& draft, const std::string& key, bool otherwise) {
  const auto found = draft.said.find(key);
  return found == draft.said.end() ? otherwise : is_on(found->second);
}

double number_of(const Draft& draft, const std::string& key, double otherwise) {
  return number_in(text_of(draft, key, "")).value_or(otherwise);
}

std::int64_t size_said(const Draft& draft, const std::string& key, std::int64_t otherwise) {
  constexpr double kLargest = 9e15;  // a double has each integer up to it
  const double number = number_of(draft, key, static_cast<double>(otherwise));
  return std::isfinite(number) ? static_cast<std::int64_t>(std::clamp(number, -kLargest, kLargest)) : otherwise;
}

std::string text_in_file(const Field& field, const ParallelPlan& plan) {
  if (field.write == nullptr) return "";
  const Written argument = field.write(plan);
  return spelled(field.spelling, argument.has_value(), argument.value_or(""));
}

bool is_on(const std::string& value) { return !value.empty() && !has_name("false no off none null disabled 0 []", in_lower_case(value)); }

const std::string* said(const Draft& draft, const std::string& key) {
  const auto found = draft.said.find(key);
  return found == draft.said.end() || !is_on(found->second) ? nullptr : &found->second;
}

bool Value::is_unknown() const {
  const std::vector<std::string> names = unknowns_in(setting_.value);
  if (names.empty()) return false;
  const bool is_variable = std::ranges::all_of(names, [](const std::string& name) {
    return std::ranges::all_of(name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  });
  wrong(fmt::format("is '{}', which the file alone does not say", shown(setting_.value)),
        is_variable ? fmt::format("give --set {}=..., or write the value", fmt::join(names, "=... --set "))
                    : "give the variable that holds it with --set NAME=..., or write the value");
  return true;
}

std::int64_t Value::count() const {
  const std::int64_t number = integer();
  if (number < 1 && number_in(setting_.value)) wrong(fmt::format("is {}, and must be at least 1", setting_.value), "correct it");
  return std::max<std::int64_t>(1, number);
}

std::int64_t Value::integer() const {
  if (is_unknown()) return 0;
  const std::optional<double> number = number_in(setting_.value);
  if (number && *number == std::floor(*number) && std::abs(*number) <= static_cast<double>(kLargestNumber))
    return static_cast<std::int64_t>(*number);
  if (setting_.value == "true")
    wrong("stands without a value", "write the number; where a variable of the script is empty, give --set NAME=value for it");
  else
    wrong(fmt::format("is '{}', which is no whole number", setting_.value), "write the number itself");
  return 0;
}

double Value::number(double most) const {
  if (is_unknown()) return 0;
  if (const std::optional<double> number = number_in(setting_.value); number && *number >= 0 && *number <= most) return *number;
  wrong(fmt::format("is '{}', which is no number from 0 to {}", setting_.value, most), "write the number itself");
  return 0;
}

bool Value::boolean() const {
  std::string text = setting_.value;
  if (text.starts_with(kUnknownBegin) && text.find(kUnknownEnd) + 1 == text.size()) {  // a flag, and a variable behind it
    draft_.unknown.push_back(
        {unknowns_in(text).front(), "is not set in the file: options that it holds are not read", "give --set for it"});
    return true;
  }
  constexpr std::string_view kTrue = "true yes on 1 t y", kFalse = "false no off 0 f n null none";
  text = in_lower_case(std::move(text));
  if (has_name(kTrue, text)) return true;
  if (!has_name(kFalse, text)) wrong(fmt::format("is '{}', which is neither true nor false", setting_.value), "write true or false");
  return false;
}

std::int32_t Value::degree() const {
  const std::int64_t number = integer();
  if (!unknowns_in(setting_.value).empty()) return 1;
  if (number >= 1 && number <= 1'000'000) return static_cast<std::int32_t>(number);
  wrong(fmt::format("is {}, and degrees are 1 to 1000000", number), "write a degree");
  return 1;
}

std::size_t Value::choice(std::span<const std::string_view> names) const {
  if (is_unknown()) return 0;
  const auto found = std::find(names.begin(), names.end(), setting_.value);
  if (found != names.end()) return position_in(names, found);
  std::vector<std::string_view> words(names.begin(), names.end());
  std::erase(words, "");  // what has no word here
  wrong(fmt::format("is '{}', which no plan says", setting_.value), fmt::format("use one of {}", fmt::join(words, ", ")));
  return 0;
}

void Value::must_be(std::int64_t expected) const {
  if (const std::int64_t number = integer(); number != expected)
    wrong(fmt::format("is {}, and the model has {}", number, expected), "give the config.json of the network that this trains");
}

void Value::wrong(std::string problem, std::string remedy) const {
  draft_.wrong.push_back({in_the_file(), std::move(problem), std::move(remedy)});
}
void Value::note(std::string problem, std::string remedy) const {
  draft_.notes.push_back({in_the_file(), std::move(problem), std::move(remedy)});
}
void Value::lost(std::string problem, std::string remedy) const {
  draft_.lost.push_back({in_the_file(), std::move(problem), std::move(remedy)});
}

void Value::unknown(std::string problem, std::string remedy) const {
  draft_.unknown.push_back({in_the_file(), std::move(problem), std::move(remedy)});
}

bool read_place(const Value& value, Draft& draft, OnDrive what) {
  constexpr std::string_view kPlaces[] = {"none", "cpu", "nvme"};
  const std::size_t place = value.choice(kPlaces);
  put_on_drive(draft.plan, what, place == 2);
  return place != 0;
}

void read_offload(const Value& value, Draft& draft) { draft.plan.offload_optimizer = read_place(value, draft, OnDrive::Optimizer); }
void read_offload_of_weights(const Value& value, Draft& draft) {
  draft.plan.offload_parameters = read_place(value, draft, OnDrive::Weights);
}
// Of stages 1 and 2; the third has no other way, and without a stage gradients cross whole.
void read_reduce_scatter(const Value& value, Draft& draft) {
  const std::string* const said_stage = said(draft, "zero_optimization.stage");
  const std::string stage = said_stage != nullptr ? *said_stage : text_of(draft, "zero-stage", "0");
  if (!value.boolean() && (stage == "1" || stage == "2"))
    value.lost("is false: gradients cross whole to all ranks; the plan's to their owners", "mind the time of the network");
}

std::string offload_text(const ParallelPlan& plan, OnDrive what) { return plan.has_on_drive(what) ? "nvme" : "cpu"; }

namespace {

struct SwapSetting {
  std::string_view name;
  std::int64_t usual;
};
constexpr SwapSetting kSwapSettings[] = {{"zero_optimization.sub_group_size", Drives::kGroup},
                                         {"zero_optimization.offload_optimizer.buffer_count", Drives::kBuffers},
                                         {"zero_optimization.offload_param.buffer_count", Drives::kWeightBuffers},
                                         {"zero_optimization.offload_param.buffer_size", Drives::kWeightBuffer},
                                         {"zero_optimization.offload_param.max_in_cpu", Drives::kWeightsKept}};
constexpr std::string_view kPipelined[] = {"zero_optimization.offload_optimizer.pipeline_read",
                                           "zero_optimization.offload_optimizer.pipeline_write"};

const std::string* said_by_either(const Draft& draft, std::string_view name) {  // GPT-NeoX writes dashes
  std::string dashed(name);
  std::ranges::replace(dashed, '_', '-');
  const std::string* const text = said(draft, std::string(name));
  return text != nullptr ? text : said(draft, dashed);
}

// Of what passes through the host's memory on its way from drives, where a file has other numbers.
void note_swapping(Draft& draft) {
  for (const SwapSetting& setting : kSwapSettings)
    if (const std::string* const text = said_by_either(draft, setting.name);
        text != nullptr && number_in(*text).value_or(static_cast<double>(setting.usual)) != static_cast<double>(setting.usual))
      draft.notes.push_back({std::string(setting.name),
                             fmt::format("is {}: in a plan on_drive has DeepSpeed's own, {}", *text, setting.usual),
                             "mind the host's memory"});
  for (const std::string_view name : kPipelined)
    if (const std::string* const text = said_by_either(draft, name); text != nullptr && (*text == "true" || *text == "True"))
      draft.notes.push_back(
          {std::string(name), "is true: in a plan what is on drives is read, stepped and written in turn", "expect a shorter step"});
}

// Half of what offload_param says, and the plan would say more.
void refuse_weights_alone_on_host(Draft& draft) {
  draft.plan.offload_parameters = false;
  draft.wrong.push_back({"offload_param",
                         "keeps weights on the host whose optimizer stays on the device; a plan has both there, or the optimizer alone",
                         "take the nearest two runs: import it without offload_param, and with offload_optimizer beside it"});
}

}  // namespace

void settle_drives(Draft& draft) {
  keep_drives_to_the_host(draft.plan);
  if (draft.plan.on_drive == OnDrive::None) return;
  if (draft.plan.zero_stage == 3) return note_swapping(draft);
  if (draft.plan.has_on_drive(OnDrive::Optimizer))
    draft.notes.push_back(
        {"offload_optimizer",
         fmt::format("is on drives in stage 3 alone, and this is stage {}: the host's memory has it", draft.plan.zero_stage),
         "as the program does it"});
  draft.plan.on_drive = OnDrive::None;
}

void take_stage_of_accelerate(Draft& draft, std::string setting) {
  draft.plan.zero_stage = 2;
  draft.notes.push_back({std::move(setting), "is not given: Accelerate's own is taken, 2", "write the stage"});
}

void settle_engine_of_deepspeed(Draft& draft) {
  if (text_of(draft, "zero_optimization.stage", "") == "auto")
    draft.wrong.push_back({"zero_optimization.stage", "is \"auto\", which Accelerate alone fills in",
                           "import the line or file of Accelerate that names this one, or write the stage"});
  settle_drives(draft);
  const bool on_host = std::exchange(draft.plan.offload_parameters, draft.plan.offload_parameters && draft.plan.zero_stage == 3);
  if (draft.plan.zero_stage == 3) {
    draft.plan.cluster.software.unit_buffers = false;
    if (on_host && !draft.plan.offload_optimizer) refuse_weights_alone_on_host(draft);
    return;
  }
  if (!on_host) return;
  draft.notes.push_back(
      {"offload_param", fmt::format("moves weights of stage 3 alone, and this is stage {}: they stay on the device", draft.plan.zero_stage),
       "as the program does it"});
}

// "(0.9, 0.98)", "[4]", "0.0003": numbers of a list, of which the first is meant where one is.
std::vector<double> numbers_of(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return kSeparators.find(c) != std::string_view::npos; }, ' ');
  std::vector<double> numbers;
  for (const std::string& one : words_of(text)) {
    double number = 0;
    if (std::from_chars(one.data(), one.data() + one.size(), number).ec != std::errc{}) return {};
    numbers.push_back(number);
  }
  return numbers;
}

void note_unpacked(std::int64_t sequence, Draft& draft) {
  draft.notes.push_back({"packing",
                         fmt::format("is off: {} tokens are the most that a sample has, and the plan takes all of them", sequence),
                         "give samples of that length; shorter ones take less time and memory"});
}

void read_pair_of_betas(const Value& v, Draft& d) {
  const std::vector<double> betas = numbers_of(v.text());
  if (betas.size() != 2) return v.wrong(fmt::format("is '{}', and two numbers are needed", v.text()), "write (0.9, 0.98)");
  d.plan.training.beta1 = betas[0], d.plan.training.beta2 = betas[1];
}

Written written(std::int64_t value) { return std::to_string(value); }
Written written_number(double value) { return fmt::format("{}", value); }
Written written_flag(bool set) { return written_if(set, "true"); }
Written written_if(bool holds, std::string value) { return holds ? Written(std::move(value)) : std::nullopt; }

std::vector<std::int64_t> blocks_of(const ParallelPlan& plan) {
  std::vector<std::int64_t> blocks;
  for (std::size_t part = 0; part < plan.cut.first.size(); ++part) {
    const std::int64_t behind = plan.model.layers + 1;
    const auto within = [&](LayerIndex layer) { return std::clamp<std::int64_t>(layer.value(), 1, behind); };
    const std::int64_t end = part + 1 < plan.cut.first.size() ? within(plan.cut.first[part + 1]) : behind;
    blocks.push_back(end - within(plan.cut.first[part]));
  }
  return blocks;
}

bool keeps_all_in_bf16(const PrecisionPolicy& policy) {
  return policy.compute() == Precision::Bf16 && policy.of(Numbers::Weights) == Precision::Bf16 &&
         policy.of(Numbers::Masters) == Precision::Bf16 && policy.of(Numbers::Moments) == Precision::Bf16;
}

bool reduces_in_fp32(const ParallelPlan& plan) {
  const PrecisionPolicy& policy = plan.workload.precision;
  return is_sixteen_bit(policy.compute()) && policy.of(Numbers::Wire) == Precision::Fp32;
}

PrecisionPolicy mixed_precision(const PrecisionPolicy& products, bool fp32_gradients) {
  const PrecisionPolicy policy = products.as_it_follows();
  return fp32_gradients && is_sixteen_bit(policy.compute()) ? policy.with(Numbers::Gradients, Precision::Fp32) : policy;
}

PrecisionPolicy with_wide(PrecisionPolicy policy, const Draft& draft) {
  for (std::size_t kind = 0; kind < kNumWideKinds; ++kind)
    if (const auto precision = draft.wide[kind]; precision && bytes_per_element(*precision) > bytes_per_element(policy.compute()))
      policy = policy.with(static_cast<WideKind>(kind), *precision);
  return policy;
}

PrecisionPolicy products_of(const Draft& draft, Precision compute, ScaleRecipe usual) {
  PrecisionPolicy policy(compute);
  if (!draft.scales_products) return policy;
  const BlockEnds ends{draft.unscaled_first.value_or(1), draft.unscaled_last.value_or(1)};
  return policy.with(draft.scales.value_or(usual), draft.gathers_scaled)
      .with_unscaled(draft.leaves_ends_unscaled ? blocks_at(ends, draft.plan.model.layers) : BlockRanges());
}

std::int64_t elements_of_bucket(const ParallelPlan& plan) {
  return std::max<std::int64_t>(1, plan.bucket_size.value() / plan.bytes(Numbers::Gradients).value());
}

// One unit: DeepSpeed's default, where that is not two.
std::int64_t elements_gathered_ahead(const ParallelPlan& plan) {
  constexpr std::int64_t kDefault = 50'000'000;
  if (plan.prefetch == 0) return 0;
  const std::int64_t unit = elements_of_unit(plan);
  return plan.prefetch == 1 && kDefault < 2 * unit ? kDefault : plan.prefetch * unit;
}

void complete_draft(Draft& draft, const RecipeContext& context) {
  note_other_counts(draft);
  settle_data_degree(draft);
  settle_sharding(draft);
  settle_batch(draft, context);
  settle_cut(draft);
  draft.plan.accumulation = (draft.reduces_each.value_or(false) || draft.plan.offload_parameters) && draft.plan.num_microbatches() > 1
                                ? Accumulation::ReduceEach
                                : Accumulation::ReduceLast;
  if (draft.bucket_elements)
    draft.plan.bucket_size = std::clamp<std::int64_t>(*draft.bucket_elements, 1, kLargestNumber) * draft.plan.bytes(Numbers::Gradients);
  settle_attention(draft);
  if (draft.plan.optimizer_in_backward) draft.plan.training.gradient_clip = 0;  // nobody has all gradients, whatever a file asks for
  draft.plan.paged_optimizer &= !draft.plan.offload_optimizer;                  // there is nothing left to page
  if (draft.wrong.empty()) draft.wrong = violations(draft.plan);
  if (draft.wrong.empty() && draft.prefetched_elements) draft.plan.prefetch = units_ahead(draft.plan, *draft.prefetched_elements);
}

}  // namespace sim
