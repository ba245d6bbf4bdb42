// The arguments that a plan says, and those that say a plan: one row each, both ways. The network's stand in megatron_network_fields.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "sim/plan/field_words.h"
#include "sim/recipe/megatron_hybrid.h"
#include "sim/recipe/megatron_layout.h"
#include "sim/recipe/megatron_network.h"
#include "sim/recipe/megatron_residency.h"
#include "sim/recipe/megatron_words.h"
#include "sim/recipe/program.h"
#include "sim/recipe/recomputed_stages.h"
#include "sim/recipe/said_values.h"
#include "sim/units/at.h"

namespace sim {
namespace {

void read_context_by_document(const Value& value, Draft&) {
  if (!value.boolean()) return;
  value.lost(
      "documents choose how many context ranks share them; how long they are stands in the data, and here all samples have the same degree",
      "say it in the plan: samples \"packed lognormal mean 800 spread 1.2\" and context_by_document");
}
Written packs_documents(const ParallelPlan& plan) { return written_flag(plan.workload.samples.filling == RowFilling::Packed); }

constexpr std::string_view kContextTypes[] = {"p2p", "all_gather", "a2a", "a2a+p2p"};  // in the order of ContextAlgorithm
constexpr std::string_view kStrategies[] = {"no_shard", "optim", "optim_grads", "optim_grads_params"};

// Neighbours that exchange heads, and the ring of their groups; read behind the degree and the type.
void read_context_levels(const Value& value, Draft& draft) {
  if (!is_on(value.text())) return;
  const std::vector<double> sizes = numbers_of(value.text());
  const std::int32_t context = draft.plan.mesh.context;
  if (sizes.size() != 2 || sizes[0] < 1 || sizes[0] * sizes[1] != context || context % static_cast<std::int64_t>(sizes[0]) != 0)
    return value.wrong(fmt::format("is '{}', whose product is not context {}", value.text(), context),
                       "write two sizes, as 2 4 of context 8");
  if (draft.plan.context_algorithm != ContextAlgorithm::Hierarchical)
    return value.note(fmt::format("{}: is of --cp-comm-type a2a+p2p alone", value.text()), "it is left out, as Megatron does");
  if (sizes[1] == 1) draft.plan.context_algorithm = ContextAlgorithm::AllToAll;
  if (sizes[0] == 1) draft.plan.context_algorithm = ContextAlgorithm::Ring;
  if (sizes[0] > 1 && sizes[1] > 1) draft.plan.mesh.context_inner = static_cast<std::int32_t>(sizes[0]);
}

// The cluster says what its switches do.
void read_sharp(const Value& value, Draft& draft) {
  if (value.boolean() && !draft.plan.cluster.hardware.inter_node.switch_sums)
    value.lost("sums in the switches, and the cluster is not said to have such; the plan takes rings and trees",
               "say \"switch_sums\": true of inter_node in its hardware profile");
}

template <auto size>
Written training_number(const ParallelPlan& plan) {
  return written_number(static_cast<double>(plan.training.*size));
}
template <auto size>
void read_training_number(const Value& value, Draft& draft) {
  if constexpr (std::is_same_v<std::remove_reference_t<decltype(draft.plan.training.*size)>, double>)
    draft.plan.training.*size = value.number();
  else
    draft.plan.training.*size = std::clamp<std::int64_t>(value.integer(), 0, 1'000'000'000);
}

bool is_overlapped(const ParallelPlan& plan) { return plan.bucket_size.value() < kOneBucket.value(); }

void read_granularity(const Value& v, Draft& d) { d.plan.recompute = static_cast<Recompute>(v.choice(kRecomputeNames)); }
void read_old_recompute(const Value& v, Draft& d) {
  if (v.boolean()) d.plan.recompute = Recompute::Full;
}
// The old name alone asked for it; the new one is of --recompute-granularity full, but for MindSpeed's recomputation at another time.
void read_recompute_method(const Value& v, Draft& d) {
  if (!is_on(v.text()) || d.said.contains("recompute-granularity") || said(d, "checkpoint-activations") != nullptr) return;
  const bool is_of_mindspeed = said(d, "recompute-in-advance") != nullptr || said(d, "recompute-in-bubble") != nullptr;
  if (v.key() != "recompute-method" || is_of_mindspeed) return static_cast<void>(d.plan.recompute = Recompute::Full);
  d.unknown.push_back({"recompute-method", "is given without recompute-granularity: nothing is recomputed there, nor in the plan",
                       "add --recompute-granularity full, if it is meant"});
}
// In the order of ScaleRecipe; rows have none.
constexpr std::string_view kScaleNames[] = {"delayed", "tensorwise", "", "mxfp8", "blockwise"};
bool is_four_bits(const ParallelPlan& plan) { return plan.workload.precision.scales() == ScaleRecipe::Nvfp4; }
bool is_eight_bits(const ParallelPlan& plan) { return plan.workload.precision.scales() && !is_four_bits(plan); }
void read_scaled_format(const Value& v, Draft& d) {
  constexpr std::string_view kFormats[] = {"hybrid", "e4m3", "true"};  // a flag before 2023
  tell_other_word(v, kFormats);
  if (is_on(v.text())) d.scales_products = true;
}
void read_four_bits(const Value& v, Draft& d) {
  constexpr std::string_view kFormats[] = {"e2m1", "true"};
  tell_other_word(v, kFormats);
  if (is_on(v.text())) d.scales_products = true, d.scales = ScaleRecipe::Nvfp4;
}
// How many of the first blocks have no scales, or of the last ones.
Written unscaled_at(const ParallelPlan& p, std::int64_t BlockEnds::*end) {
  const BlockRanges& blocks = p.workload.precision.unscaled_blocks();
  const std::optional<BlockEnds> ends = ends_in(blocks, p.model.layers);
  return written_if(!blocks.empty() && ends, std::to_string(ends.value_or(BlockEnds{}).*end));
}
void read_scale_recipe(const Value& v, Draft& d) {
  if (v.text() == "custom") return v.lost("is custom: another file says what it is; the plan takes delayed", "mind time and memory");
  if (const auto recipe = static_cast<ScaleRecipe>(v.choice(kScaleNames)); d.scales != ScaleRecipe::Nvfp4) d.scales = recipe;
}

// Of a hybrid, which has no layout: the first stage's, or the last one's, where they have not as many as the others.
Written blocks_at_end(const ParallelPlan& p, bool first) {
  if (p.mesh.pipeline == 1 || !is_hybrid(p.model)) return {};
  const std::vector<std::int64_t> blocks = blocks_of(p);
  const std::int64_t usual = blocks.size() > 2 ? blocks[1] : blocks.back(), own = first ? blocks.front() : blocks.back();
  return written_if(own != usual, std::to_string(own));
}

// FlagScale: "2 10 12 1 8", for each kind of device how many stages, and the blocks of each.
void read_stages_of_kinds(const Value& v, Draft& d) {
  const std::vector<double> numbers = numbers_of(v.text());
  d.blocks.clear();
  for (std::size_t at = 0; at < numbers.size();) {
    const std::size_t end = at + 1 + static_cast<std::size_t>(std::clamp(numbers[at], 0.0, 1e5));
    if (end > numbers.size() || end == at + 1) return v.wrong("is no list of stages with their blocks", "write 1 16 1 14");
    for (++at; at < end; ++at) d.blocks.push_back(static_cast<std::int64_t>(std::clamp(numbers[at], 0.0, 1e6)));
  }
  const auto stages = static_cast<std::int32_t>(d.blocks.size());
  if (d.said.contains("pipeline-model-parallel-size") && d.plan.mesh.pipeline != stages)
    v.wrong(fmt::format("has {} stages, and pipeline-model-parallel-size is {}", stages, d.plan.mesh.pipeline), "correct one of them");
  d.plan.mesh.pipeline = std::max(1, stages);
}

// FlagScale: "1 3 4 4", one stage of 3 blocks and four of 4.
void read_blocks_of_stages(const Value& v, Draft& d) {
  d.blocks = numbers_in_pairs(v.text(), d.plan.mesh.pipeline);
  const auto stages = std::ssize(d.blocks);
  if (stages != d.plan.mesh.pipeline)
    v.wrong(fmt::format("is of {} stages, and pipeline-model-parallel-size is {}", stages, d.plan.mesh.pipeline), "correct one of them");
}

// MindSpeed: 15,15,16,15; settle_cut() holds it against stages and blocks.
void read_blocks_of_each_stage(const Value& v, Draft& d) {
  const std::vector<double> blocks = numbers_of(v.text());
  const bool are_counts =
      std::ranges::all_of(blocks, [](double count) { return count >= 0 && count <= 1e6 && count == std::floor(count); });
  if (blocks.empty() || !are_counts)
    return v.wrong(fmt::format("is '{}', and a number of layers for each stage is needed", v.text()), "write 15,16");
  d.blocks.assign(blocks.begin(), blocks.end());
}

// MindSpeed; degrees are read before it.
void read_order_of_mindspeed(const Value& v, Draft& d) {
  constexpr std::string_view kOrders[] = {"dualpipev"};
  if (v.choice(kOrders) == 0 && d.plan.mesh.pipeline > 1) d.plan.schedule = kOrders[0];
}

// Of a precision-aware optimizer.
void read_type_of_masters(const Value& v, Draft&) {
  if (!has_name("fp32 float32 fp16 float16", leaf_of(v.text())))
    v.wrong(fmt::format("is {}, which Megatron-LM keeps no masters in", shown(v.text())), "use fp32 or fp16");
}

// Before 2021: PyTorch's own reduces beside backward, in buckets of 25 MiB.
void read_old_data_parallel(const Value& v, Draft&) {
  constexpr std::string_view kKinds[] = {"local", "torch"};
  tell_other_word(v, kKinds);
  if (v.text() == "torch") v.lost("torch: gradients are reduced beside the backward; the plan's behind it", "mind that it takes less time");
}

// MindSpeed: kernels of AdamW, one of which keeps an average of all weights.
void read_kernel_of_optimizer(const Value& v, Draft&) {
  constexpr std::string_view kKernels[] = {"fused_adamw", "fused_torch_adamw", "fused_ema_adamw"};
  tell_other_word(v, kKernels);
  if (v.text().find("ema") != std::string::npos) v.lost(v.text() + ": averages of all weights beside them", "mind their memory");
}

// Of tensor ranks that share a matrix: each steps its part, or all the whole.
void read_parts_of_muon(const Value& v, Draft&) {
  if (v.text() != "blockwise")
    v.lost(v.text() + ": tensor ranks meet for each matrix; the plan's step their own shards", "mind the optimizer's time");
}

// Of Newton and Schulz; a plan's Muon has five.
void read_steps_of_muon(const Value& v, Draft&) {
  if (v.count() != 5) v.lost(fmt::format("is {}: the plan's matrices take 5 steps", v.text()), "mind the optimizer's time");
}

// NeMo 1's distributed_fused_adam: MiB of gradients, in the type in which they cross (apex/contrib/optimizers/distributed_fused_adam.py).
void read_bucket_of_apex(const Value& v, Draft& d) {
  const std::int64_t size = said(d, "grad-reduce-in-bf16") != nullptr ? 2 : 4;
  if (is_on(v.text())) d.bucket_elements = std::min<std::int64_t>(v.count(), 1'000'000) * (1 << 20) / size;
}

void read_type_of_gradients(const Value& v, Draft& d) {
  constexpr std::string_view kTypes[] = {"fp32", "bf16", "torch.float32", "torch.bfloat16", "float32", "bfloat16"};
  tell_other_word(v, kTypes);
  d.fp32_gradients = leaf_of(v.text()) == "fp32" || leaf_of(v.text()) == "float32";
}
// Of a fused loss: functions that torch.compile joins, or TransformerEngine's kernel, which writes the gradient over the logits (settle_loss).
constexpr std::string_view kLossKernels[] = {"native", "te"};
Written loss_kernel(const ParallelPlan& p) {
  const SoftwareStack& stack = p.cluster.software;
  return written_if(stack.fused_loss && stack.fused_loss_bytes <= kBytesOfLossInPlace, "te");
}
void read_loss_kernel(const Value& v, Draft&) { v.choice(kLossKernels); }
constexpr std::string_view kDeviceBackends[] = {"nccl", "hccl", "cncl", "cpu:gloo,cuda:nccl"};  // of devices; over gloo and MPI hosts speak
constexpr std::string_view kCheckpointFormats[] = {"torch", "torch_dist", "torch_dcp", "zarr", "fsdp_dtensor"};

constexpr Field kFields[] = {
    {"cuda-graph-impl", "", [](const ParallelPlan& p) { return written_if(p.cuda_graphs != CudaGraphs::None, "local"); }, read_graphs},
    {"cuda-graph-scope", "cuda-graph-modules", graph_scope_of_megatron, read_graph_scope},
    {"enable-cuda-graph", "external-cuda-graph", nullptr, read_layer_graphs},
    {"full-iteration-cuda-graph", "", nullptr, read_step_graphs},
    {"te-rng-tracker", "", [](const ParallelPlan& p) { return written_flag(p.cuda_graphs != CudaGraphs::None); }, flag_said},
    {"no-check-for-nan-in-loss-and-grad", "", [](const ParallelPlan& p) { return written_flag(captures_step(p)); }, flag_said},
    {"overlap-moe-expert-parallel-comm", "", flag_of<&ParallelPlan::expert_overlap>, put_flag<&ParallelPlan::expert_overlap>},
    {"delay-wgrad-compute", "", flag_of<&ParallelPlan::delay_wgrad>, put_flag<&ParallelPlan::delay_wgrad>},
    {"defer-embedding-wgrad-compute", "", [](const ParallelPlan& p) { return written_flag(p.delay_head_wgrad > 0); }, flag_said},
    {"wgrad-deferral-limit", "", deferral_limit, number_said},
    {"cross-entropy-loss-fusion", "", [](const ParallelPlan& p) { return written_flag(p.cluster.software.fused_loss); }, flag_said},
    {"cross-entropy-fusion-impl", "", loss_kernel, read_loss_kernel},
    {"tp-comm-overlap", "", [](const ParallelPlan& p) { return written_flag(p.sends_along_products()); }, flag_said},
    {"make-vocab-size-divisible-by", "",
     [](const ParallelPlan& p) { return written(p.vocabulary_multiple / p.mesh.tensor); },  // times T there
     [](const Value& v, Draft& d) { d.plan.vocabulary_multiple = v.degree(); }},
    {"seq-length", "encoder-seq-length sequence-length cutoff-len max-length",
     [](const ParallelPlan& p) { return written(p.workload.sequence); }, [](const Value& v, Draft& d) { d.sequence = v.count(); }, true},
    {"micro-batch-size", "batch-size per-device-train-batch-size", [](const ParallelPlan& p) { return written(p.microbatch_size); },
     [](const Value& v, Draft& d) { d.microbatch = v.count(); }, true},
    {"global-batch-size", "", [](const ParallelPlan& p) { return written(p.workload.global_batch); },
     [](const Value& v, Draft& d) { d.global_batch = v.count(); }, true},
    {"tensor-model-parallel-size", "model-parallel-size intra-layer-model-parallel-size",
     [](const ParallelPlan& p) { return written(p.mesh.tensor); }, [](const Value& v, Draft& d) { d.plan.mesh.tensor = v.degree(); }, true},
    {"sequence-parallel", "", flag_of<&ParallelPlan::sequence_parallel>, put_flag<&ParallelPlan::sequence_parallel>},
    {"pipeline-model-parallel-size", "pipe-parallel-size", [](const ParallelPlan& p) { return written(p.mesh.pipeline); },
     [](const Value& v, Draft& d) { d.plan.mesh.pipeline = v.degree(); }, true},
    {"pipeline-model-parallel-layout", "", 
     [](const ParallelPlan& p) { return written_if(p.mesh.pipeline > 1 && !is_hybrid(p.model), layout_text(p)); }, read_layout},
    {"num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size", nullptr,
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.plan.chunks = v.degree();
     }},
    {"num-layers-per-virtual-pipeline-stage", "", nullptr, [](const Value& v, Draft& d) { d.blocks_of_chunk = v.degree(); }},
    {"microbatch-group-size-per-virtual-pipeline-stage", "microbatch-group-size-per-vp-stage",
     [](const ParallelPlan& p) { return written_if(p.microbatch_group > 0, std::to_string(p.microbatch_group)); },
     [](const Value& v, Draft& d) {
       const std::int32_t group = v.degree();
       d.plan.microbatch_group = group == d.plan.mesh.pipeline ? 0 : group;  // as without it
     }},
    {"mtp-num-layers", "", [](const ParallelPlan& p) { return written_if(p.model.mtp_layers > 0, std::to_string(p.model.mtp_layers)); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.mtp_layers = v.text() == "0" ? 0 : v.degree();
     }},
    {"reset-attention-mask", "", packs_documents,
     [](const Value& v, Draft&) {
       if (v.boolean())
         v.lost("documents attend to themselves alone; how long they are stands in the data, and the plan takes one for each sample",
                "say it as samples: \"packed lognormal mean 800 spread 1.2\"");
     }},
    {"reset-position-ids", "", packs_documents, flag_said},
    {"eod-mask-loss", "", packs_documents, flag_said},
    {"hetero-pipeline-stages", "", nullptr, read_stages_of_kinds, true},
    {"num-layers-per-stage", "", nullptr, read_blocks_of_stages},
    {"num-layer-list", "", nullptr, read_blocks_of_each_stage},
    {"schedules-method", "", nullptr, read_order_of_mindspeed},
    {"decoder-first-pipeline-num-layers", "", [](const ParallelPlan& p) { return blocks_at_end(p, true); },
     [](const Value& v, Draft& d) { d.first_blocks = v.degree(); }},
    {"decoder-last-pipeline-num-layers", "", [](const ParallelPlan& p) { return blocks_at_end(p, false); },
     [](const Value& v, Draft& d) { d.last_blocks = v.degree(); }},
    {"account-for-embedding-in-pipeline-split", "", nullptr, [](const Value& v, Draft& d) { d.embedding_counts = v.boolean(); }},
    {"account-for-loss-in-pipeline-split", "", nullptr, [](const Value& v, Draft& d) { d.loss_counts = v.boolean(); }},
    {"context-parallel-size", "", [](const ParallelPlan& p) { return written(p.mesh.context); },
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(); }, true},
    {"ds-sequence-parallel-size", "", nullptr,
     [](const Value& v, Draft& d) { d.plan.mesh.context = v.degree(), d.plan.context_algorithm = ContextAlgorithm::AllToAll; }, true},
    {"cp-comm-type", "",
     [](const ParallelPlan& p) { return written_if(p.mesh.context > 1, std::string(sim::at(kContextTypes, p.context_algorithm))); },
     [](const Value& v, Draft& d) {
       d.plan.context_algorithm =
           v.text() == "allgather" ? ContextAlgorithm::AllGather : static_cast<ContextAlgorithm>(v.choice(kContextTypes));
     }},
    {"context-parallel-algo", "", nullptr, read_context_algorithm},  // MindSpeed
    {"hierarchical-context-parallel-sizes", "",
     [](const ParallelPlan& p) {
       return written_if(p.mesh.context_inner > 1, fmt::format("{} {}", p.mesh.context_inner, p.mesh.context_outer()));
     },
     read_context_levels},
    {"hybrid-context-parallel", "dynamic-context-parallel", flag_of<&ParallelPlan::context_by_document>, read_context_by_document},
    {"max-seqlen-per-dp-cp-rank", "",
     [](const ParallelPlan& p) {
       return written_if(p.context_by_document, std::to_string(p.workload.sequence * p.microbatch_size / p.mesh.context));
     },
     number_said},  // of the row above
    {"expert-model-parallel-size", "moe-expert-parallel-size",
     [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), std::to_string(p.mesh.expert)); },
     [](const Value& v, Draft& d) { d.plan.mesh.expert = v.degree(); }, true},
    {"moe-tp-extend-ep", "", nullptr, flag_said},  // MindSpeed
    {"expert-tensor-parallel-size", "",
     [](const ParallelPlan& p) { return written_if(p.model.experts.has_value(), std::to_string(p.mesh.expert_cut())); },
     [](const Value& v, Draft& d) {  // by default the tensor ranks
       if (is_on(v.text()) && v.degree() != d.plan.mesh.tensor) d.plan.mesh.expert_tensor = v.degree();
     }},
    {"use-distributed-optimizer", "", [](const ParallelPlan& p) { return written_flag(p.zero_stage >= 1); },
     [](const Value& v, Draft& d) { d.plan.zero_stage = std::max(d.plan.zero_stage, v.boolean() ? 1 : 0); }},
    {"use-megatron-fsdp", "use-custom-fsdp", [](const ParallelPlan& p) { return written_flag(is_by_megatron_fsdp(p)); },
     [](const Value& v, Draft& d) { d.is_fsdp = v.boolean(); }},
    {"use-torch-fsdp2", "", nullptr,
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.plan.zero_stage = 3, d.is_fsdp = true;
     }},
    {"torch-fsdp2-no-reshard-after-forward", "", nullptr, [](const Value& v, Draft& d) { d.plan.reshard_after_forward = !v.boolean(); }},
    {"data-parallel-sharding-strategy", "",
     [](const ParallelPlan& p) { return written_if(is_by_megatron_fsdp(p), std::string(kStrategies[p.zero_stage])); },
     [](const Value& v, Draft& d) { d.strategy = static_cast<std::int32_t>(v.choice(kStrategies)); }},
    {"zero-stage", "", nullptr,  // Megatron-DeepSpeed
     [](const Value& v, Draft& d) {
       constexpr std::string_view kStages[] = {"0", "1", "2", "3"};
       d.plan.zero_stage = static_cast<std::int32_t>(v.choice(kStages));
       d.is_fsdp = d.plan.zero_stage >= 2;
       d.strategy = d.plan.zero_stage;
     }},
    {"distributed-backend", "", nullptr, word_said<kDeviceBackends>},
    {"ckpt-format", "", [](const ParallelPlan& p) { return written_if(is_by_megatron_fsdp(p), "fsdp_dtensor"); }, word_said<kCheckpointFormats>},
    {"num-distributed-optimizer-instances", "",
     [](const ParallelPlan& p) { return written_if(p.mesh.replicas > 1, std::to_string(p.mesh.replicas)); },
     [](const Value& v, Draft& d) { d.plan.mesh.replicas = v.degree(); }},
    {"overlap-grad-reduce", "", [](const ParallelPlan& p) { return written_flag(is_overlapped(p)); },
     [](const Value& v, Draft& d) { d.overlaps_reduce = v.boolean(); }},
    {"overlap-param-gather", "",
     [](const ParallelPlan& p) { return written_flag(p.zero_stage == 3 ? p.prefetch > 0 : p.overlap_weight_gather); },
     [](const Value& v, Draft& d) { d.overlaps_gather = v.boolean(); }},
    {"ddp-bucket-size", "", [](const ParallelPlan& p) { return written_if(is_overlapped(p), std::to_string(elements_of_bucket(p))); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) d.bucket_elements = v.count();
     }},
    {"bucket-cap-mb", "", nullptr, read_bucket_of_apex},
    {"bf16", "", [](const ParallelPlan& p) { return written_flag(p.workload.precision.compute() == Precision::Bf16); },
     [](const Value& v, Draft& d) { d.is_bf16 = v.boolean(); }},
    {"fp16", "", [](const ParallelPlan& p) { return written_flag(p.workload.precision.compute() == Precision::Fp16); },
     [](const Value& v, Draft& d) { d.is_fp16 = v.boolean(); }},
    {"precision", "", nullptr, read_precision},
    {"megatron-amp-O2", "", nullptr,  // NeMo 1
     [](const Value& v, Draft&) {
       if (!v.boolean())
         v.lost("is off: weights stay in fp32 beside autocast; the plan's are in 16 bit beside fp32 masters", "mind memory and time");
     }},
    {"fp8-format", "fp8", [](const ParallelPlan& p) { return written_if(is_eight_bits(p), "hybrid"); }, read_scaled_format},
    {"fp8-hybrid", "fp8-e4m3 transformer-engine-fp8", nullptr, read_scaled_format},  // before 2023
    {"fp8-recipe", "",
     [](const ParallelPlan& p) { return is_eight_bits(p) ? Written(sim::at(kScaleNames, *p.workload.precision.scales())) : Written(); },
     read_scale_recipe},
    {"fp8-param-gather", "fp8-param fp4-param-gather fp4-param",
     [](const ParallelPlan& p) { return written_flag(p.workload.precision.gathers_scaled()); },
     [](const Value& v, Draft& d) { d.gathers_scaled = v.boolean(); }},
    {"first-last-layers-bf16", "", [](const ParallelPlan& p) { return written_flag(!p.workload.precision.unscaled_blocks().empty()); },
     [](const Value& v, Draft& d) { d.leaves_ends_unscaled = v.boolean(); }},
    {"num-layers-at-start-in-bf16", "", [](const ParallelPlan& p) { return unscaled_at(p, &BlockEnds::first); },
     [](const Value& v, Draft& d) { d.unscaled_first = std::max<std::int64_t>(0, v.integer()); }},
    {"num-layers-at-end-in-bf16", "", [](const ParallelPlan& p) { return unscaled_at(p, &BlockEnds::last); },
     [](const Value& v, Draft& d) { d.unscaled_last = std::max<std::int64_t>(0, v.integer()); }},
    {"fp32-residual-connection", "", [](const ParallelPlan& p) { return written_flag(p.workload.precision.of(WideKind::Stream).has_value()); },
     read_wide_stream},
    {"moe-router-dtype", "", written_type_of_routers, read_type_of_routers},
    {"fp4-format", "fp4", [](const ParallelPlan& p) { return written_if(is_four_bits(p), "e2m1"); }, read_four_bits},
    {"fp4-recipe", "", [](const ParallelPlan& p) { return written_if(is_four_bits(p), "nvfp4"); },
     [](const Value& v, Draft&) {
       if (v.text() != "nvfp4") v.lost(fmt::format("is {}: a plan knows nvfp4, and takes it", v.text()), "mind time and memory");
     }},
    {"accumulate-allreduce-grads-in-fp32", "", [](const ParallelPlan& p) { return written_flag(reduces_in_fp32(p)); },
     [](const Value& v, Draft& d) { d.fp32_gradients = v.boolean(); }},
    {"grad-reduce-in-bf16", "",
     [](const ParallelPlan& p) { return written_flag(p.workload.precision.compute() == Precision::Bf16 && !reduces_in_fp32(p)); },
     [](const Value& v, Draft& d) { d.fp32_gradients = !v.boolean(); }},
    {"main-grads-dtype", "", nullptr, read_type_of_gradients},
    {"tuner-type", "train-type sft-type", nullptr, only_said},  // ms-swift: adapters
    {"lora-rank", "lora-r", nullptr, number_said},
    {"lora-alpha", "", nullptr, number_said},
    {"lora-dropout", "", nullptr, number_said},
    {"target-modules", "lora-target-modules", nullptr, only_said},
    {"main-params-dtype", "", nullptr, read_type_of_masters},
    {"DDP-impl", "", nullptr, read_old_data_parallel},
    {"optimizer-selection", "", nullptr, read_kernel_of_optimizer},
    {"muon-num-ns-steps", "", nullptr, read_steps_of_muon},
    {"muon-tp-mode", "", nullptr, read_parts_of_muon},
    {"exp-avg-dtype", "", nullptr, only_said},
    {"exp-avg-sq-dtype", "", nullptr, only_said},
    {"recompute-granularity", "activations-checkpoint-granularity",
     [](const ParallelPlan& p) { return written_if(p.recompute != Recompute::None, std::string(sim::at(kRecomputeNames, p.recompute))); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text())) read_granularity(v, d);
     }},
    {"recompute-activations", "", nullptr,
     [](const Value& v, Draft& d) {
       if (v.boolean()) d.plan.recompute = Recompute::Selective;
     }},
    {"checkpoint-activations", "", nullptr, read_old_recompute},
    {"checkpoint-in-cpu", "", nullptr, put_flag<&ParallelPlan::offload_activations>},  // Megatron-DeepSpeed: inputs of recomputed blocks
    {"fine-grained-activation-offloading", "", [](const ParallelPlan& p) { return written_flag(!p.offload_modules.none() && !sends_blocks(p)); }, flag_said},
    {"offload-modules", "",
     [](const ParallelPlan& p) {
       return written_if(!p.offload_modules.none() && !sends_blocks(p), fmt::format("{}", fmt::join(names_of(p.offload_modules), " ")));
     },
     read_offloaded_modules},
    {"min-offloaded-tensor-size", "", least_on_host, read_least_on_host},
    {"cpu-offloading", "", [](const ParallelPlan& p) { return written_flag(sends_blocks(p)); }, flag_said},
    {"cpu-offloading-num-layers", "", [](const ParallelPlan& p) { return written_if(sends_blocks(p), std::to_string(p.offload_blocks)); },
     [](const Value& v, Draft&) { static_cast<void>(v.integer()); }},
    {"cpu-offloading-activations", "", nullptr, flag_said},
    {"recompute-modules", "", [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Selective, recomputed_modules(p)); },
     read_recomputed_modules},
    {"recompute-method", "activations-checkpoint-method",
     [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Full, p.recompute_scope.first > 0 ? "block" : "uniform"); },
     read_recompute_method},
    {"recompute-num-layers", "checkpoint-num-layers activations-checkpoint-num-layers",
     [](const ParallelPlan& p) { return written_if(p.recompute == Recompute::Full, std::to_string(std::max(p.recompute_scope.together, p.recompute_scope.first))); },
     [](const Value& v, Draft& d) {
       if (is_on(v.text()) || v.text() == "0") read_recomputed_layers(v, d);
     }},
    {"recompute-num-layers-per-stage", "", nullptr, runs_said},
    {"recompute-method-per-stage", "", nullptr, runs_said},
    {"custom-recompute-layers-per-stage", "", nullptr, runs_said},
    {"activations-checkpoint-layers-per-pipeline", "", nullptr, runs_said},
    {"optimizer-cpu-offload", "cpu-optimizer", flag_of<&ParallelPlan::offload_optimizer>, put_flag<&ParallelPlan::offload_optimizer>},
    {"optimizer-offload-fraction", "",
     [](const ParallelPlan& p) { return written_if(p.offload_optimizer, fmt::format("{}", p.offload_share)); },
     [](const Value& v, Draft& d) {
       const double share = v.number();
       if (d.plan.offload_optimizer) d.plan.offload_optimizer = share > 0, d.plan.offload_share = share > 0 ? share : 1;
     }},
    {"use-precision-aware-optimizer", "", [](const ParallelPlan& p) { return written_flag(p.offload_optimizer); },
     flag_said},  // the offload asks for it
    {"optimizer", "", [](const ParallelPlan& p) { return Written(p.workload.optimizer == OptimizerKind::Sgd ? "sgd" : "adam"); },
     read_optimizer},
    {"lr", "learning-rate", training_number<&TrainingSettings::learning_rate>, read_training_number<&TrainingSettings::learning_rate>},
    {"min-lr", "", training_number<&TrainingSettings::minimum_learning_rate>,
     read_training_number<&TrainingSettings::minimum_learning_rate>},
    {"lr-decay-style", "lr-scheduler-type",
     [](const ParallelPlan& p) { return Written(p.training.decay_steps > 0 ? "cosine" : "constant"); }, only_said},
    {"lr-warmup-iters", "", [](const ParallelPlan& p) { return written(p.training.warmup_steps); },
     [](const Value& v, Draft& d) { d.plan.training.warmup_steps = std::max<std::int64_t>(0, v.integer()); }},
    {"lr-decay-iters", "",
     [](const ParallelPlan& p) { return written_if(p.training.decay_steps > 0, std::to_string(p.training.decay_steps)); },
     [](const Value& v, Draft& d) {
       const std::int64_t steps = std::max<std::int64_t>(0, v.integer());
       if (text_of(d, "lr-decay-style", "") != "constant") d.plan.training.decay_steps = steps;
     }},
    {"weight-decay", "", training_number<&TrainingSettings::weight_decay>, read_training_number<&TrainingSettings::weight_decay>},
    {"adam-beta1", "", training_number<&TrainingSettings::beta1>, [](const Value& v, Draft& d) { d.plan.training.beta1 = v.number(1); }},
    {"adam-beta2", "", training_number<&TrainingSettings::beta2>, [](const Value& v, Draft& d) { d.plan.training.beta2 = v.number(1); }},
    {"betas", "", nullptr, read_pair_of_betas},  // NeMo 1
    {"adam-eps", "", training_number<&TrainingSettings::epsilon>, read_training_number<&TrainingSettings::epsilon>},
    {"sgd-momentum", "", training_number<&TrainingSettings::momentum>, read_training_number<&TrainingSettings::momentum>},
    {"clip-grad", "", training_number<&TrainingSettings::gradient_clip>, read_training_number<&TrainingSettings::gradient_clip>},
    {"initial-loss-scale", "", training_number<&TrainingSettings::initial_loss_scale>,
     read_training_number<&TrainingSettings::initial_loss_scale>},
    {"loss-scale-window", "", training_number<&TrainingSettings::loss_scale_window>,
     read_training_number<&TrainingSettings::loss_scale_window>},
    {"seed", "", training_number<&TrainingSettings::seed>,
     [](const Value& v,
        Draft& d) { d.plan.training.seed = static_cast<std::uint64_t>(std::clamp<std::int64_t>(v.integer(), 0, kLargestSeed)); }},
    {"deepspeed-config", "", nullptr, read_deepspeed_document},
    {"gradient-accumulation-steps", "gas", nullptr, [](const Value& v, Draft& d) { d.accumulation_steps = v.count(); }},
    {"stage", "finetuning-type", nullptr, refuse_other_steps},  // LLaMA-Factory
    {"use-sharp", "", [](const ParallelPlan& p) { return written_flag(p.cluster.hardware.inter_node.switch_sums); }, read_sharp},
    {"nnodes", "num_nodes num-nodes", nullptr, number_said},
    {"nproc-per-node", "num-gpus-per-node num_gpus num-gpus local-worker-num local_worker_num", nullptr, number_said},
    {"worker-num", "worker_num", nullptr, [](const Value& v, Draft& d) { d.processes = v.count(); }},  // msrun's: of all nodes
    {"include", "", nullptr, only_said},  // of deepspeed
};

}  // namespace

std::span<const Field> megatron_fields() {
  static const std::vector<Field> all = [] {  // asked for by tables of other programs, before main
    const std::span<const Field> network = megatron_network_fields();
    std::vector<Field> rows(network.begin(), network.end());
    rows.insert(rows.end(), std::begin(kFields), std::end(kFields));
    return rows;
  }();
  return all;
}

// TransformerConfig has those of its ends, and of 8 bit no more than a stage has.
void judge_unscaled_blocks(const ParallelPlan& plan, Judgement& judgement) {
  const BlockRanges& blocks = plan.workload.precision.unscaled_blocks();
  const std::int64_t of_stage = plan.model.layers / plan.mesh.pipeline;
  const std::optional<BlockEnds> ends = ends_in(blocks, plan.model.layers);
  judgement.refuse(!ends || std::max(ends->first, ends->last) > of_stage, "/workload/precision",
                   fmt::format("blocks {} are without scales; there such are at the two ends, at most {} each", to_text(blocks), of_stage),
                   fmt::format("plan with blocks:0,{}", plan.model.layers - 1));
}

}  // namespace sim
