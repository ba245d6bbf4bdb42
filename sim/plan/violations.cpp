// Every rule that a plan must keep before it can be lowered. A rule is a few lines here and nowhere else.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/plan/parallel_plan.h"
#include "sim/plan/rules.h"
#include "sim/units/at.h"
#include "sim/units/counted.h"

namespace sim {
namespace {

std::string degrees_text(const DeviceMesh& mesh) {
  const std::string context = mesh.context == 1 ? "" : fmt::format(" x context {}", mesh.context);
  return fmt::format("data {}{} x pipeline {} x tensor {}", mesh.data, context, mesh.pipeline, mesh.tensor);
}

void check_degrees(const ParallelPlan& plan, Rules& rules) {
  const DeviceMesh& mesh = plan.mesh;
  const bool positive =
      mesh.data >= 1 && mesh.context >= 1 && mesh.expert >= 1 && mesh.pipeline >= 1 && mesh.tensor >= 1 && plan.chunks >= 1;
  rules.must(positive, "/mesh", fmt::format("{} (chunks {}) has a degree below 1", degrees_text(mesh), plan.chunks),
             "use degrees of at least 1");
  rules.must(plan.slices >= 1, "/slices", fmt::format("slices must be at least 1, not {}", plan.slices), "use slices=1");
  rules.must(plan.passes >= 1, "/passes", fmt::format("passes must be at least 1, not {}", plan.passes), "use passes=1");
  if (!positive) return;
  const std::int64_t copies = std::int64_t{mesh.data} * mesh.context;
  const double product = static_cast<double>(copies) * mesh.pipeline * mesh.tensor;  // degrees as written go beyond 64 bits
  rules.must(mesh.replicas >= 1 && copies % std::max(mesh.replicas, 1) == 0 && (mesh.replicas == 1 || mesh.replicas < copies),
             "/mesh/replicas", fmt::format("{} replicas do not cut {} data ranks into shards", mesh.replicas, copies),
             "use a divisor of the data degree, below it");
  const std::int64_t shards = copies / std::max(mesh.replicas, 1);
  rules.must(mesh.reshard >= 1 && shards % std::max(mesh.reshard, 1) == 0 && (mesh.reshard == 1 || mesh.reshard < shards), "/mesh/reshard",
             fmt::format("{} ranks after forward do not divide {} shards", mesh.reshard, shards),
             "use a divisor of the shards, below them");
  rules.must(product == plan.cluster.devices, "/mesh",
             fmt::format("{} = {:.0f} ranks, but the cluster has {}", degrees_text(mesh), product, counted(plan.cluster.devices, "device")),
             "make the product equal to the number of devices");
}

void check_batch(const ParallelPlan& plan, Rules& rules) {
  const Workload& work = plan.workload;
  rules.must(work.sequence >= 1 && work.global_batch >= 1 && plan.microbatch_size >= 1, "/workload",
             fmt::format("sequence {}, global batch {} and microbatch {} must be at least 1", work.sequence, work.global_batch,
                         plan.microbatch_size),
             "use positive sizes");
  const bool hears = plan.model.encoder && plan.model.encoder->hears();  // whose places are not learned
  const std::int64_t sequence =
      std::max(hears ? 0 : tokens_in(Tokens::Source, plan.model, work.sequence), tokens_in(Tokens::Target, plan.model, work.sequence));
  rules.must(plan.model.position != Position::Learned || sequence <= plan.model.max_positions, "/workload/sequence",
             fmt::format("sequence {} exceeds the model's {} positions", sequence, plan.model.max_positions),
             fmt::format("use a sequence of at most {}", plan.model.max_positions + (hears ? plan.model.encoder->frames : 0)));
  if (!rules.clean()) return;
  const std::int64_t slots = plan.mesh.data * plan.microbatch_size;
  rules.must(work.global_batch % slots == 0, "/microbatch_size",
             fmt::format("global batch {} is not divisible by data degree {} x microbatch {} = {}", work.global_batch, plan.mesh.data,
                         plan.microbatch_size, slots),
             "choose a microbatch that divides global batch / data degree");
  rules.must(
      plan.num_microbatches() * plan.slices <= kMostMicrobatches, "/microbatch_size",
      fmt::format("{} microbatches{} a step are more than {}", plan.num_microbatches(),
                  plan.slices > 1 ? fmt::format(" of {} slices", plan.slices) : "", kMostMicrobatches),
      fmt::format("use a microbatch of at least {}", (work.global_batch / plan.mesh.data + kMostMicrobatches - 1) / kMostMicrobatches));
}

void check_tensor(const ParallelPlan& plan, Rules& rules) {
  const std::int64_t tensor = plan.mesh.tensor;
  const auto divides = [&](std::int64_t size, std::string_view what) {
    rules.must(size % tensor == 0, "/mesh/tensor", fmt::format("{} {} are not divisible by tensor degree {}", size, what, tensor),
               fmt::format("use a tensor degree that divides {}", size));
  };
  for (const BlockSizes& sizes : different_sizes(plan.model)) {
    divides(sizes.heads, "attention heads");
    const std::int64_t keys = std::max<std::int64_t>(1, sizes.kv_heads);
    rules.must(keys % tensor == 0 || tensor % keys == 0, "/mesh/tensor",
               fmt::format("{} key/value heads are neither divisible by tensor degree {}, nor do they divide it", keys, tensor),
               fmt::format("use a tensor degree that divides {}, or a multiple of it", keys));
    divides(sizes.ffn, "feed-forward columns");
  }
  rules.must(!plan.model.inner_norms || tensor == 1, "/mesh/tensor",
             "norms of what all heads put out need sums over tensor ranks, which are not lowered", "use tensor degree 1");
  rules.must(
      plan.vocabulary_multiple >= 1 && plan.vocabulary_multiple % tensor == 0, "/vocabulary_multiple",
      fmt::format("the vocabulary is padded to a multiple of {}, which tensor degree {} does not divide", plan.vocabulary_multiple, tensor),
      "use a multiple of the tensor degree");
  rules.must(!plan.sequence_parallel || tensor > 1, "/sequence_parallel", "sequence parallel needs a tensor degree above 1",
             "switch it off");
  const std::int64_t tokens = plan.workload.sequence / plan.mesh.context;
  rules.must(!plan.sequence_parallel || tokens % tensor == 0, "/sequence_parallel",
             fmt::format("sequence {} is not divisible by tensor degree {}", tokens, tensor), "switch it off, or change the sequence");
  rules.must(plan.tensor_overlap != TensorOverlap::AlongProducts || plan.sequence_parallel, "/tensor_overlap",
             "along_products goes piece by piece through a sequence that tensor ranks share",
             "use sequence_parallel=true, or leave it out");
  const bool is_beside = plan.tensor_overlap == TensorOverlap::BesideWeights;
  rules.must(!is_beside || tensor > 1, "/tensor_overlap", "beside_weights is of exchanges between tensor ranks, and there is one",
             "use a tensor degree above 1, or leave it out");
  rules.must(!is_beside || !plan.splits_backward(), "/tensor_overlap",
             "this schedule puts gradients of weights off, further than beside_weights has them", "use another schedule, or leave it out");
}

bool check_neighbourhoods(const ParallelPlan& plan, Rules& rules) {
  const std::int32_t context = plan.mesh.context, inner = plan.mesh.context_inner;
  const bool has_two_levels = plan.context_algorithm == ContextAlgorithm::Hierarchical;
  if (!has_two_levels)
    rules.must(inner == 1, "/mesh/context_inner",
               fmt::format("{} neighbours are of context_algorithm hierarchical; this is {}", inner,
                           sim::at(kContextAlgorithmNames, plan.context_algorithm)),
               "use context_algorithm=hierarchical, or leave it out");
  else if (context == 1)
    rules.must(inner == 1, "/mesh/context_inner", fmt::format("{} neighbours of 1 context rank", inner), "leave it out");
  else
    rules.must(inner > 1 && inner < context && context % inner == 0, "/mesh/context_inner",
               fmt::format("{} neighbours do not cut context {} into two levels", inner, context),
               "use a divisor of it, above 1 and below it, or context_algorithm=ring or all_to_all");
  return !has_two_levels || (inner >= 1 && context % inner == 0);
}

void check_context_by_document(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(!plan.context_by_document || holds, "/context_by_document", problem, remedy);
  };
  needs(plan.workload.samples.has_documents(), "is of rows that hold documents, and here a sample fills each",
        "say how long they are in samples, or leave it out");
  needs(plan.mesh.context > 1 && plan.context_algorithm == ContextAlgorithm::Ring,
        "is of context ranks that pass keys and values round a ring",
        "use a context degree above 1 and context_algorithm=ring, or leave it out");
}

void check_context(const ParallelPlan& plan, Rules& rules) {
  check_context_by_document(plan, rules);
  if (!check_neighbourhoods(plan, rules)) return;
  const std::int64_t context = plan.mesh.context, heads = plan.head_ranks(), local_heads = plan.mesh.tensor * heads;
  if (context == 1) return;
  const std::int64_t pieces = plan.block_ranks() == 1 ? context : 2 * context;
  rules.must(plan.workload.sequence % pieces == 0, "/mesh/context",
             fmt::format("sequence {} is not divisible into {} pieces for {} context ranks", plan.workload.sequence, pieces, context),
             "use a context degree that divides it");
  rules.must(plan.model.attention_dropout == 0, "/mesh/context", "attention dropout is not known across context ranks",
             "set it to 0, or the context degree to 1");
  for (const BlockSizes& sizes : different_sizes(plan.model))
    rules.must(heads == 1 || (sizes.heads % local_heads == 0 && sizes.kv_heads % local_heads == 0), "/context_algorithm",
               fmt::format("{} deals {} heads and {} key/value heads to tensor {} x context {} ranks",
                           sim::at(kContextAlgorithmNames, plan.context_algorithm), sizes.heads, sizes.kv_heads, plan.mesh.tensor, heads),
               "use ring or all_gather, or a degree that divides the heads");
}

void check_persistence(const ParallelPlan& plan, Rules& rules) {
  if (plan.persistence_threshold == 0) return;
  const std::string whole = fmt::format("parameters of at most {} elements stay whole", plan.persistence_threshold);
  const auto needs = [&](bool holds, std::string_view problem, std::string_view remedy) {
    rules.must(holds, "/persistence_threshold", fmt::format("{}: {}", whole, problem), std::string(remedy));
  };
  needs(plan.persistence_threshold > 0, "that is no number of elements", "use 100000, or leave it out");
  needs(plan.zero_stage == 3, fmt::format("below stage 3 all do, and this is stage {}", plan.zero_stage), "use zero=3, or leave it out");
  needs(!plan.offload_parameters, "those on the host are brought unit by unit", "leave one of both out");
  needs(plan.mesh.reshard == 1, fmt::format("{} neighbours keep units of the others", plan.mesh.reshard),
        "use reshard_ranks=1, or leave it out");
  const PrecisionPolicy& precision = plan.workload.precision;
  needs(!precision.weight_codec() && !precision.gradient_codec(), "they are not lowered beside units that are encoded",
        "leave the wire's codec out, or this");
  needs(!habits_of(plan.cluster).unit_buffers, "FSDP 2 has no such parameters", "leave it out, or name another software");
}

// A slice of a sample attends to the keys and values that the slices in front of it have left on its rank.
void check_slices(const ParallelPlan& plan, Rules& rules) {
  const std::int64_t slices = plan.slices, tokens = plan.workload.sequence / std::max<std::int64_t>(1, slices);
  if (slices == 1) return;
  const auto needs = [&](bool holds, const std::string& problem, const std::string& remedy) {
    rules.must(holds, "/slices", problem, remedy);
  };
  const ModelConfig& model = plan.model;
  needs(plan.workload.sequence % slices == 0, fmt::format("sequence {} is not divisible into {} slices", plan.workload.sequence, slices),
        "use a number of slices that divides it");
  needs(!plan.sequence_parallel || tokens % plan.mesh.tensor == 0,
        fmt::format("{} tokens of a slice are not divisible by tensor degree {}", tokens, plan.mesh.tensor),
        "switch sequence_parallel off, or use fewer slices");
  needs(plan.mesh.context == 1, fmt::format("are not lowered where {} context ranks share a sample, too", plan.mesh.context),
        "use context 1, or slices=1");
  needs(!model.bidirectional && !model.patches && !model.convolution, "need attention that looks back alone, and this network looks ahead",
        "use slices=1");
  needs(!model.linear, "hand on keys and values, and linear attention hands on a state, which is not lowered", "use slices=1");
  needs(!model.attention.is_sparse(), "are not lowered for an indexer, which chooses among all tokens of a sample", "use slices=1");
  needs(model.window == 0 || model.window >= plan.workload.sequence, "are not lowered for attention within a window", "use slices=1");
  needs(model.attention_dropout == 0, "are not known with attention dropout", "set it to 0, or use slices=1");
  needs(model.mtp_layers == 0, "are not lowered beside layers that predict further tokens", "use mtp_layers=0, or slices=1");
  needs(!plan.workload.samples.has_documents(), "are not lowered where rows hold documents", "leave samples out, or use slices=1");
  needs(!plan.written_order, "have no word in the CSV of an order", "use schedule=1f1b, gpipe or looped-bfs");
  needs(plan.accumulation == Accumulation::ReduceLast, "are not lowered where each microbatch's gradients are reduced",
        "use accumulation=reduce_last");
  needs(plan.recompute != Recompute::Full, "keep keys and values, and are not lowered where whole blocks are recomputed",
        "use recompute=none or selective");
  needs(!plan.offload_parameters && !plan.offload_activations, "are not lowered where weights or inputs wait on the host",
        "leave them on the device");
  needs(!plan.expert_overlap, "are not lowered where two actions run together", "leave expert_overlap out");
  needs(!plan.crosses_steps(), "are not lowered where a step begins before the one before has ended", "leave that out, or use slices=1");
}

// A kernel that is named is priced as one, and attends to all tokens at once.
void check_attention(const ParallelPlan& plan, Rules& rules) {
  if (plan.attention == AttentionWord::AsTheProgram) return;
  const AttentionKernel kernel = attention_kernel(plan, plan.cluster.software);
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) { rules.must(holds, "/attention", problem, remedy); };
  const HardwareProfile& hardware = plan.cluster.hardware;
  needs(hardware.kernels.has_value() && hardware.measured.empty(),
        fmt::format("is priced by a profile's block \"kernels\", and {} is by what was measured, or by its peaks", hardware.name),
        "leave it out, or name a GPU whose kernels are described");
  needs(!plan.model.convolution, "attends, and maps are convolved", "leave it out");
  needs(!plan.model.attention.is_sparse(), "attends to all tokens, and the network chooses some", "leave it out");
  const bool by_blocks = plan.slices > 1 || plan.block_ranks() > 1;
  needs(skips_hidden(kernel) || !by_blocks, "has all scores of a sample before it, and keys come block by block",
        "use another kernel, context_algorithm=all_to_all, or slices=1");
  const PrecisionPolicy& precision = plan.workload.precision;
  const bool is_half = is_sixteen_bit(precision.compute()) && precision.full_blocks().empty();
  needs(kernel < AttentionKernel::Flash1 || is_half, "computes in 16 bit", "use bf16 or fp16 in all blocks, or efficient");
}

// The ranks of a stage, dealt out anew: copies x expert x expert_tensor. Tokens go to experts as sequence parallelism cuts them.
void check_expert_tensor(const ParallelPlan& plan, Rules& rules) {
  const DeviceMesh& mesh = plan.mesh;
  const std::int64_t ranks = std::int64_t{mesh.shards()} * mesh.tensor, group = std::int64_t{mesh.expert_cut()} * mesh.expert;
  rules.must(plan.model.experts.has_value(), "/mesh/expert_tensor",
             fmt::format("expert tensor degree {} in a network without experts", mesh.expert_tensor), "leave it out");
  rules.must(group > 0 && ranks % group == 0, "/mesh/expert_tensor",
             fmt::format("{} ranks of a replica of a stage are not divisible by expert degree {} x expert tensor degree {}", ranks,
                         mesh.expert, mesh.expert_tensor),
             "use degrees whose product divides them");
  rules.must(mesh.tensor == 1 || plan.sequence_parallel, "/sequence_parallel",
             fmt::format("tensor ranks ({}) would send the same tokens to experts that {} ranks share", mesh.tensor, mesh.expert_tensor),
             "switch it on, or leave expert_tensor out");
  rules.must(mesh.expert_cut() == 1 || !plan.model.experts || !plan.model.experts->biases, "/mesh/expert_tensor",
             fmt::format("biases of experts would be summed over {} ranks that share them, which is not lowered", mesh.expert_tensor),
             "use 1, or leave it out");
}

void check_experts(const ParallelPlan& plan, Rules& rules) {
  const std::int64_t ranks = plan.mesh.expert, tensor = plan.mesh.tensor, cut = plan.mesh.expert_cut(), copies = plan.mesh.shards();
  const ExpertForm form = plan.model.experts.value_or(ExpertForm{});
  rules.must(form.experts % ranks == 0, "/mesh/expert",
             fmt::format("{} experts are not divisible by expert degree {}", form.experts, ranks), "use a degree that divides them");
  if (plan.mesh.cuts_experts_apart())
    check_expert_tensor(plan, rules);
  else
    rules.must(copies % ranks == 0, "/mesh/expert",
               fmt::format("{} data and context ranks of a replica are not divisible by expert degree {}", copies, ranks),
               "use a degree that divides them");
  rules.must(form.expert_ffn % cut == 0, "/mesh/expert_tensor",
             fmt::format("{} columns of an expert are not divisible by the {} ranks that share it", form.expert_ffn, cut),
             "use a degree that divides them");
  rules.must(
      (plan.mesh.cuts_experts_apart() || form.expert_ffn % tensor == 0) && form.shared_ffn % tensor == 0, "/mesh/tensor",
      fmt::format("{} columns of an expert (shared: {}) are not divisible by tensor degree {}", form.expert_ffn, form.shared_ffn, tensor),
      "use a tensor degree that divides them");
}

void check_listed_loads(const std::vector<std::int64_t>& tokens, const ExpertForm& form, Rules& rules) {
  const std::string where = "/workload/expert_loads";
  rules.must(std::ssize(tokens) == form.experts, where, fmt::format("lists {} loads for {} experts", tokens.size(), form.experts),
             "give one of each expert");
  const std::int64_t all = std::accumulate(tokens.begin(), tokens.end(), std::int64_t{0}), most = *std::ranges::max_element(tokens);
  rules.must(most <= (all + form.topk - 1) / form.topk, where,
             fmt::format("has an expert with {} of {} loads, and a token chooses it once among {}", most, all, form.topk),
             "give what each expert got");
}

void check_expert_loads(const ParallelPlan& plan, Rules& rules) {
  const ExpertLoads& loads = plan.workload.expert_loads;
  if (loads.kind == LoadKind::AsRecorded) return;
  const auto needs = [&](bool holds, const std::string& problem, const char* remedy) {
    rules.must(holds, "/workload/expert_loads", problem, remedy);
  };
  needs(plan.model.experts.has_value(), "says how tokens meet experts, and this network has none", "leave it out");
  if (!plan.model.experts) return;
  const ExpertForm& form = *plan.model.experts;
  if (loads.kind == LoadKind::List) check_listed_loads(loads.tokens, form, rules);
  needs(!form.forced_balance || loads.kind == LoadKind::Even, "is uneven, and the network's router is overruled (expert_balance_forced)",
        "use even, or leave it out");
}

// A forward and a backward are merged piece by piece: nothing else may come between their layers.
void check_expert_overlap(const ParallelPlan& plan, Rules& rules) {
  const auto needs = [&](bool holds, const char* problem, const char* remedy) {
    rules.must(!plan.expert_overlap || holds, "/expert_overlap", problem, remedy);
  };
  needs(plan.mesh.expert > 1, "hides an exchange of tokens, and nobody exchanges any", "use an expert degree above 1, or leave it out");
  needs(!plan.gathers_tokens(), "hides rows on their way to experts, and all tokens are gathered", "use token_dispatcher=all_to_all");
  needs(plan.zero_stage < 3 || plan.reshard_after_forward,
        "is not known where units of weights stay from a forward to its backward (stage 3)", "use reshard=true");
  needs(!plan.offload_parameters && plan.mesh.reshard == 1, "is not known where weights wait on the host or among neighbours",
        "use offload_parameters=false and reshard_ranks=1");
  needs(plan.recompute != Recompute::Full && !plan.recompute_scope.modules.has(Module::Moe),
        "cannot be where experts are recomputed, which exchange again", "recompute other modules, or leave it out");
  const Schedule* schedule = find_schedule(plan.schedule);
  needs(!plan.order_splits_backward() || (schedule != nullptr && schedule->pairs), "is not known where weight gradients are put off",
        "use 1f1b, interleaved or dualpipev");
  rules.must(!plan.delay_wgrad || plan.expert_overlap, "/delay_wgrad",
             "runs gradients of weights beside exchanges of tokens, and none is beside anything",
             "use expert_overlap=true, or leave it out");
  rules.must(plan.token_dispatcher == TokenDispatcher::AsTheProgram || plan.mesh.moves_tokens(), "/token_dispatcher",
             "says how tokens are exchanged, and nobody exchanges any", "use an expert degree above 1, or leave it out");
  const bool fills_up = plan.model.experts && plan.model.experts->is_limited() && plan.model.experts->dispatch == ExpertDispatch::Padded;
  rules.must(!plan.gathers_tokens() || !fills_up, "/token_dispatcher",
             "gathers all tokens, and experts are filled up to their capacity where each is sent its own",
             "use all_to_all, or experts that are not padded");
}

void check_sharding(const ParallelPlan& plan, Rules& rules) {
  check_wire(plan, rules);
  check_full_units(plan, rules);
  rules.must(plan.zero_stage >= 0 && plan.zero_stage <= 3, "/zero_stage", fmt::format("{} is no ZeRO stage", plan.zero_stage),
             "use 0, 1, 2 or 3");
  rules.must(plan.layers_per_unit >= 1, "/layers_per_unit", fmt::format("a unit of {} layers is none", plan.layers_per_unit),
             "use at least 1");
  rules.must(plan.accumulation == Accumulation::ReduceLast || !plan.splits_backward(), "/accumulation",
             fmt::format("reduce_each sends a microbatch's gradients before the next one's begin, but under {} weight gradients come later",
                         plan.schedule),
             "use reduce_last, or 1f1b");
  rules.must(plan.prefetch >= 0 && plan.prefetch <= kMostPrefetched, "/prefetch", fmt::format("is {}", plan.prefetch),
             fmt::format("use 0 to {}: so many units are gathered ahead", kMostPrefetched));
  const bool may_sum_all = plan.zero_stage == 2 || (plan.zero_stage == 1 && plan.accumulation == Accumulation::ReduceLast);
  rules.must(plan.gradient_sync == GradientSync::Scatter || may_sum_all, "/gradient_sync",
             fmt::format("all_reduce is a way of ZeRO stage 2, and of stage 1 with reduce_last; this is stage {}", plan.zero_stage),
             "use reduce_scatter, or zero=1 and accumulation=reduce_last");
  rules.must(plan.cuda_graphs == CudaGraphs::None || plan.cluster.hardware.kind == DeviceKind::Gpu, "/cuda_graphs",
             "a CPU issues its kernels itself", "leave it out");
  rules.must(plan.graph_scope.is_all() || plan.cuda_graphs == CudaGraphs::PerLayer, "/graph_scope",
             "says what graphs of layers hold, and there are none", "use cuda_graphs=per_layer, or leave it out");
  check_inputs_on_host(plan, rules);
  check_delayed_head(plan, rules);
  check_recompute_scope(plan, rules);
  for (const Violation& violation : adapter_violations(plan.model)) rules.must(false, violation.where, violation.problem, violation.remedy);
  for (const Violation& violation : frozen_violations(plan.model)) rules.must(false, violation.where, violation.problem, violation.remedy);
  check_frozen(plan, rules);
  rules.must(plan.first_bucket_size.value() >= 0, "/first_bucket_size", fmt::format("{} B is negative", plan.first_bucket_size.value()),
             "use \"1 MiB\", or leave it out");
  rules.must(plan.bucket_size.value() > 0, "/bucket_size", fmt::format("{} B is not positive", plan.bucket_size.value()), "use \"25 MiB\"");
  if (const auto scales = plan.workload.precision.scales())
    if (const std::string why = why_not_scaled(plan.cluster.hardware, *scales); !why.empty())
      rules.must(false, "/workload/precision", why, "use bf16, or a GPU model that has them");
  const std::size_t precision = static_cast<std::size_t>(plan.workload.precision.compute());
  rules.must(plan.cluster.hardware.peak[precision].value() > 0, "/workload/precision",
             fmt::format("{} has no {} rate", plan.cluster.hardware.name, kPrecisionNames[precision]),
             "choose a precision that the hardware profile gives a peak for");
}

}  // namespace

std::vector<Violation> attention_violations(const ParallelPlan& plan) {
  Rules rules;
  check_attention(plan, rules);
  return std::move(rules).take();
}

std::vector<Violation> violations(const ParallelPlan& plan) {
  Rules rules;
  check_degrees(plan, rules);
  if (!rules.clean() && (plan.mesh.replicas < 1 || plan.mesh.reshard < 1 || plan.mesh.data < 1 || plan.mesh.context < 1 ||
                         plan.mesh.expert < 1 || plan.mesh.expert_tensor < 0 || plan.mesh.tensor < 1 || plan.mesh.pipeline < 1 ||
                         plan.chunks < 1 || plan.slices < 1 || plan.passes < 1))
    return std::move(rules).take();
  check_batch(plan, rules);
  check_samples(plan, rules);
  check_tensor(plan, rules);
  check_linear(plan, rules);
  check_sparse(plan, rules);
  check_joint_norms(plan, rules);
  check_shared_between_blocks(plan, rules);
  check_context(plan, rules);
  check_persistence(plan, rules);
  check_slices(plan, rules);
  check_attention(plan, rules);
  check_experts(plan, rules);
  check_expert_loads(plan, rules);
  check_expert_overlap(plan, rules);
  if (rules.clean()) check_weight_gather(plan, rules);
  if (rules.clean()) check_post_validation(plan, rules);
  if (rules.clean()) check_priority(plan, rules);
  if (rules.clean()) check_steps_in_backward(plan, rules);
  check_muon(plan, rules);
  check_adafactor(plan, rules);
  check_owners(plan, rules);
  check_second_copy(plan, rules);
  check_after_backward(plan, rules);
  if (rules.clean()) check_offload_share(plan, rules);
  if (rules.clean()) check_drives(plan, rules);
  check_paged_optimizer(plan, rules);
  if (rules.clean()) check_weights_on_host(plan, rules);
  check_pipeline(plan, rules);
  check_sharding(plan, rules);
  check_maps(plan, rules);
  check_patches(plan, rules);
  check_predictions(plan, rules);
  check_encoder(plan, rules);
  if (rules.clean()) check_groups(plan, rules);
  return std::move(rules).take();
}

std::vector<Violation> notes(const ParallelPlan& plan) {
  const std::int64_t positions = plan.model.max_positions, sequence = plan.workload.sequence;
  std::vector<Violation> found;
  if (plan.workload.samples.has_documents() && plan.mesh.context > 1 && plan.context_algorithm != ContextAlgorithm::AllToAll &&
      !plan.context_by_document)
    found.push_back({"/workload/samples",
                     fmt::format("documents of {:.0f} tokens are each dealt out in {} pieces, and padded to a multiple",
                                 plan.workload.samples.mean_length(), 2 * plan.mesh.context),
                     "short documents want few context ranks"});
  if (!plan.cluster.groups.empty())
    found.push_back({"/cluster/groups", "have shares of the batch, and other plans are priced for equal shares on the least of the devices",
                     "compare plans by simulating each on this cluster"});
  if (plan.slices > 1 && plan.mesh.pipeline == 1)
    found.push_back({"/slices", fmt::format("{} slices of a sample fill a pipeline, and there is one stage", plan.slices), "use slices=1"});
  if (plan.model.position == Position::Rotary && positions != 0 && sequence > positions)
    found.push_back(
        {"/workload/sequence", fmt::format("sequence {} goes beyond the {} positions that the network was made for", sequence, positions),
         "rotary positions go on, but weights trained on fewer have never seen them: scale them (rope_scaling), or use a shorter one"});
  if (plan.workload.optimizer == OptimizerKind::Muon && plan.mesh.tensor > 1)
    found.push_back({"/workload/optimizer",
                     fmt::format("muon makes each of {} tensor ranks' shard of a matrix orthogonal by itself", plan.mesh.tensor),
                     "another tensor degree is another optimizer: keep it while a training goes on"});
  if (const WireCodec codec = plan.workload.precision.gradient_codec(); codec.is_low_rank())
    found.push_back({"/workload/precision",
                     fmt::format("wire={} keeps what was not sent, each rank its own of its buckets", to_text(codec)),
                     "resumed under another layout it starts without: expect other bits than of a run that went on"});
  return found;
}

}  // namespace sim
