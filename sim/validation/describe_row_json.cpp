// A row of the published schema -> RunDescription. Reads `workload`, `hardware` and `plan` only; nulls go through the rules of resolve.h.
#include <fmt/format.h>

#include "sim/units/json_reader.h"
#include "sim/validation/field_reader.h"
#include "sim/validation/parts.h"
#include "sim/validation/published_row.h"
#include "sim/validation/resolve.h"

namespace sim {
namespace {

constexpr std::string_view kActivations[] = {"gelu", "squared_relu", "swiglu", "geglu"};
constexpr std::string_view kNorms[] = {"layernorm", "rmsnorm"};
constexpr std::string_view kPositions[] = {"learned", "rope", "alibi"};
constexpr std::string_view kAttentionKinds[] = {"full", "mla", "sliding"};
constexpr std::string_view kTargets[] = {"attention", "all"};
constexpr std::string_view kFormats[] = {"fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "half"};
constexpr std::string_view kGradientFormats[] = {"fp32", "bf16", "fp16"};
constexpr std::string_view kRecomputes[] = {"none", "selective", "full"};
constexpr std::string_view kDetails[] = {"attention_core",   "op",           "every_second_layer", "attention_core_some_microbatches",
                                         "save_projections", "gpipe_always", "gpipe_except_last"};

AttentionForm read_attention(const JsonReader& workload) {
  AttentionForm form;
  if (!workload.has("attention")) return form;
  const JsonReader reader = workload.child("attention");
  form.kind = static_cast<AttentionKind>(
      std::array{AttentionKind::Full, AttentionKind::Latent, AttentionKind::Sliding}[reader.choice("kind", kAttentionKinds, 0)]);
  form.window = reader.integer("window", 4096);
  form.every = reader.integer("every", 1, {1, 1e4});
  form.q_lora = reader.integer("q_lora", 0);
  form.kv_lora = reader.integer("kv_lora", 512);
  form.qk_nope = reader.integer("qk_nope", 128);
  form.qk_rope = reader.integer("qk_rope", 64);
  form.v_dim = reader.integer("v_dim", 128);
  return form;
}

std::optional<ExpertForm> read_experts(const JsonReader& workload, const Network& net) {
  if (!workload.has("moe")) return std::nullopt;
  const JsonReader reader = workload.child("moe");
  ExpertForm form;
  form.experts = reader.integer("experts", {}, {1, 1e5});
  form.shared_experts = reader.integer("shared_experts", 0);
  form.topk = reader.integer("topk", 2, {1, 1e4});
  form.expert_ffn = reader.integer("expert_ffn", net.ffn, {1, 1e9});
  form.shared_ffn = reader.integer("shared_ffn", form.shared_experts * form.expert_ffn);
  form.first_dense_layers = reader.integer("first_dense_layers", 0);
  form.every = reader.integer("every", 1, {1, 1e4});
  form.capacity_factor = reader.number("capacity_factor", 0, {0, 1000});
  form.dispatch = static_cast<ExpertDispatch>(reader.choice("dispatch", kExpertDispatchNames, 0));
  form.forced_balance = reader.text("balance", "") == "forced";
  return form;
}

std::optional<LowRankForm> read_low_rank(const JsonReader& workload) {
  if (!workload.has("lora")) return std::nullopt;
  const JsonReader reader = workload.child("lora");
  const std::string base = reader.text("base_precision", "bf16");
  return LowRankForm{reader.integer("rank", 16, {1, 1e6}), reader.choice("targets", kTargets, 0) == 0,
                     base == "int4" || base == "nf4"   ? 0.5
                     : base == "int8" || base == "fp8" ? 1.0
                                                       : 2.0};
}

void read_shape(const FieldReader& at, Network& net) {
  net.layers = at.required("layers");
  net.hidden = at.required("hidden");
  net.heads = at.size("heads", std::max<std::int64_t>(1, net.hidden / 128));
  net.kv_heads = at.size("kv_heads", net.heads);
  net.head_dim = at.size("head_dim", std::max<std::int64_t>(1, net.hidden / net.heads));
  net.ffn = at.size("ffn", 4 * net.hidden);
  net.vocabulary = at.size("vocab", 51200);  // padded where it is cut: see read_layout
  net.sequence = at.required("seq_len");
}

Network read_network(const FieldReader& at) {
  Network net;
  net.kind = static_cast<NetworkKind>(at.reader().choice("kind", kNetworkKindNames));
  if (net.kind == NetworkKind::Convolutional) {
    net.architecture = at.reader().text("architecture");
    const std::vector<std::int64_t> image = at.reader().integers("image");
    if (image.size() == 3) net.image = std::max(image[1], image[2]);
    return net;
  }
  read_shape(at, net);
  net.effective_sequence = at.number("effective_seq_len", real(net.sequence));
  const std::size_t activation = at.choice("activation", kActivations, 0);
  net.gated = activation >= 2;
  net.squared_relu = activation == 1;
  net.rms_norm = at.choice("norm", kNorms, 0) == 1;
  net.rotary = at.choice("position", kPositions, 0) == 1;
  net.tied = at.flag("tied_embeddings", true);
  net.bias = at.flag("bias", !net.rms_norm);
  net.attention = read_attention(at.reader());
  net.experts = read_experts(at.reader(), net);
  net.low_rank = read_low_rank(at.reader());
  return net;
}

Machine read_machine(const FieldReader& at) {
  Machine machine;
  const std::string part = at.reader().text("gpu");
  machine.part = profile_of_part(part);
  if (machine.part.empty()) at.reader().violate("gpu", "is " + part + ", accepted: " + known_parts(), "add a profile for it");
  machine.gpus = at.required("total_gpus");
  machine.gpus_per_node = std::min(machine.gpus, at.size("gpus_per_node", 8));
  if (at.has("intra_node")) {
    const JsonReader links = at.reader().child("intra_node");
    machine.link_gbytes = links.number("GBps_per_gpu", 0.0, {0, 1e5});
    machine.switched = links.text("topology", "") == "nvswitch";
  }
  if (!at.has("inter_node")) return machine;
  const JsonReader network = at.reader().child("inter_node");
  machine.network_gbits = network.number("Gbps_per_node", 0.0, {0, 1e6});
  if (network.has("oversubscription")) {
    machine.oversubscription = network.child("oversubscription").number("ratio", 1.0, {1, 1000});
    machine.oversubscribed_above = network.child("oversubscription").integer("above_gpus", 0);
  }
  return machine;
}

void read_batches(const FieldReader& at, RunDescription& run) {
  Layout& layout = run.layout;
  layout.global_batch = at.size("global_batch", 8 * layout.data * (layout.pipeline > 1 ? layout.pipeline : 1));
  layout.micro_batch = at.has("micro_batch") ? at.required("micro_batch") : at.size("micro_batch", resolve_micro_batch(run));
  const std::int64_t each = layout.data * layout.micro_batch;
  layout.microbatches = at.size("num_microbatches", std::max<std::int64_t>(1, (layout.global_batch + each - 1) / each));
  if (layout.pipeline == 1)
    layout.chunks = 1;
  else
    layout.chunks = at.size("vpp", layout.schedule == "interleaved" ? resolve_chunks(run) : 1);
}

void read_layout(const FieldReader& at, const SoftwareStack& stack, RunDescription& run) {
  Layout& layout = run.layout;
  layout.data = at.required("dp");
  layout.tensor = at.required("tp");
  layout.pipeline = at.required("pp");
  if (run.network.vocabulary > 0) run.network.vocabulary = (run.network.vocabulary + 127) / 128 * 128;
  layout.context = at.size("cp", 1);
  layout.expert = at.size("ep", 1);
  const bool cuts_experts = at.has("etp") ? at.required("etp") == layout.tensor : stack.expert_tensor;
  layout.expert_tensor = cuts_experts || layout.expert == 1;
  layout.schedule = at.text("schedule", layout.pipeline > 1 ? "1f1b" : "none");
  layout.sequence_parallel = layout.tensor > 1 && at.flag("sequence_parallel", false);
  const std::string context_kind = layout.context > 1 ? at.text("cp_kind", "ring") : "";
  layout.context_all_to_all = context_kind == "a2a";
  layout.context_ring = context_kind == "ring";
  layout.zero_stage = at.reader().integer("zero_stage", 0, {0, 3});
  layout.zero_group = at.size("zero_group", layout.data * layout.context, layout.zero_stage > 0);
  layout.reshard = layout.zero_stage == 3 && at.flag("reshard_after_forward", layout.pipeline == 1);
  layout.scatter_gather = layout.pipeline > 1 && layout.tensor > 1 && at.flag("p2p_scatter_gather", stack.scatter_gather);
  layout.async_tensor = layout.tensor > 1 && at.flag("async_tp", false);
  if (at.has("partition")) {
    const JsonReader partition = at.reader().child("partition");
    layout.cut = static_cast<CutKind>(partition.choice("kind", kCutKindNames, 0));
    layout.balance = partition.integers("balance");
  }
  read_batches(at, run);
}

RecomputeKind recompute_of(std::size_t mode, std::string_view detail, const FieldReader& at) {
  if (mode == 0) return RecomputeKind::None;
  if (detail == "save_projections") return RecomputeKind::SaveProjections;
  if (detail == "op") return RecomputeKind::CheapOperators;
  if (detail == "every_second_layer") return RecomputeKind::EverySecondLayer;
  if (mode == 2) return RecomputeKind::Full;
  if (!at.has("recompute_detail") && at.reader().integer("zero_stage", 0) == 3) return RecomputeKind::EverySecondLayer;
  return RecomputeKind::AttentionCore;
}

double gradient_bytes(const FieldReader& at, const std::string& key, double fallback, bool half) {
  if (!half) return 4;
  const std::size_t stated = at.choice(key, kGradientFormats, fallback == 4 ? 0 : 1);
  return stated == 0 ? 4 : 2;
}

void read_overlap(const FieldReader& at, const SoftwareStack& stack, std::vector<Assumption>& assumed, Execution& execution) {
  static const Json kNothing = Json::object();
  const JsonReader reader = at.has("overlap") ? at.reader().child("overlap") : JsonReader(kNothing, "");
  const FieldReader overlap(reader, "plan.overlap", assumed);
  execution.overlap_reduce = overlap.flag("grad_reduce", stack.overlap_reduce);
  execution.overlap_gather = overlap.flag("param_gather", stack.overlap_gather);
  execution.overlap_tensor = overlap.flag("tp", stack.overlap_tensor);
  execution.overlap_pipeline = overlap.flag("p2p", stack.overlap_pipeline);
}

void read_execution(const FieldReader& at, const SoftwareStack& stack, std::vector<Assumption>& assumed, RunDescription& run) {
  Execution& execution = run.execution;
  const std::size_t format = at.choice("precision", kFormats, 3);
  execution.format = format == 6 ? NumberFormat::Fp16 : static_cast<NumberFormat>(format);
  const bool half = format >= 2;
  execution.fp8_parameters = is_scaled(execution.format) && at.flag("fp8_params", false);
  const bool takes_scales = execution.format == NumberFormat::Fp8;
  const auto usual = static_cast<std::size_t>(stack.scales_when_used ? ScaleRecipe::Tensorwise : ScaleRecipe::Delayed);
  execution.scales = static_cast<ScaleRecipe>(takes_scales ? at.choice("fp8_recipe", kScaleRecipeNames, usual)
                                                           : at.reader().choice("fp8_recipe", kScaleRecipeNames, usual));
  if (execution.format == NumberFormat::Fp4) execution.scales = ScaleRecipe::Nvfp4;
  const bool convolutional = run.network.kind == NetworkKind::Convolutional;
  if (convolutional)
    execution.channels_last =  // a compiler lays tensors out as its own kernels want them
        stack.compiled || at.reader().text("memory_format", execution.format == NumberFormat::Fp16 ? "nhwc" : "nchw") == "nhwc";
  if (!convolutional) {
    execution.attention = attention_kernel(stack, at.text("attention_kernel", stack.attention));
    execution.fused_norm = at.flag("fused_norm", stack.fused_norm);
    execution.fused_loss = at.flag("fused_cross_entropy", stack.fused_loss);
    execution.compiled = at.flag("compiled", stack.compiled);
  }
  const std::size_t recompute = at.reader().choice("recompute", kRecomputes, 0);
  const std::size_t detail = at.reader().choice("recompute_detail", kDetails, 0);
  execution.recompute = recompute_of(recompute, at.has("recompute_detail") ? kDetails[detail] : "", at);
  execution.recompute_keeps_last = at.has("recompute_detail") && kDetails[detail] == "gpipe_except_last";
  execution.reduce_bytes = gradient_bytes(at, "grad_reduce_precision", stack.reduce_bytes, half);
  execution.accumulate_bytes = gradient_bytes(at, "grad_accum_precision", stack.accumulate_bytes, half);
  execution.graphs = at.text("cuda_graphs", "none") != "none";
  execution.optimizer = static_cast<StepOptimizer>(at.choice("optimizer", kStepOptimizerNames, 0));
  execution.place = static_cast<OptimizerPlace>(at.choice("offload", kOptimizerPlaceNames, 0));
  read_overlap(at, stack, assumed, execution);
}

constexpr std::string_view kSyncNames[] = {"all_reduce", "reduce_scatter"};

// What a row says and no plan does: the plan is that of a run without it, which the row is told.
struct UnsaidWord {
  std::string_view block, key, taken;
};
constexpr UnsaidWord kUnsaid[] = {
    {"workload", "mtp_layers", "0: no layers that predict further tokens"},
    {"plan", "recompute_modules", "attention's core alone"},
    {"plan", "recompute_method", "every block by itself"},
    {"plan", "dispatcher", "an exchange among all ranks of the group"},
    {"plan", "ep_overlap", "false: tokens are exchanged before experts compute"},
    {"plan", "delay_wgrad", "false: weight gradients follow input gradients"},
    {"plan", "cuda_graph_scope", "all of a block"},
    {"plan", "offload_activations", "false"},
    {"plan", "allocator", "the program's usual one"},
    {"plan", "deterministic", "false: the usual kernels"},
    {"plan", "fused_linear_cross_entropy", "false: logits are stored"},
    {"plan", "pipeline_layout", "the partition, or an even cut"},
};

bool says_something(const Json& value) { return !value.is_null() && value != false && value != 0 && value != "none"; }

void tell_unsaid(const Json& row, std::vector<Assumption>& assumed) {
  const auto block_of = [&](std::string_view name) {
    const auto found = row.find(std::string(name));
    return found != row.end() && found->is_object() ? *found : Json::object();
  };
  const Json links = block_of("hardware").value("intra_node", Json());
  if (links.is_object() && says_something(links.value("domain_gpus", Json())))
    assumed.push_back({"hardware.intra_node.domain_gpus", "gpus_per_node: links end at the tray"});
  for (const UnsaidWord& word : kUnsaid) {
    const Json block = block_of(word.block);
    const auto found = block.find(std::string(word.key));
    if (found != block.end() && says_something(*found))
      assumed.push_back({fmt::format("{}.{}", word.block, word.key), std::string(word.taken)});
  }
}

std::optional<Precision> kept_in(const JsonReader& reader, const std::string& key) {
  constexpr std::string_view kNone = "none";
  if (!reader.has(key) || reader.text(key, "") == kNone) return std::nullopt;
  return static_cast<Precision>(reader.choice(key, kPrecisionNames));
}

// No masters: the optimizer steps the weights themselves, and their gradients are of their type.
RowWords read_words(const JsonReader& workload, const JsonReader& plan, const RunDescription& run) {
  RowWords words;
  words.alibi = workload.text("position", "") == "alibi";
  words.qk_norm = workload.boolean("qk_norm", false);
  if (workload.has("attention")) words.sinks = workload.child("attention").boolean("sinks", false);
  words.graphs = static_cast<CudaGraphs>(plan.choice("cuda_graphs", kCudaGraphsNames, 0));
  if (plan.has("gradient_accumulation_fusion")) words.fused_accumulation = plan.boolean("gradient_accumulation_fusion", false);
  words.microbatch_group = static_cast<std::int32_t>(plan.integer("microbatch_group", 0, {0, kMostMicrobatches}));
  words.expert_tensor = plan.integer("etp", run.layout.expert_tensor || !run.network.experts ? run.layout.tensor : 1, {1, 1 << 20});
  if (plan.has("gradient_sync")) words.sums_whole = plan.choice("gradient_sync", kSyncNames) == 0;
  if (!plan.has("optimizer_state_precision")) return words;
  const JsonReader states = plan.child("optimizer_state_precision");
  words.masters = kept_in(states, "master");
  words.moments = kept_in(states, "moments");
  if (words.masters || !states.has("master")) return words;
  words.masters = run.execution.format == NumberFormat::Fp16 ? Precision::Fp16 : Precision::Bf16;
  words.gradients = words.masters;
  return words;
}

MemoryQuestion read_question(const JsonReader& asked) {
  MemoryQuestion question;
  const std::string kind = asked.text("memory_kind", "");
  if (kind.find("reserved") != std::string::npos) question.counter = MemoryCounter::Reserved;
  if (kind.find("allocated") != std::string::npos) question.counter = MemoryCounter::Allocated;
  question.rank = static_cast<AskedRank>(asked.choice("memory_rank", kAskedRankNames, 0));
  return question;
}

}  // namespace

DescribedRow describe_row(const Json& row, const std::string& id, const SoftwareCatalog& catalog) {
  const JsonReader reader(row, id);
  DescribedRow described;
  const JsonReader workload = reader.child("workload"), hardware = reader.child("hardware"), plan = reader.child("plan");
  const JsonReader software = plan.has("software") ? plan.child("software") : plan;
  const SoftwareStack& stack = catalog.find({software.text("framework", ""), software.integer("year", 2100)});
  RunDescription& run = described.run;
  run.stack = stack.name;
  described.assumed.push_back({"software profile", stack.name});
  run.network = read_network({workload, "workload", described.assumed});
  run.machine = read_machine({hardware, "hardware", described.assumed});
  const FieldReader at(plan, "plan", described.assumed);
  read_layout(at, stack, run);
  read_execution(at, stack, described.assumed, run);
  run.execution.dropout = workload.has("dropout") ? workload.child("dropout").number("hidden", 0.0, {0, 1}) > 0 : stack.dropout;
  described.words = read_words(workload, plan, run);
  if (row.is_object()) tell_unsaid(row, described.assumed);
  if (reader.has("asked")) described.asked = read_question(reader.child("asked"));
  described.recompute_open = !plan.has("recompute");
  described.recompute_parts_open = plan.text("recompute", "") == "selective" && !plan.has("recompute_detail");
  reader.finish();
  const std::vector<Violation> found = contradictions(run);
  if (!found.empty()) throw InputError(id, found);
  return described;
}

}  // namespace sim
