// What the worker performs today, as one table. A row says when a plan is outside it; the executor grows by deleting rows.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/model/distance_holder.h"
#include "sim/model/model_words.h"
#include "sim/model/packed_bytes.h"
#include "sim/plan/parallel_plan.h"
#include "sim/plan/scaled_products.h"

namespace sim {
namespace {

struct Limit {
  std::string_view where;
  bool (*exceeded)(const ParallelPlan&);
  std::string_view problem;
  std::string_view remedy;
};

// As the masters, or bf16 beside wider ones.
bool steps_with_moments(const PrecisionPolicy& policy) {
  const Precision moments = policy.of(Numbers::Moments), masters = policy.of(Numbers::Masters);
  return moments == masters || (moments == Precision::Bf16 && masters != Precision::Fp16);
}

bool keeps_fewer_bits(const ParallelPlan& plan) {
  return plan.workload.precision.of(Numbers::Moments) != plan.workload.precision.of(Numbers::Masters);
}

bool keeps_apart(const ParallelPlan& plan) {
  const PrecisionPolicy& policy = plan.workload.precision;
  const PrecisionPolicy usual = policy.as_it_follows();
  const auto is_one_of = [&](Numbers what, Precision one, Precision other) { return policy.of(what) == one || policy.of(what) == other; };
  const Precision weights = usual.of(Numbers::Weights);
  const bool sums_as_known = is_one_of(Numbers::Gradients, weights, is_sixteen_bit(weights) ? Precision::Fp32 : weights);
  const bool sends_as_known = policy.of(Numbers::Wire) == policy.of(Numbers::Gradients) || is_sixteen_bit(policy.of(Numbers::Wire));
  const Precision without = weights == Precision::Bf16 ? weights : usual.of(Numbers::Masters);
  const bool steps_as_known = is_one_of(Numbers::Masters, usual.of(Numbers::Masters), without);
  return policy.of(Numbers::Weights) != weights || policy.of(Numbers::Activations) != usual.of(Numbers::Activations) || !sums_as_known ||
         !sends_as_known || !steps_as_known || !steps_with_moments(policy);
}

bool has_empty_part(const ParallelPlan& plan) {
  return std::adjacent_find(plan.cut.first.begin(), plan.cut.first.end()) != plan.cut.first.end();
}

bool has_effective_window(const ParallelPlan& plan) { return plan.model.window > 0 && plan.model.window < plan.workload.sequence; }

// Keys come to queries. Where heads are dealt out instead, a rank attends as if it were alone.
bool shares_keys_of_a_sample(const ParallelPlan& plan) {
  return plan.mesh.context > 1 && plan.context_algorithm != ContextAlgorithm::AllToAll;
}

bool changes_scores(const ParallelPlan& plan) {
  return has_effective_window(plan) || plan.model.sinks || plan.model.score_cap > 0 || plan.model.position == Position::Alibi;
}

bool has_heads_of_two_widths(const ModelConfig& model) {
  return std::ranges::any_of(different_sizes(model), [&](const BlockSizes& sizes) { return sizes.head_dim != model.head_dim; });
}

// Of a head of keys, or of values, where several ranks make parts of it.
bool cuts_unequal_columns(const ParallelPlan& plan) {
  const std::int64_t tensor = plan.mesh.tensor;
  if (plan.model.attention.kind == AttentionKind::Latent) return false;
  return std::ranges::any_of(different_sizes(plan.model), [&](const BlockSizes& sizes) {
    const std::int64_t sharers = tensor / std::max<std::int64_t>(1, std::min(tensor, sizes.kv_heads));
    return sizes.head_dim % sharers != 0 || plan.model.value_dim % sharers != 0;
  });
}

bool has_documents(const ParallelPlan& plan) { return plan.workload.samples.has_documents(); }

bool packs_weights(const ParallelPlan& plan) { return plan.model.adapters && plan.model.adapters->base != BaseFormat::Weights; }

bool keeps_another_base(const ParallelPlan& plan) {
  return packs_weights(plan) && plan.model.adapters->base != BaseFormat::Nf4 && plan.model.adapters->base != BaseFormat::Int8;
}

bool cuts_blocks_of_scales(const ParallelPlan& plan) {
  if (plan.mesh.tensor == 1 || !packs_weights(plan) || plan.model.adapters->base != BaseFormat::Nf4) return false;
  const ModelGraph model = make_model_graph(plan);
  const auto is_cut = [&](const Parameter& parameter) {
    return parameter.frozen && parameter.columns > 1 && cuts_scaled_blocks(parameter, plan.mesh.tensor);
  };
  return std::ranges::any_of(model.layers.begin() + 1, model.layers.end() - 1,
                             [&](const Layer& layer) { return std::ranges::any_of(layer.parameters, is_cut); });
}

std::optional<ScaleRecipe> scales_of(const ParallelPlan& plan) { return plan.workload.precision.scales(); }
bool scales_of_this_step(const ParallelPlan& plan) { return scales_of(plan) && scales_of(plan) != ScaleRecipe::Delayed; }

bool scales_whole_rows_of_shards(const ParallelPlan& plan) {
  return plan.mesh.tensor > 1 && scales_whole_tensors_or_rows(plan) && plan.cluster.hardware.kind != DeviceKind::Cpu;
}

bool has_experts_of_ranks(const ParallelPlan& plan) {
  return plan.model.experts && (plan.mesh.expert > 1 || plan.mesh.cuts_experts_apart());
}

// Copies of an expert that have rows of a microbatch are ranks of one sample and one replica.
bool mixes_parts_of_microbatches(const ParallelPlan& plan) {
  const DeviceMesh& mesh = plan.mesh;
  return parts_of_microbatches(plan) &&
         (mesh.tensor * mesh.context % (mesh.expert * mesh.expert_cut()) != 0 || mesh.shards() % mesh.context != 0);
}

bool in_tiles(const ParallelPlan& plan) { return scales_of(plan) && scales_tiles(*scales_of(plan)); }
bool parts_rows_in_tiles(const ParallelPlan& plan) {
  return in_tiles(plan) && plan.model.experts && (plan.mesh.context > 1 || parts_of_microbatches(plan));
}

bool cuts_scaled_tiles(const ParallelPlan& plan) {
  return plan.mesh.tensor > 1 && in_tiles(plan) && cuts_tiles(make_model_graph(plan), tile_side(*scales_of(plan)), plan.mesh.tensor);
}

constexpr Modules kWithinAttention = Modules(Module::CoreAttention) | Module::MlaUpProjection,
                  kWithinExperts = Modules(Module::MoeActivation) | Module::SharedExperts;

// A feed-forward that is made again as a whole, and a module of it.
bool makes_again_twice(Modules modules) {
  return (modules.meets(Module::Mlp | Module::Moe) && modules.has(Module::LayerNorm)) ||
         (modules.has(Module::Moe) && modules.meets(kWithinExperts));
}

bool norms_again(const ParallelPlan& plan) { return plan.recomputed_modules().has(Module::LayerNorm); }

bool has_operators_of_others(const ParallelPlan& plan) {
  if (!plan.model.convolution) return false;
  const ConvolutionForm& form = *plan.model.convolution;
  return form.squeeze || (form.kind != ConvolutionKind::Residual && form.kind != ConvolutionKind::Regular);
}

// A stage that has no copy of a table that its blocks read.
bool cuts_a_stack(const ParallelPlan& plan) {
  for (StageIndex stage(0); stage.value() < plan.mesh.pipeline; ++stage)
    for (LayerIndex layer(1); layer.value() <= plan.model.layers; ++layer) {
      const LayerIndex holder = holder_of_distances(plan.model, layer);
      if (holder.exists() && plan.owns(stage, layer) && !plan.owns(stage, holder)) return true;
    }
  return false;
}
// Of a stack, beside whose layer a unit is gathered and freed while others read it; small ones that are trained may stay whole.
bool frees_shared_distances(const ParallelPlan& plan) {
  const ModelConfig& model = plan.model;
  if (!model.encoder || model.encoder->relative_buckets == 0 || model.encoder->distances_of_each || plan.zero_stage < 3) return false;
  const std::int64_t elements = model.encoder->relative_buckets * model.heads / plan.mesh.tensor;
  return model.adapters || model.frozen.any() || elements > plan.persistence_threshold;
}

constexpr std::array kRunnable = std::to_array<Limit>({
    {"/cluster/groups", [](const ParallelPlan& p) { return !p.cluster.groups.empty(); },
     "the worker deals a batch out equally, to devices that are alike", "leave share out"},
    {"/workload/precision",
     [](const ParallelPlan& p) { return p.workload.precision.compute() == Precision::Tf32 && p.cluster.hardware.kind == DeviceKind::Cpu; },
     "tf32 is a GPU's; CPU ranks compute in fp64, fp32, bf16 and fp16", "use fp32"},
    {"/workload/precision", keeps_apart,
     "the worker sums gradients in the weights' type or in fp32, sends them so or in 16 bit, keeps masters in fp32, or in "
     "bf16 as the weights, and moments as masters, or in bf16",
     "state of gradients=fp32, wire=bf16, masters=bf16, moments=bf16 what you need, or nothing"},
    {"/workload/precision",
     [](const ParallelPlan& p) {
       return keeps_fewer_bits(p) && p.workload.optimizer != OptimizerKind::AdamW && p.workload.optimizer != OptimizerKind::AdamW8bit;
     },
     "the worker keeps moments of adamw in fewer bits than the masters, and no other optimizer's", "leave moments= out, or use adamw"},
    {"/workload/precision", [](const ParallelPlan& p) { return keeps_fewer_bits(p) && p.workload.optimizer == OptimizerKind::AdamW8bit; },
     "adamw_8bit keeps its moments in 8 bit, whatever is stated of them", "leave moments= out"},
    {"/workload/precision", [](const ParallelPlan& p) { return keeps_fewer_bits(p) && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "moments in fewer bits than the masters are stepped on CPU ranks alone", "leave moments= out"},
    {"/workload/adapters", keeps_another_base, "the worker keeps frozen weights as it keeps others, or as nf4 or int8",
     "use base nf4, base int8, or none"},
    {"/workload/adapters", [](const ParallelPlan& p) { return packs_weights(p) && p.model.experts.has_value(); },
     "the worker keeps frozen experts as it keeps other weights", "leave base out"},
    {"/workload/adapters", cuts_blocks_of_scales,
     "nf4 scales 64 elements of a frozen weight as one, and tensor ranks would cut some of these",
     "use another tensor degree, or base int8"},
    {"/attention", [](const ParallelPlan& p) { return p.attention != AttentionWord::AsTheProgram; },
     "the worker attends with LibTorch's fused kernel, or head by head", "leave it out"},
    {"/tensor_overlap", [](const ParallelPlan& p) { return p.tensor_overlap == TensorOverlap::AlongProducts; },
     "the worker exchanges whole tensors, in front of products and behind them", "leave it out, or use beside_weights"},
    {"/tensor_overlap",
     [](const ParallelPlan& p) {
       return p.tensor_overlap == TensorOverlap::BesideWeights && p.cluster.hardware.kind == DeviceKind::Cpu;
     },
     "ranks on CPUs exchange at once, beside nothing", "leave it out"},
    {"/workload/frozen", [](const ParallelPlan& p) { return p.model.frozen.any() && p.slices > 1; },
     "slices keep keys and values for a backward, which frozen blocks may not have", "use slices=1"},
    {"/recompute_scope", [](const ParallelPlan& p) { return p.recompute_scope.modules.has(Module::Op); },
     "the worker recomputes modules, not every second operator", "name modules (core_attn, layernorm, mlp, ...), or leave it out"},
    {"/recompute_scope", [](const ParallelPlan& p) { return makes_again_twice(p.recompute_scope.modules); },
     "a feed-forward that is made again as a whole keeps what its norm puts out, and makes nothing of it twice",
     "leave layernorm out beside mlp and moe, and moe_act and shared_experts beside moe"},
    {"/recompute_scope", [](const ParallelPlan& p) { return p.mesh.context > 1 && p.recomputed_modules().meets(kWithinAttention); },
     "context ranks make nothing within attention again", "leave core_attn and mla_up_proj out, or use context 1"},
    {"/recompute_scope", [](const ParallelPlan& p) { return p.slices > 1 && p.recomputed_modules().meets(kWithinAttention); },
     "slices make nothing within attention again", "leave core_attn and mla_up_proj out, or use slices 1"},
    {"/recompute_scope", [](const ParallelPlan& p) { return p.sequence_parallel && norms_again(p); },
     "what norms put out is gathered by tensor ranks that share the sequence, and would be gathered again", "leave layernorm out"},
    {"/recompute_scope", [](const ParallelPlan& p) { return p.model.norm_place == NormPlace::AfterSum && norms_again(p); },
     "no norm stands in front of a segment, whose output could be made again", "leave layernorm out"},
    {"/model", has_operators_of_others, "the worker performs resnet and regnet x: convolutions, batch norms, relu, pools and sums",
     "use one without squeeze-and-excitation; planning and simulating hold"},
    {"/model",
     [](const ParallelPlan& p) {
       const bool lacks_weights = !p.model.norm_weight || p.model.qk_norm == QkNorm::Plain || (!p.model.norm_bias && p.model.norm == Norm::LayerNorm);
       return lacks_weights && p.cluster.hardware.kind != DeviceKind::Cpu;
     },
     "norms without weights, and norms of means without biases, are performed on CPU ranks alone", "plan for a CPU"},
    {"/mesh/context", [](const ParallelPlan& p) { return shares_keys_of_a_sample(p) && norms_turned_heads(p.model) && has_documents(p); },
     "context ranks that pass keys on norm them behind a turn that goes on from one document to the next",
     "use context_algorithm=all_to_all, or leave samples out"},
    {"/sequence_parallel", [](const ParallelPlan& p) { return p.model.encoder && p.sequence_parallel; },
     "tensor ranks have all rows of the source and the target", "switch it off"},
    {"/recompute_scope", [](const ParallelPlan& p) { return p.model.encoder && norms_again(p); },
     "norms of some rows are kept as they were made", "leave layernorm out"},
    {"/model", [](const ParallelPlan& p) { return p.model.encoder && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "an encoder with its decoder is performed on CPU ranks alone", "plan for a CPU"},
    {"/cut", cuts_a_stack, "blocks of a stack share one table of biases by distance, which has no copies", "cut between the encoder and the decoder"},
    {"/zero_stage", frees_shared_distances, "the table of biases by distance is there while its own layer is gathered",
     "use zero_stage 2, or a persistence_threshold that keeps the table whole"},
    {"/direct_source", [](const ParallelPlan& p) { return p.direct_source && p.mesh.pipeline > 1; },
     "the worker sends the source along through the stages", "leave it out"},
    {"/mesh/pipeline", [](const ParallelPlan& p) { return p.model.convolution && p.mesh.pipeline * p.chunks > 1; },
     "what a block of maps begins with is not sent along", "use pipeline degree 1, and more data ranks"},
    {"/recompute", [](const ParallelPlan& p) { return p.model.convolution && p.recompute != Recompute::None; },
     "the worker keeps maps until their backward", "use recompute none"},
    {"/cluster/hardware", [](const ParallelPlan& p) { return p.model.convolution && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "maps are convolved on CPU ranks alone", "plan for a CPU"},
    {"/workload/precision", [](const ParallelPlan& p) { return p.model.convolution && p.workload.precision.compute() == Precision::Fp16; },
     "maps are convolved in fp64, fp32 and bf16", "use bf16"},
    {"/workload/samples", [](const ParallelPlan& p) { return has_documents(p) && p.model.convolution; },
     "samples are images, and no rows of documents", "leave it out"},
    {"/mesh/tensor", cuts_unequal_columns, "tensor ranks that share a head of keys make equally many of its columns",
     "use a tensor degree whose ranks divide them"},
    {"/workload/precision", [](const ParallelPlan& p) { return scales_of(p) == ScaleRecipe::Nvfp4; }, "the worker rounds to 8 bit, not to 4",
     "use fp8:blockwise"},
    {"/workload/precision", [](const ParallelPlan& p) { return p.workload.precision.scales_head(); },
     "the worker multiplies the head's product in 16 bit", "leave head=fp8 out"},
    {"/workload/precision", [](const ParallelPlan& p) { return p.workload.precision.of(WideKind::Stream).has_value(); },
     "the worker adds to the stream in the type of its blocks", "leave stream= out"},
    {"/workload/precision", [](const ParallelPlan& p) { return p.workload.precision.of(WideKind::Routers).has_value(); },
     "the worker multiplies routers in the type of their blocks, and scores in fp32", "leave routers= out"},
    {"/workload/precision", [](const ParallelPlan& p) { return p.workload.precision.of(WideKind::Norms).has_value(); },
     "the worker keeps norms in the type of their blocks", "leave norms= out"},
    {"/workload/precision", [](const ParallelPlan& p) { return scales_of(p) && p.workload.precision.gathers_scaled(); },
     "the worker gathers weights as it keeps them", "leave gathers=fp8 out"},
    {"/workload/precision", [](const ParallelPlan& p) { return scales_of(p) && p.workload.precision.compute() == Precision::Fp16; },
     "8 bits saturate, so that a loss scale would see no overflow", "use unscaled=bf16 or unscaled=fp32"},
    {"/workload/precision",
     [](const ParallelPlan& p) { return scales_of_this_step(p) && has_experts_of_ranks(p) && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "an expert's rows of each microbatch have scales of their own on CPU ranks alone", "use fp8:delayed, or expert degree 1"},
    {"/mesh/expert", [](const ParallelPlan& p) { return scales_of_this_step(p) && mixes_parts_of_microbatches(p); },
     "copies of an expert would agree on scales of rows of several microbatches, or replicas",
     "use an expert degree that divides the ranks of a sample, or is a multiple of them"},
    {"/mesh/context", parts_rows_in_tiles,
     "an expert's rows come rank by rank, and tiles of tokens are those of one rank's order", "use fp8:tensorwise, fp8:rowwise or fp8:delayed"},
    {"/workload/precision", [](const ParallelPlan& p) { return scales_of(p) && packs_weights(p); },
     "frozen weights in few bits are multiplied as they are unpacked", "leave base out, or use bf16"},
    {"/mesh/tensor",
     [](const ParallelPlan& p) { return sums_in_front_of_rounding(p) && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "tensor ranks sum gradients of what each makes whole in front of their rounding on CPU ranks alone", "use tensor degree 1"},
    {"/workload/precision", [](const ParallelPlan& p) { return scales_of(p) == ScaleRecipe::Delayed && p.sums_by_priority(); },
     "the next step's scales are agreed on at the end of a step, and sums by priority have none", "use fp8:tensorwise"},
    {"/mesh/tensor", scales_whole_rows_of_shards,
     "tensor ranks agree on the scales of whole tensors and rows on CPU ranks alone",
     "use fp8:delayed, fp8:blockwise or tensor degree 1"},
    {"/mesh/tensor", cuts_scaled_tiles, "tensor ranks would cut tiles that have one scale", "use another tensor degree, or fp8:delayed"},
    {"/mesh/context",
     [](const ParallelPlan& p) {
       return (cuts_tokens(p, /*of_experts=*/false) || cuts_tokens(p, /*of_experts=*/true)) && p.cluster.hardware.kind != DeviceKind::Cpu;
     },
     "ranks that have other tokens of a product agree on its scales on CPU ranks alone", "use fp8:delayed, or context 1"},
    {"/workload/optimizer",
     [](const ParallelPlan& p) {
       const OptimizerKind kind = p.workload.optimizer;
       return kind > OptimizerKind::Sgd && kind != OptimizerKind::Muon && kind != OptimizerKind::AdamW8bit;
     },
     "the worker steps by adamw, adamw_8bit, sgd and muon", "use one of them"},
    {"/workload/optimizer",
     [](const ParallelPlan& p) { return p.workload.optimizer == OptimizerKind::AdamW8bit && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "moments in 8 bit are stepped on CPU ranks alone", "use adamw"},
    {"/workload/optimizer",
     [](const ParallelPlan& p) { return p.workload.optimizer == OptimizerKind::Muon && p.zero_stage == 0 && p.mesh.copies() > 1; },
     "the worker deals the matrices of muon out to data ranks", "use zero=1 or 2"},
    {"/offload_parameters", [](const ParallelPlan& p) { return p.offload_parameters && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "weights are brought from the host on CPU ranks alone", "leave it out; the optimizer may lie on the host"},
    {"/on_drive", [](const ParallelPlan& p) { return p.on_drive != OnDrive::None; }, "the worker keeps nothing on drives",
     "use on_drive=none: what is on the host lies in its memory"},
    {"/offload_modules", [](const ParallelPlan& p) { return !p.offload_modules.none() && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "what modules have saved goes to the host on CPU ranks alone", "use recompute=full and offload_activations=true, or leave it out"},
    {"/offload_blocks", [](const ParallelPlan& p) { return !p.offload_modules.none() && p.offload_blocks > 0; },
     "the worker sends what modules of all blocks have saved", "leave it out"},
    {"/offload_modules", [](const ParallelPlan& p) { return p.offload_modules.has(Module::Mlp); },
     "the worker sends what attention and experts have saved", "leave mlp out of it"},
    {"/offload_modules", [](const ParallelPlan& p) { return !p.offload_modules.none() && p.mesh.context > 1; },
     "context ranks keep queries, keys and values beside their exchange", "use context 1, or leave it out"},
    {"/offload_share", [](const ParallelPlan& p) { return p.offload_share < 1; }, "the worker's host steps all of the optimizer, or nothing",
     "leave it out"},
    {"/expert_overlap", [](const ParallelPlan& p) { return p.expert_overlap && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "a forward takes turns with a backward on CPU ranks alone: on one stream of a GPU nothing would be hidden", "leave it out"},
    {"/token_dispatcher", [](const ParallelPlan& p) { return p.token_dispatcher == TokenDispatcher::Hierarchical || p.gathers_tokens(); },
     "the worker sends a copy of a token to each expert", "use all_to_all"},
    {"/gradient_sync", [](const ParallelPlan& p) { return p.zero_stage == 2 && p.gradient_sync == GradientSync::AllReduce; },
     "the worker's ranks of stage 2 get the sums of their shards alone", "use gradient_sync=reduce_scatter"},
    {"/post_validation", [](const ParallelPlan& p) { return p.post_validation != PostValidation::None; },
     "the worker knows the norm of all gradients before it steps", "leave it out"},
    {"/partition_size", [](const ParallelPlan& p) { return p.sums_by_priority() && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "partitions of gradients are queued by priority on CPU ranks alone", "leave partition_size and credit_size out"},
    {"/optimizer_in_backward", [](const ParallelPlan& p) { return p.optimizer_in_backward && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "weights are stepped inside the backward on CPU ranks alone: on a GPU computing would wait for each step", "leave it out"},
    {"/paged_optimizer", [](const ParallelPlan& p) { return p.paged_optimizer; }, "the worker keeps moments in its allocator's memory",
     "leave it out"},
    {"/cuda_graphs", [](const ParallelPlan& p) { return p.cuda_graphs != CudaGraphs::None; }, "the worker issues its kernels one by one",
     "leave it out"},
    {"/cut", has_empty_part, "a chunk has no layer, and the worker builds none that only hands on", "give each chunk a layer"},
    {"/model", [](const ParallelPlan& p) { return p.model.attention.kind == AttentionKind::Latent && changes_scores(p); },
     "latent attention attends by plain scores", "train a network without windows, sinks, caps or slopes"},
    {"/model", [](const ParallelPlan& p) { return p.model.value_dim > 0 && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "values of another width than keys are performed on CPU ranks alone", "plan for a CPU"},
    {"/model", [](const ParallelPlan& p) { return has_heads_of_two_widths(p.model); },
     "heads of blocks are not equally wide, and the worker turns all by one table", "train it with another program; planning and simulating hold"},
    {"/workload/samples", [](const ParallelPlan& p) { return has_documents(p) && !p.workload.samples.end_token; },
     "the worker finds documents by the token that stands behind each", "say which: end 2"},
    {"/workload/samples", [](const ParallelPlan& p) { return has_documents(p) && p.cluster.hardware.kind != DeviceKind::Cpu; },
     "documents are told apart in attention on CPU ranks alone", "leave it out"},
    {"/workload/samples", [](const ParallelPlan& p) { return has_documents(p) && p.model.bidirectional; },
     "the worker masks tokens of whole samples", "leave it out"},
    {"/context_by_document",
     [](const ParallelPlan& p) { return p.context_by_document && (p.mesh.data > 1 || p.microbatch_size > 1); },
     "the worker deals the documents of one row out to its context ranks, and not those of several rows", "use data degree 1 and microbatches of 1"},
    {"/workload/samples",
     [](const ParallelPlan& p) {
       const bool has_padding = has_documents(p) && p.workload.samples.filling != RowFilling::Packed;
       return has_padding && p.model.experts && p.model.experts->balance_loss > 0;
     },
     "the auxiliary loss of experts counts every token alike, and padding among them",
     "set it to 0 (router_aux_loss_coef), or use packed samples"},
});

// Words that the worker performs; a new one is refused until it stands here.
constexpr std::string_view kPerformed[] = {"window",           "sinks",           "qk_norm",         "plain_qk_norm",
                                           "turned_qk_norm",   "norm_weight",     "alibi",           "rotary_share",
                                           "local_rope_theta", "score_scale",     "score_cap",       "norm_place",
                                           "offset_norm",      "parallel_blocks", "gate_limit",      "shared_gate",
                                           "expert_biases",    "groups",          "position_offset", "embedding_norm",
                                           "unturned",         "norm_bias",       "residual_factor", "factors",
                                           "head_bias",        "final_norm",      "logit_cap",       "convolution",
                                           "encoder",          "distances",       "sines",           "distances_of_each",
                                           "late_positions",   "bidirectional",   "token_types",     "head_transform",
                                           "transform_bias",   "first_norm",      "sizes",           "value_dim",
                                           "attention_gate",   "head_gate",       "embedding_width"};

}  // namespace

std::vector<Violation> why_not_runnable(const ParallelPlan& plan) {
  std::vector<Violation> found;
  for (const Limit& limit : kRunnable)
    if (limit.exceeded(plan)) found.push_back({std::string(limit.where), std::string(limit.problem), std::string(limit.remedy)});
  for (const ModelWord& word : model_words())
    if (word.stands_in(plan.model) && std::ranges::find(kPerformed, word.name) == std::end(kPerformed))
      found.push_back({"/model", fmt::format("has {}, which the worker does not perform ({})", word.what, word.name),
                       "train it with another program; planning and simulating hold"});
  return found;
}

}  // namespace sim
