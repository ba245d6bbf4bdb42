// A row of the published schema -> a plan. Reads `workload`, `hardware` and `plan` only; nulls go through rules, and are noted.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sim/clock/kernel_setting.h"
#include "sim/plan/pipeline_layout.h"
#include "sim/units/at.h"
#include "sim/units/json_reader.h"
#include "sim/validation/field_reader.h"
#include "sim/validation/row_blocks.h"
#include "sim/validation/row_fields.h"
#include "sim/validation/row_layout.h"

namespace sim {
namespace {

constexpr std::string_view kFormats[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "half"};
constexpr Precision kProducts[] = {Precision::Fp32, Precision::Tf32, Precision::Fp16, Precision::Bf16,
                                   Precision::Bf16, Precision::Bf16, Precision::Fp16};
constexpr std::size_t kTf32 = 1, kBf16 = 3, kFp8 = 4, kFp4 = 5;
constexpr std::string_view kGradientFormats[] = {"fp32", "bf16", "fp16"};
constexpr std::string_view kDispatcherWords[] = {"alltoall", "allgather", "hybridep", "deepep", "flex"};
constexpr TokenDispatcher kDispatchers[] = {TokenDispatcher::AllToAll, TokenDispatcher::AllGather, TokenDispatcher::Hierarchical,
                                            TokenDispatcher::Hierarchical, TokenDispatcher::Hierarchical};  // what they are
constexpr std::string_view kOptimizerWords[] = {
    "adam", "sgd_momentum", "lamb",      "lars", "rmsprop_ema",
    "muon", "adamw_8bit",   "adafactor", "sgd"};  // as OptimizerKind; the last one is Sgd without momentum
constexpr std::string_view kMapLayouts[] = {"nhwc", "nchw"};
constexpr std::string_view kPlaces[] = {"none", "cpu", "nvme"};
constexpr std::string_view kCuts[] = {"uniform", "first_last_minus_one", "embedding_and_loss_as_layers", "balance"};
constexpr std::size_t kUniform = 0, kBalance = 3;
constexpr std::string_view kSyncNames[] = {"all_reduce", "reduce_scatter"};
constexpr std::string_view kContextKinds[] = {"ring", "all_gather", "a2a"};  // as ContextAlgorithm
constexpr std::string_view kRecomputes[] = {"none", "selective", "full"};    // as Recompute

const Recomputation kEverySecondBlock{Recompute::Full, {.every = 2}};
struct RecomputeDetail {
  std::string_view name;
  Recomputation what;
};
const RecomputeDetail kDetails[] = {
    {"attention_core", {Recompute::Selective}},
    {"op", {Recompute::Selective, {.modules = Module::Op}}},
    {"every_second_layer", kEverySecondBlock},
    {"attention_core_some_microbatches", {Recompute::Selective}},
    {"save_projections", {Recompute::Selective, {.modules = Module::Mlp | Module::LayerNorm}}},
    {"gpipe_always", {Recompute::Full}},
    {"gpipe_except_last", {Recompute::Full, {.but_last = true}}},
};

// What a row says and no plan does: the plan is that of a run without it, which the row is told.
struct UnsaidWord {
  std::string_view block, key, taken;
};
constexpr UnsaidWord kUnsaid[] = {
    {"plan", "recompute_method", "every block by itself"},
    {"plan", "offload_activations", "false"},
    {"plan", "allocator", "the program's usual one"},
    {"plan", "deterministic", "false: the usual kernels"},
    {"plan", "kernels", "norm and loss as their own words say"},
};

// A set of kernels, as rows name it, and what it fuses beside norm and loss, which have words of their own. foak: fms-acceleration, fused-ops-and-kernels
// (framework_plugin_fast_kernels.py): positions always; beside turned positions adapters of quantized weights, which FSDP then leaves alone.
struct KernelSet {
  std::string_view name;
  bool fused_rotary = false, fused_adapters_of_packed = false, unpacks_by_one_kernel = false;
};
constexpr KernelSet kKernelSets[] = {
    {.name = "eager", .unpacks_by_one_kernel = true},  // of the same library, whose GPTQ is Triton's
    {.name = "foak", .fused_rotary = true, .fused_adapters_of_packed = true, .unpacks_by_one_kernel = true},
    {.name = "liger", .fused_rotary = true}};
// The default of PEFT's most common recipes (QLoRA, Dettmers et al. 2023; fms-hf-tuning, tuning/config/peft_config.py).
constexpr double kAdapterDropout = 0.05;

bool says_something(const Json& value) { return !value.is_null() && value != false && value != 0 && value != "none"; }

void tell_unsaid(const Json& row, std::vector<Assumption>& assumed) {
  const auto block_of = [&](std::string_view name) {
    const auto found = row.find(std::string(name));
    return found != row.end() && found->is_object() ? *found : Json::object();
  };
  for (const UnsaidWord& word : kUnsaid) {
    const Json block = block_of(word.block);
    const auto found = block.find(std::string(word.key));
    if (found != block.end() && says_something(*found))
      assumed.push_back({fmt::format("{}.{}", word.block, word.key), std::string(word.taken)});
  }
}

// Reads the blocks of one row. Nothing read is used as a plan before the reader has finished.
class RowReader {
 public:
  RowReader(const Json& row, const std::string& id, const RowProfiles& profiles)
      : row_(row), id_(id), profiles_(profiles), reader_(row, id) {}
  DescribedRow read();

 private:
  void read_stack(const JsonReader& plan);
  void read_layout(const FieldReader& at);
  void read_batches(const FieldReader& at);
  void read_cut(const FieldReader& at);
  void take_usual_cut();
  void read_pipeline_layout(const JsonReader& at);
  void read_sharding(const FieldReader& at);
  void read_unscaled(const JsonReader& plan);
  void read_precision(const FieldReader& at);
  void read_states(const JsonReader& states);
  void drop_masters();
  void take_half_states();
  void read_kernel_set(const std::string& text);
  void read_kernels(const FieldReader& at, const JsonReader& workload);
  void read_overlap(const FieldReader& at);
  void read_recompute(const FieldReader& at);
  void read_modules(const JsonReader& at);
  void read_graph_scope(const JsonReader& at);
  double gradient_bytes(const FieldReader& at, const std::string& key, double fallback) const;
  StageCut cut() const;
  void settle();

  const Json& row_;
  const std::string& id_;
  const RowProfiles& profiles_;
  JsonReader reader_;
  DescribedRow described_;
  ParallelPlan& plan_ = described_.plan;
  RowLayout layout_;
  RowNetwork network_;
  std::size_t format_ = kBf16, cut_ = 0, part_of_predictions_ = 0;
  bool sums_whole_ = false;
};

void RowReader::read_stack(const JsonReader& plan) {
  const JsonReader software = plan.has("software") ? plan.child("software") : plan;
  plan_.cluster.software = profiles_.programs.find({software.text("framework", ""), software.integer("year", 2100)});
  described_.assumed.push_back({"software profile", plan_.cluster.software.name});
}

void RowReader::read_batches(const FieldReader& at) {
  layout_.global_batch = at.size("global_batch", 8 * layout_.data * (layout_.pipeline > 1 ? layout_.pipeline : 1));
  layout_.micro_batch = at.has("micro_batch") ? at.required("micro_batch")
                                              : at.size("micro_batch", usual_micro_batch(layout_, network_.model, network_.sequence));
  const std::int64_t each = layout_.data * layout_.micro_batch;
  layout_.microbatches = at.size("num_microbatches", std::max<std::int64_t>(1, (layout_.global_batch + each - 1) / each));
  if (layout_.pipeline > 1) layout_.chunks = at.size("vpp", chunks_of(layout_, network_.model));
}

void RowReader::read_sharding(const FieldReader& at) {
  SoftwareStack& stack = plan_.cluster.software;
  layout_.zero_stage = at.reader().integer("zero_stage", 0, {0, 3});
  layout_.zero_group = at.size("zero_group", layout_.data * layout_.context, layout_.zero_stage > 0);
  plan_.reshard_after_forward = at.flag("reshard_after_forward", layout_.pipeline == 1) && layout_.zero_stage == 3;
  if (stack.unit_lists) plan_.prefetch = 0;  // it waits for each gather
  if (layout_.zero_stage == 3 && !at.reader().boolean("reshard_after_backward", true))
    plan_.reshard_after_backward = ReshardAfterBackward::Last;
  if (layout_.pipeline > 1 && layout_.tensor > 1) stack.scatter_gather = at.flag("p2p_scatter_gather", stack.scatter_gather);
  sums_whole_ = at.has("gradient_sync") ? at.reader().choice("gradient_sync", kSyncNames) == 0 : stack.zero1_all_reduce;
}

void RowReader::read_layout(const FieldReader& at) {
  layout_.data = at.required("dp");
  layout_.tensor = at.required("tp");
  layout_.pipeline = at.required("pp");
  layout_.context = at.size("cp", 1);
  layout_.expert = at.size("ep", 1);
  const bool cuts_experts = plan_.cluster.software.expert_tensor || layout_.expert == 1;
  layout_.expert_tensor = at.reader().integer("etp", cuts_experts ? layout_.tensor : 1, {1, 1 << 20});
  layout_.schedule = at.text("schedule", layout_.pipeline > 1 ? "1f1b" : "none");
  if (layout_.pipeline > 1 && layout_.schedule == "none") {
    layout_.schedule = "1f1b";
    described_.assumed.push_back({"plan.schedule", "1f1b: a pipeline has an order"});
  }
  if (at.reader().boolean("post_validation", false)) plan_.post_validation = PostValidation::InPlace;
  const bool is_asked = at.flag("sequence_parallel", false);  // read in any case: a word that is none is refused
  plan_.sequence_parallel = is_asked && layout_.tensor > 1;
  if (at.has("async_tp") && at.reader().boolean("async_tp", false) && plan_.sequence_parallel)
    plan_.tensor_overlap = TensorOverlap::AlongProducts;
  if (layout_.context > 1) plan_.context_algorithm = static_cast<ContextAlgorithm>(at.choice("cp_kind", kContextKinds, 0));
  read_sharding(at);
  read_cut(at);
  read_batches(at);
}

// Megatron-Core's text says where every block stands, whatever else is said of the cut.
void RowReader::read_pipeline_layout(const JsonReader& at) {
  const PipelineLayout layout = parse_pipeline_layout(at.text("pipeline_layout"));
  if (layout.unknown)
    at.violate("pipeline_layout", fmt::format("has a '{}'", *layout.unknown), "write E, t, m, L and |, with (..)*n and t*n");
  cut_ = kBalance;
  layout_.balance = layout.blocks;
  network_.model.mtp_apart = layout.is_further_apart() && network_.model.mtp_layers > 0;
  part_of_predictions_ = layout.last_further;
}

void RowReader::take_usual_cut() {
  if (!plan_.cluster.software.lightens_last_stage || layout_.pipeline == 1 || network_.model.convolution) return;
  cut_ = kBalance;
  layout_.balance = counts_with_a_light_end(layout_, network_.model);
  described_.assumed.push_back({"plan.partition", fmt::format("blocks by stage: {}", fmt::join(layout_.balance, ", "))});
}

void RowReader::read_cut(const FieldReader& at) {
  if (at.has("pipeline_layout")) return read_pipeline_layout(at.reader());
  if (!at.has("partition")) return take_usual_cut();
  const JsonReader partition = at.reader().child("partition");
  cut_ = partition.choice("kind", kCuts, kUniform);
  if (cut_ == kBalance) layout_.balance = partition.integers("balance");
}

double RowReader::gradient_bytes(const FieldReader& at, const std::string& key, double fallback) const {
  const bool half = format_ > kTf32;
  return !half || at.choice(key, kGradientFormats, fallback == 4 ? 0 : 1) == 0 ? 4 : 2;
}

std::optional<Precision> kept_in(const JsonReader& reader, const std::string& key) {
  constexpr std::string_view kNone = "none";
  if (!reader.has(key) || reader.text(key, "") == kNone) return std::nullopt;
  return static_cast<Precision>(reader.choice(key, kPrecisionNames));
}

// No masters: the optimizer steps the weights themselves, and their gradients are of their type.
void RowReader::read_states(const JsonReader& states) {
  PrecisionPolicy& policy = plan_.workload.precision;
  const std::optional<Precision> moments = kept_in(states, "moments"), masters = kept_in(states, "master");
  if (masters) policy = policy.with(Numbers::Masters, *masters);
  if (!masters && states.has("master")) drop_masters();
  if (moments) policy = policy.with(Numbers::Moments, *moments);
}

void RowReader::take_half_states() {
  drop_masters();
  plan_.workload.precision = plan_.workload.precision.with(Numbers::Moments, plan_.workload.precision.compute());
  described_.assumed.push_back({"plan.optimizer_state_precision", "as the weights: the program keeps no masters"});
}

void RowReader::drop_masters() {
  PrecisionPolicy& policy = plan_.workload.precision;
  policy = policy.with(Numbers::Gradients, policy.compute()).with(Numbers::Masters, policy.compute());
  plan_.cluster.software.accumulate_bytes = real(plan_.bytes(Numbers::Gradients).value());
}

void RowReader::read_unscaled(const JsonReader& plan) {
  const std::string text = plan.text("unscaled_products");
  const auto parts = parse_product_parts(text);
  if (!parts || !plan_.workload.precision.scales())
    plan.violate("unscaled_products", fmt::format("{}: no modules of blocks beside products with scales", text),
                 "use attention, keys, mlp or experts");
  else
    plan_.workload.precision = plan_.workload.precision.with_unscaled(*parts);
}

void RowReader::read_precision(const FieldReader& at) {
  SoftwareStack& stack = plan_.cluster.software;
  format_ = at.choice("precision", kFormats, kBf16);
  const bool casts_weights = at.flag("fp8_params", false) && (format_ == kFp8 || format_ == kFp4);
  const auto usual = static_cast<std::size_t>(stack.scales_when_used ? ScaleRecipe::Tensorwise : ScaleRecipe::Delayed);
  const std::size_t scales =
      format_ == kFp8 ? at.choice("fp8_recipe", kScaleRecipeNames, usual) : at.reader().choice("fp8_recipe", kScaleRecipeNames, usual);
  PrecisionPolicy& policy = plan_.workload.precision = PrecisionPolicy(kProducts[format_]);
  if (format_ == kFp8) policy = policy.with(static_cast<ScaleRecipe>(scales), casts_weights);
  if (format_ == kFp4) policy = policy.with(ScaleRecipe::Nvfp4, casts_weights);
  if (at.has("unscaled_products")) read_unscaled(at.reader());
  const double reduced = gradient_bytes(at, "grad_reduce_precision", stack.reduce_bytes);
  stack.accumulate_bytes = gradient_bytes(at, "grad_accum_precision", stack.accumulate_bytes);
  if (reduced == 4) policy = policy.with(Numbers::Gradients, Precision::Fp32);
  if (at.has("optimizer_state_precision"))
    read_states(at.reader().child("optimizer_state_precision"));
  else if (stack.half_states && is_sixteen_bit(policy.compute()))
    take_half_states();
}

void RowReader::read_kernel_set(const std::string& text) {
  SoftwareStack& stack = plan_.cluster.software;
  std::optional<Adapters>& adapters = network_.model.adapters;
  if (adapters && stack.unfused_adapters) {
    adapters->dropout = kAdapterDropout;
    described_.assumed.push_back({"workload.lora.dropout", fmt::format("{}", kAdapterDropout)});
  }
  for (const KernelSet& set : kKernelSets) {
    if (text.find(set.name) == std::string::npos) continue;
    stack.fused_rotary |= set.fused_rotary;
    if (set.unpacks_by_one_kernel) stack.unpacks_by_operator = false;
    const bool is_packed = adapters && adapters->base != BaseFormat::Weights && network_.model.position == Position::Rotary;
    if (set.fused_adapters_of_packed && is_packed) stack.unfused_adapters = false;
  }
}

void RowReader::read_kernels(const FieldReader& at, const JsonReader& workload) {
  SoftwareStack& stack = plan_.cluster.software;
  const std::string stated = at.text("attention_kernel", stack.attention);
  const bool is_family = stated.empty() || stated == "flash" || stated == "no_flash";  // which of them: the program's
  if (!is_family && std::ranges::find(kAttentionKernelNames, stated) == std::end(kAttentionKernelNames))
    at.reader().violate("attention_kernel", fmt::format("is '{}', the name of no kernel", stated),
                        fmt::format("use {}, flash or no_flash", fmt::join(kAttentionKernelNames, ", ")));
  const AttentionKernel attention = attention_kernel(stack, stated);
  stack.attention = sim::at(kAttentionKernelNames, attention);
  stack.fused_norm = at.flag("fused_norm", fuses_norm(stack, network_.model.norm == Norm::RmsNorm));
  stack.unfused_rms_norm = false;  // of this network's norm it is said
  stack.fused_loss = at.flag("fused_cross_entropy", stack.fused_loss);
  // Megatron-Core's cross_entropy_fusion_impl: TransformerEngine's writes the gradient over the logits.
  constexpr std::string_view kLossKernels[] = {"native", "te"};
  if (at.reader().choice("cross_entropy_impl", kLossKernels, 0) == 1) stack.fused_loss_bytes = kBytesOfLossInPlace;
  if (at.has("fused_linear_cross_entropy")) stack.loss_in_pieces = at.reader().boolean("fused_linear_cross_entropy", false);
  stack.compiled = at.flag("compiled", stack.compiled);
  if (at.has("fused_activation")) stack.fused_activation = at.reader().boolean("fused_activation", false);
  if (at.has("fused_rotary")) stack.fused_rotary = at.reader().boolean("fused_rotary", false);
  if (at.has("gradient_accumulation_fusion")) stack.fused_accumulation = at.reader().boolean("gradient_accumulation_fusion", false);
  stack.channels_first = at.reader().choice("memory_format", kMapLayouts, stack.channels_first ? 1 : 0) == 1;
  read_kernel_set(at.reader().text("kernels", ""));
  if (workload.has("moe") && !workload.child("moe").boolean("grouped_gemm", true)) stack.expert_workspaces = 0;
  if (workload.has("dropout")) stack.dropout = workload.child("dropout").number("hidden", 0.0, {0, 1}) > 0;
  plan_.cuda_graphs = static_cast<CudaGraphs>(at.choice("cuda_graphs", kCudaGraphsNames, 0));
  if (at.has("cuda_graph_scope")) read_graph_scope(at.reader());
  const std::size_t dispatcher = at.reader().choice("dispatcher", kDispatcherWords, 0);
  if (at.has("dispatcher") && layout_.expert > 1) plan_.token_dispatcher = sim::at(kDispatchers, dispatcher);
  const bool overlaps = at.reader().boolean("ep_overlap", false) && layout_.expert > 1;
  plan_.expert_overlap = overlaps && layout_.zero_stage < 3;
  plan_.delay_wgrad = plan_.expert_overlap && at.reader().boolean("delay_wgrad", false);
  if (overlaps && layout_.zero_stage == 3)
    described_.assumed.push_back({"plan.ep_overlap", "false: units are gathered and freed one after the other"});
  plan_.microbatch_group = static_cast<std::int32_t>(at.reader().integer("microbatch_group", 0, {0, kMostMicrobatches}));
  const std::size_t optimizer = at.choice("optimizer", kOptimizerWords, 0);
  const bool lacks_momentum = optimizer + 1 == std::size(kOptimizerWords);
  plan_.workload.optimizer = lacks_momentum ? OptimizerKind::Sgd : static_cast<OptimizerKind>(optimizer);
  stack.plain_optimizer |= lacks_momentum;
  const std::size_t place = at.choice("offload", kPlaces, 0);
  plan_.offload_optimizer = place > 0;
  if (place == 2) plan_.on_drive = OnDrive::Optimizer;
}

void RowReader::read_overlap(const FieldReader& at) {
  static const Json kNothing = Json::object();
  SoftwareStack& stack = plan_.cluster.software;
  const JsonReader reader = at.has("overlap") ? at.reader().child("overlap") : JsonReader(kNothing, "");
  const FieldReader overlap(reader, "plan.overlap", described_.assumed);
  stack.overlap_reduce = overlap.flag("grad_reduce", stack.overlap_reduce);
  stack.overlap_gather = overlap.flag("param_gather", stack.overlap_gather);
  stack.overlap_tensor = overlap.flag("tp", stack.overlap_tensor);
  stack.overlap_pipeline = overlap.flag("p2p", stack.overlap_pipeline);
}

// Megatron's names.
void RowReader::read_graph_scope(const JsonReader& at) {
  GraphScope scope;
  for (const Json& name : at.json().at("cuda_graph_scope")) {
    const std::optional<GraphPart> part = graph_part(name.is_string() ? name.get<std::string>() : "");
    if (!part)
      at.violate("cuda_graph_scope", fmt::format("{} is nothing that a graph of layers holds", name.dump()), "use Megatron-Core's names");
    if (part) scope = scope.with(*part);
  }
  if (plan_.cuda_graphs == CudaGraphs::PerLayer) plan_.graph_scope = scope;
}

void RowReader::read_modules(const JsonReader& at) {
  std::string text;
  for (const Json& name : at.json().at("recompute_modules"))
    text += (text.empty() ? "modules " : ",") + (name.is_string() ? name.get<std::string>() : "?");
  std::vector<Violation> found;
  const RecomputeScope scope = parse_recompute_scope(text, found);
  for (const Violation& violation : found) at.violate("recompute_modules", violation.problem, violation.remedy);
  described_.recompute_parts_open = false;
  set_recomputation(plan_, {Recompute::Selective, scope});
}

// Selective without a detail: of attention's core; of every second block where weights are sharded.
void RowReader::read_recompute(const FieldReader& at) {
  plan_.recompute = static_cast<Recompute>(at.reader().choice("recompute", kRecomputes, 0));
  std::vector<std::string_view> names;
  for (const RecomputeDetail& detail : kDetails) names.push_back(detail.name);
  const std::size_t detail = at.reader().choice("recompute_detail", names, 0);
  described_.recompute_open = !at.has("recompute");
  described_.recompute_parts_open = plan_.recompute == Recompute::Selective && !at.has("recompute_detail");
  if (plan_.recompute == Recompute::None) return;
  if (at.has("recompute_modules") && plan_.recompute == Recompute::Selective)
    read_modules(at.reader());
  else if (at.has("recompute_detail"))
    set_recomputation(plan_, kDetails[detail].what);
  else if (described_.recompute_parts_open && layout_.zero_stage == 3)
    set_recomputation(plan_, kEverySecondBlock);
}

MemoryQuestion read_question(const JsonReader& asked) {
  MemoryQuestion question;
  const std::string kind = asked.text("memory_kind", "");
  if (kind.find("device") != std::string::npos) question.counter = MemoryCounter::Device;
  if (kind.find("reserved") != std::string::npos) question.counter = MemoryCounter::Reserved;
  if (kind.find("allocated") != std::string::npos) question.counter = MemoryCounter::Allocated;
  question.rank = static_cast<AskedRank>(asked.choice("memory_rank", kAskedRankNames, 0));
  return question;
}

// A balance counts blocks; of a convolutional network its children, which the ends are among.
StageCut RowReader::cut() const {
  const ModelConfig& model = network_.model;
  if (cut_ == kUniform)
    return even_cut(model.inner_layers(), {static_cast<std::int32_t>(layout_.pipeline), static_cast<std::int32_t>(layout_.microbatches),
                                           static_cast<std::int32_t>(layout_.chunks)});
  std::vector<std::int64_t> layers = cut_ == kBalance ? layout_.balance : counts_with_ends(layout_, model);
  if (!model.convolution || cut_ != kBalance) ++layers.front();
  if (model.predicts_apart()) ++layers[part_of_predictions_];
  return cut_after(layers);
}

// Ranks that keep a shard of gradients add that of each microbatch to it: no whole gradient waits for the last one (deepspeed/runtime/zero/stage_1_and_2.py,
// FullyShardedDataParallel, Paddle's GroupShardedStage2). A pipeline's later chunks of stage 2 wait, as theirs of stage 1 do.
bool sums_shards(const ParallelPlan& plan) { return plan.zero_stage == 3 || (plan.zero_stage == 2 && plan.mesh.pipeline == 1); }

// From here on every number is within its range.
void RowReader::settle() {
  const auto small = [](std::int64_t count) { return static_cast<std::int32_t>(count); };
  plan_.model = network_.model;
  plan_.cluster.devices = small(layout_.gpus);
  plan_.workload.sequence = std::max<std::int64_t>(1, std::llround(network_.sequence));
  plan_.workload.global_batch = layout_.data * layout_.micro_batch * layout_.microbatches;
  if (plan_.workload.global_batch != layout_.global_batch)
    described_.assumed.push_back({"plan.global_batch", fmt::format("{}: whole microbatches", plan_.workload.global_batch)});
  plan_.mesh = {.data = small(layout_.data),
                .pipeline = small(layout_.pipeline),
                .tensor = small(layout_.tensor),
                .context = small(layout_.context),
                .expert = small(layout_.expert),
                .expert_tensor = !plan_.model.experts || layout_.expert_tensor == layout_.tensor ? 0 : small(layout_.expert_tensor)};
  if (plan_.model.experts && plan_.model.experts->biases && plan_.mesh.expert_cut() > 1) {
    plan_.model.experts->biases = false;
    described_.assumed.push_back({"workload.bias", "none of experts: tensor ranks share them"});
  }
  plan_.vocabulary_multiple = plan_.model.vocabulary % layout_.tensor == 0 ? layout_.tensor : 128 * layout_.tensor;
  const std::string_view sync = "-sync";  // the step waits for all stages, as ours do
  plan_.schedule = layout_.pipeline == 1              ? "1f1b"
                   : layout_.schedule.ends_with(sync) ? layout_.schedule.substr(0, layout_.schedule.size() - sync.size())
                                                      : layout_.schedule;
  plan_.chunks = small(layout_.chunks);
  plan_.cut = cut();
  plan_.microbatch_size = layout_.micro_batch;
  const std::int64_t copies = layout_.data * layout_.context;
  plan_.zero_stage = layout_.zero_group == 1 && copies > 1 ? 0 : small(layout_.zero_stage);  // a group of one shards nothing
  if (plan_.zero_stage > 0) plan_.mesh.replicas = small(copies / layout_.zero_group);
  if (plan_.zero_stage < 3 && plan_.on_drive != OnDrive::None) {
    plan_.on_drive = OnDrive::None;
    described_.assumed.push_back({"plan.offload", "cpu: stage 3 alone has states on a drive"});
  }
  const bool stays = layout_.pipeline > 1 || plan_.reshard_after_backward == ReshardAfterBackward::Last;
  const bool keeps_weights = layout_.zero_stage == 3 && !plan_.reshard_after_forward && stays;  // through the step
  if (sums_shards(plan_) && !keeps_weights) plan_.accumulation = Accumulation::ReduceEach;
  if ((plan_.zero_stage == 1 || plan_.zero_stage == 2) && sums_whole_) plan_.gradient_sync = GradientSync::AllReduce;
  plan_.overlap_weight_gather = plan_.cluster.software.overlap_gather && (plan_.zero_stage == 1 || plan_.zero_stage == 2) &&
                                plan_.mesh.shards() > 1 && !plan_.offload_optimizer;
}

DescribedRow RowReader::read() {
  const JsonReader workload = reader_.child("workload"), hardware = reader_.child("hardware"), plan = reader_.child("plan");
  read_stack(plan);
  network_ = read_network({workload, "workload", described_.assumed});
  described_.timed = network_.timed;
  RowMachine machine = read_machine({hardware, "hardware", described_.assumed}, profiles_);
  described_.part = machine.part;
  plan_.cluster.hardware = std::move(machine.profile);
  layout_.gpus = machine.gpus;
  const FieldReader at(plan, "plan", described_.assumed);
  read_layout(at);
  read_precision(at);
  read_kernels(at, workload);
  read_overlap(at);
  read_recompute(at);
  if (row_.is_object()) tell_unsaid(row_, described_.assumed);
  if (reader_.has("asked")) described_.asked = read_question(reader_.child("asked"));
  reader_.finish();
  if (std::vector<Violation> found = contradictions(layout_, network_.model); !found.empty()) throw InputError(id_, std::move(found));
  settle();
  set_row_fields(plan, plan_);
  reader_.finish();
  if (std::vector<Violation> found = violations(plan_); !found.empty()) throw InputError(id_, std::move(found));
  return std::move(described_);
}

}  // namespace

DescribedRow describe_row(const Json& row, const std::string& id, const RowProfiles& profiles) {
  return RowReader(row, id, profiles).read();
}

}  // namespace sim
