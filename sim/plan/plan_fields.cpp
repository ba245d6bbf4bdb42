#include "sim/plan/plan_fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "sim/plan/field_access.h"
#include "sim/units/number_text.h"
#include "sim/units/unit_text.h"

namespace sim {
namespace {

using Plan = ParallelPlan;
using Mesh = DeviceMesh;
using Settings = TrainingSettings;
using Faults = std::vector<Violation>;
using enum FieldRole;

std::vector<std::string_view> schedule_names() {
  std::vector<std::string_view> names;
  for (const Schedule& schedule : all_schedules()) names.push_back(schedule.name);
  names.push_back(kOrderFromCsv);
  return names;
}

constexpr FieldAccess schedule() {
  FieldAccess access = at<&Plan::schedule>();
  access.names = schedule_names;
  return access;
}

FieldValue get_order(const Plan& plan) { return plan.written_order ? order_rows(*plan.written_order) : std::vector<std::string>(); }
Faults set_order(Plan& plan, const FieldValue& value) {
  Faults faults;
  plan.written_order = parse_order(std::get<std::vector<std::string>>(value), faults);
  return faults;
}

FieldValue get_cut(const Plan& plan) {
  std::vector<std::int64_t> first;
  for (const LayerIndex layer : plan.cut.first) first.push_back(layer.value());
  return first;
}
Faults set_cut(Plan& plan, const FieldValue& value) {
  plan.cut.first.clear();
  for (const std::int64_t layer : std::get<std::vector<std::int64_t>>(value))
    plan.cut.first.push_back(LayerIndex(static_cast<std::int32_t>(std::clamp<std::int64_t>(layer, -1, 1 << 30))));
  return {};
}

FieldValue get_precision(const Plan& plan) { return to_text(plan.workload.precision); }
Faults set_precision(Plan& plan, const FieldValue& value) {
  Faults faults;
  plan.workload.precision = parse_precision_policy(std::get<std::string>(value), faults);
  return faults;
}

Faults set_recompute_scope(Plan& plan, const FieldValue& value) {
  Faults faults;
  plan.recompute_scope = parse_recompute_scope(std::get<std::string>(value), faults);
  return faults;
}

Faults set_offload_modules(Plan& plan, const FieldValue& value) {
  Faults faults;
  plan.offload_modules = parse_modules(std::get<std::string>(value), kSentToHost, faults);
  return faults;
}

Faults set_graph_scope(Plan& plan, const FieldValue& value) {
  const std::string& text = std::get<std::string>(value);
  const std::optional<GraphScope> scope = parse_graph_scope(text);
  if (!scope) return {{"", fmt::format("\"{}\" names nothing that a graph of layers holds", text), "use some of attn,mlp,moe_router"}};
  plan.graph_scope = *scope;
  return {};
}

Faults set_samples(Plan& plan, const FieldValue& value) {
  Faults faults;
  plan.workload.samples = parse_samples_policy(std::get<std::string>(value), faults);
  return faults;
}

Faults set_expert_loads(Plan& plan, const FieldValue& value) {
  Faults faults;
  plan.workload.expert_loads = parse_expert_loads(std::get<std::string>(value), faults);
  return faults;
}

Faults set_frozen(Plan& plan, const FieldValue& value) {
  Faults faults;
  plan.model.frozen = parse_frozen_parts(std::get<std::string>(value), faults);
  return faults;
}

Faults set_adapters(Plan& plan, const FieldValue& value) {
  Faults faults;
  plan.model.adapters = parse_adapters(std::get<std::string>(value), faults);
  return faults;
}

// As a switch beside the precision, which said no more than this.
PrecisionPolicy without_fp32_gradients(const Plan& plan) {
  const PrecisionPolicy policy = plan.workload.precision, usual = policy.as_it_follows();
  return policy == usual.with(Numbers::Gradients, Precision::Fp32) ? usual : policy;
}
FieldValue get_fp32_gradients(const Plan& plan) { return without_fp32_gradients(plan) != plan.workload.precision; }
Faults set_fp32_gradients(Plan& plan, const FieldValue& value) {
  if (std::get<bool>(value)) plan.workload.precision = plan.workload.precision.with(Numbers::Gradients, Precision::Fp32);
  return {};
}
FieldValue hashed_precision(const Plan& plan) { return to_text(without_fp32_gradients(plan)); }

constexpr FieldAccess kPrecision{
    .kind = FieldKind::Text,
    .get = get_precision,
    .set = set_precision,
    .grammar =
        "fp64, fp32, tf32, bf16, fp16, fp8:delayed (or tensorwise, rowwise, mx, blockwise) or fp4:nvfp4, beside "
        "those history=16 (steps of delayed scales) and unscaled=fp32 (the rest), and "
        "behind it what is kept otherwise: gradients=fp32 wire=bf16 moments=bf16; encoded on the wire: "
        "wire=fp8, int8, int4 or powersgd:4, gathers=int8; units in full precision: embedding=fp32 head=fp32 blocks:0-1,30=fp32; without "
        "scales: blocks:0,31=bf16 products:attention,keys,mlp,experts=bf16 (some of them), with them head=fp8; wider than their blocks: "
        "stream=fp32 routers=fp64 norms=fp32"};
constexpr FieldAccess kRecomputeScope{.kind = FieldKind::Text,
                                      .get = [](const Plan& plan) -> FieldValue { return to_text(plan.recompute_scope); },
                                      .set = set_recompute_scope,
                                      .grammar =
                                          "modules moe_act,layernorm; first 4 (blocks of each chunk), every 2, together 4 (blocks that "
                                          "keep one input), but_last (microbatch)"};
constexpr FieldAccess kOffloadModules{.kind = FieldKind::Text,
                                      .get = [](const Plan& plan) -> FieldValue { return to_text(plan.offload_modules); },
                                      .set = set_offload_modules,
                                      .grammar = "core_attn,attn_proj; of attn_norm, qkv_linear, mlp_norm, expert_fc1, moe_act, mlp, too"};
constexpr FieldAccess kGraphScope{.kind = FieldKind::Text,
                                  .get = [](const Plan& plan) -> FieldValue { return to_text(plan.graph_scope); },
                                  .set = set_graph_scope,
                                  .grammar = "attn,mlp,moe_router (some of them)"};
constexpr FieldAccess kAdapters{
    .kind = FieldKind::Text,
    .get = [](const Plan& plan) -> FieldValue { return to_text(plan.model.adapters); },
    .set = set_adapters,
    .grammar = "rank 16 alpha 32 on q,k,v,o (or qkv, gate, up, gate_up, down) base nf4 (or int8, fp8, int4) dropout 0.05"};
constexpr FieldAccess kFrozen{.kind = FieldKind::Text,
                              .get = [](const Plan& plan) -> FieldValue { return to_text(plan.model.frozen); },
                              .set = set_frozen,
                              .grammar = "embedding,head,norms,attention,mlp (some of them), then first 8 (blocks, with the embedding)"};
constexpr FieldAccess kSamples{.kind = FieldKind::Text,
                               .get = [](const Plan& plan) -> FieldValue { return to_text(plan.workload.samples); },
                               .set = set_samples,
                               .grammar =
                                   "packed, fitted or padded; then fixed 512, list 128 512*3 or lognormal mean 800 spread 1.2; then seed "
                                   "7, end 2 (the token behind a document)"};
constexpr FieldAccess kExpertLoads{
    .kind = FieldKind::Text,
    .get = [](const Plan& plan) -> FieldValue { return to_text(plan.workload.expert_loads); },
    .set = set_expert_loads,
    .grammar =
        "even, untrained (as in the first steps), spread 0.6 (standard deviation over mean) or list 310 120*2 275 (tokens of each expert)"};
constexpr FieldAccess kFp32Gradients{.kind = FieldKind::Switch, .get = get_fp32_gradients, .set = set_fp32_gradients};
constexpr FieldAccess kOrder{.kind = FieldKind::Lines, .get = get_order, .set = set_order};
constexpr FieldAccess kCut{.kind = FieldKind::Integers, .get = get_cut, .set = set_cut};
constexpr FieldAccess kMicrobatches{.kind = FieldKind::Integer,
                                    .get = [](const Plan& plan) -> FieldValue { return plan.num_microbatches(); }};

constexpr FieldRange kDegree{1, 1e6}, kShare{0, 1};
constexpr FieldRange kRate{0, 1e6};  // no training survives more
bool always(const Plan&) { return true; }
bool has_context(const Plan& plan) { return plan.mesh.context > 1; }

// clang-format off
constexpr std::array kFields = std::to_array<PlanField>({
    {"sequence", "/workload/sequence", "sequence", "tokens a sample",
     Workload, at<&Plan::workload, &sim::Workload::sequence>(), {1, kMostTokens}, always, true},
    {"global_batch", "/workload/global_batch", "global batch", "samples a step",
     Workload, at<&Plan::workload, &sim::Workload::global_batch>(), {1, kMostSamples}, always, true, false, nullptr, true},
    {"samples", "/workload/samples", "documents", "how long documents are, and how they fill rows of a batch; empty: one fills a row",
     Workload, kSamples},
    {"precision", "/workload/precision", "precision", "what products compute in, and what numbers are kept in",
     Workload, kPrecision, {}, always, false, false, hashed_precision},
    {"optimizer", "/workload/optimizer", "optimizer", "what steps the weights",
     Workload, named<kOptimizerNames, &Plan::workload, &sim::Workload::optimizer>(), {}, always},
    {"adapters", "/workload/adapters", "adapters", "low-rank pairs that are trained beside frozen weights; empty: everything is trained",
     Workload, kAdapters},
    {"frozen", "/workload/frozen", "frozen modules", "of the network that are not trained, beside the rest; empty: everything is trained",
     Workload, kFrozen},
    {"source_tokens", "/workload/source_tokens", "source tokens",
     "of a sample of an encoder-decoder: what the encoder reads, in front of what the decoder predicts; 0: half of them (Megatron: --encoder-seq-length)",
     Workload, at<&Plan::model, &sim::ModelConfig::source_tokens>(), {0, sim::kMostTokens}},
    {"mtp_layers", "/workload/mtp_layers", "MTP layers", "blocks in front of the head that predict further tokens (Megatron: --mtp-num-layers)",
     Workload, at<&Plan::model, &sim::ModelConfig::mtp_layers>(), {0, 16}},
    {"mtp_apart", "/workload/mtp_apart", "MTP apart", "these blocks are a layer of their own in the pipeline's cut, which may stand on another stage than the head (Megatron: m in --pipeline-model-parallel-layout)",
     Layout, at<&Plan::model, &sim::ModelConfig::mtp_apart>()},
    {"fp32_gradients", "/workload/fp32_gradients", "fp32 gradients", "older spelling of precision \"... gradients=fp32\"",
     Workload, kFp32Gradients, {}, nullptr, false, true},
    {"data", "/mesh/data", "data", "ranks with samples of their own",
     Layout, at<&Plan::mesh, &Mesh::data>(), kDegree, always},
    {"pipeline", "/mesh/pipeline", "pipeline", "stages",
     Layout, at<&Plan::mesh, &Mesh::pipeline>(), kDegree, always},
    {"tensor", "/mesh/tensor", "tensor", "ranks that share each layer's products",
     Layout, at<&Plan::mesh, &Mesh::tensor>(), kDegree, always},
    {"replicas", "/mesh/replicas", "replicas", "HSDP: data ranks are so many copies of data / replicas shards",
     Layout, at<&Plan::mesh, &Mesh::replicas>(), kDegree},
    {"expert", "/mesh/expert", "expert", "neighbouring ranks that share the experts of a layer",
     Layout, at<&Plan::mesh, &Mesh::expert>(), kDegree},
    {"expert_tensor", "/mesh/expert_tensor", "expert tensor", "ranks that share an expert's products (Megatron: --expert-tensor-parallel-size); 0: the tensor ranks",
     Layout, at<&Plan::mesh, &Mesh::expert_tensor>(), {0, 1e6}},
    {"reshard_ranks", "/mesh/reshard", "kept among", "stage 3: after forward so many neighbouring ranks keep the weights among them, and backward gathers from those; 1: it gathers all shards again",
     Layout, at<&Plan::mesh, &Mesh::reshard>(), kDegree},
    {"kept_until", "/kept_until", "kept until", "with weights kept among neighbours: until the backward (FSDP2), or as a secondary partition until the step, from which later forwards gather, too (DeepSpeed: zero_hpz_partition_size)",
     Layout, named<kKeptUntilNames, &Plan::kept_until>()},
    {"context", "/mesh/context", "context", "ranks that share the tokens of a sample",
     Layout, at<&Plan::mesh, &Mesh::context>(), kDegree},
    {"context_algorithm", "/context_algorithm", "context algorithm", "how attention meets the keys and values of other context ranks",
     Layout, named<kContextAlgorithmNames, &Plan::context_algorithm>(), {}, has_context},
    {"context_inner", "/mesh/context_inner", "context inner", "hierarchical: so many neighbouring context ranks exchange heads for tokens, and such neighbourhoods pass keys and values round a ring (Megatron: the first of --hierarchical-context-parallel-sizes)",
     Layout, at<&Plan::mesh, &Mesh::context_inner>(), kDegree},
    {"expert_loads", "/workload/expert_loads", "expert loads", "how tokens meet the experts of a layer; empty: as in measured runs with a loss that balances them",
     Layout, kExpertLoads},
    {"context_by_document", "/context_by_document", "context by document", "each document is shared by as few of the context ranks as have room for it, and documents are balanced over all data and context ranks (Megatron: --hybrid-context-parallel)",
     Layout, at<&Plan::context_by_document>()},
    {"vocabulary_multiple", "/vocabulary_multiple", "vocabulary multiple", "the vocabulary is padded up to it",
     Layout, at<&Plan::vocabulary_multiple>(), {1, kMostVocabularyMultiple}, always},
    {"schedule", "/schedule", "schedule", "order of a stage's forwards and backwards",
     Layout, schedule(), {}, always},
    {"order", "/order", "order", "with schedule csv: one row a pipeline stage, cells {virtual stage}{F|I|W|B}{microbatch} as PyTorch's schedule CSV has them",
     Layout, kOrder, {}, [](const Plan& plan) { return plan.written_order.has_value(); }},
    {"chunks", "/chunks", "chunks", "model chunks a stage (v)",
     Layout, at<&Plan::chunks>(), kDegree, always},
    {"passes", "/passes", "passes", "of the pipeline a step: each has as many microbatches, fills the pipeline and drains it (torchtitan: training.global_batch_size above local_batch_size)",
     Layout, at<&Plan::passes>(), {1, kMostMicrobatches}},
    {"microbatch_group", "/microbatch_group", "microbatch group", "interleaved: so many microbatches pass a stage together, chunk by chunk; 0: as few as fill the pipeline, evenly",
     Layout, at<&Plan::microbatch_group>(), {0, kMostMicrobatches}},
    {"cut", "/cut", "stage cut", "first layer of each virtual stage, in model order",
     Layout, kCut, {}, always},
    {"microbatch", "/microbatch_size", "microbatch", "samples",
     Layout, at<&Plan::microbatch_size>(), {1, kMostSamples}, always, true},
    {"slices", "/slices", "slices", "equal pieces of each sample's tokens that pass the pipeline one behind the other, and attend to the keys and values of those before (TeraPipe, Seq1F1B)",
     Layout, at<&Plan::slices>(), kDegree},
    {"microbatches", "/microbatches", "microbatches", "derived: global_batch / (data * microbatch_size)",
     Layout, kMicrobatches, {}, always},
    {"zero", "/zero_stage", "ZeRO stage", "what data ranks share: 1 optimizer states, 2 gradients, 3 weights",
     Layout, at<&Plan::zero_stage>(), {0, 3}, always},
    {"reshard", "/reshard_after_forward", "gather again", "stage 3: weights are gathered again before backward",
     Layout, at<&Plan::reshard_after_forward>(), {}, always},
    {"reshard_after_backward", "/reshard_after_backward", "given up after backward", "stage 3: weights that a backward has whole go with it (each), or stay to that of the step's last microbatch (last: gathered once a step where they stay after forward, too; FSDP2: set_reshard_after_backward)",
     Layout, named<kReshardAfterBackwardNames, &Plan::reshard_after_backward>()},
    {"prefetch", "/prefetch", "prefetch", "stage 3: so many units are gathered ahead while one computes (FSDP2: set_modules_to_forward_prefetch; DeepSpeed: stage3_prefetch_bucket_size); true and false are 1 and 0",
     Layout, at<&Plan::prefetch>(), {0, kMostPrefetched}, always, false, false, nullptr, false, true},
    {"persistence_threshold", "/persistence_threshold", "persistence threshold", "stage 3: parameters of at most so many elements stay whole on every rank (DeepSpeed: stage3_param_persistence_threshold); 0: none",
     Layout, at<&Plan::persistence_threshold>(), {0, 1e15}},
    {"layers_per_unit", "/layers_per_unit", "layers a unit", "stage 3: consecutive blocks of a chunk that are gathered, freed and reduced together",
     Layout, at<&Plan::layers_per_unit>(), kDegree},
    {"bucket_size", "/bucket_size", "bucket size", "of gradients, stages 0 to 2",
     Layout, at<&Plan::bucket_size>(), {}, always},
    {"first_bucket_size", "/first_bucket_size", "first bucket", "of gradients, stages 0 to 2: the one that is ready first (PyTorch's DDP: 1 MiB); 0 B: as the others",
     Layout, at<&Plan::first_bucket_size>()},
    {"accumulation", "/accumulation", "accumulation", "whether microbatches are summed before ranks (reduce_last) or after them (reduce_each)",
     Layout, named<kAccumulationNames, &Plan::accumulation>(), {}, always},
    {"gradient_sync", "/gradient_sync", "gradient sync", "stages 1 and 2: whether a rank gets the sum of its shard (reduce_scatter) or the whole sum (all_reduce)",
     Layout, named<kGradientSyncNames, &Plan::gradient_sync>()},
    {"overlap_weight_gather", "/overlap_weight_gather", "gather beside forward", "stages 1 and 2: new weights are gathered beside the next forward, whose layers wait for their own (Megatron: --overlap-param-gather)",
     Layout, at<&Plan::overlap_weight_gather>()},
    {"post_validation", "/post_validation", "post-validation", "weights are stepped before the norm of all stages' gradients is known; what was wrong is undone in_place, or from copies (zero-bubble: --enable-optimizer-post-validation)",
     Layout, named<kPostValidationNames, &Plan::post_validation>()},
    {"partition_size", "/partition_size", "partition", "gradients are summed in pieces of that size, the first layers' first, across the end of the step (ByteScheduler); 0 B: bucket by bucket",
     Layout, at<&Plan::partition_size>()},
    {"credit_size", "/credit_size", "credit", "with a partition: a piece is sent while fewer bytes than that are under way",
     Layout, at<&Plan::credit_size>()},
    {"optimizer_in_backward", "/optimizer_in_backward", "steps in the backward", "weights of a unit are stepped as soon as its gradients are complete, which are given up then: without clipping, one microbatch a step (torchtune: optimizer_in_bwd)",
     Layout, at<&Plan::optimizer_in_backward>()},
    {"paged_optimizer", "/paged_optimizer", "paged moments", "moments lie in managed memory: where a device is full they go to its host, and come back when they are stepped (bitsandbytes' PagedAdamW; Transformers: optim=paged_adamw_8bit)",
     Layout, at<&Plan::paged_optimizer>()},
    {"state_shards", "/state_shards", "state shards", "stages 1 and 2: a data rank holds an even slice of each bucket (slices), or whole tensors (tensors: FairScale's OSS and ShardedDDP)",
     Layout, named<kStateShardsNames, &Plan::state_shards>()},
    {"weight_sync", "/weight_sync", "weight sync", "whole tensors: stepped weights are gathered, or each owner sends its own, in 16 bit if so said (OSS: broadcast_fp16)",
     Layout, named<kWeightSyncNames, &Plan::weight_sync>()},
    {"cuda_graphs", "/cuda_graphs", "CUDA graphs", "kernels that the host issues at once: of a block, or of a whole step",
     Layout, named<kCudaGraphsNames, &Plan::cuda_graphs>()},
    {"graph_scope", "/graph_scope", "held by graphs", "what graphs of layers hold of each block; empty: all that they can, which experts are not (Megatron: --cuda-graph-scope)",
     Layout, kGraphScope},
    {"token_dispatcher", "/token_dispatcher", "token dispatcher", "how tokens reach experts: a copy for each expert (all_to_all), each node once (hierarchical: DeepEP, HybridEP), or all tokens all ranks (all_gather)",
     Layout, named<kTokenDispatcherNames, &Plan::token_dispatcher>()},
    {"attention", "/attention", "attention", "which kernel attends: one that writes scores out (unfused, fused_softmax), PyTorch's memory-efficient one with a mask handed to it, of which it skips nothing (efficient_masked), or a causal one (efficient), FlashAttention 1 to 3, or cuDNN's (Transformers: attn_implementation; Megatron: --attention-backend)",
     Layout, named<kAttentionWords, &Plan::attention>()},
    {"tensor_overlap", "/tensor_overlap", "tensor exchange beside products", "how tensor ranks exchange what products read and make: in front of them and behind (apart), of a backward beside the gradients of weights (beside_weights), or piece by piece beside products (along_products; Megatron: --tp-comm-overlap, torchtitan: enable_async_tensor_parallel)",
     Layout, named<kTensorOverlapNames, &Plan::tensor_overlap>()},
    {"expert_overlap", "/expert_overlap", "exchange beside compute", "experts' tokens of a backward are exchanged while the forward behind it computes, and the other way round (Megatron: --overlap-moe-expert-parallel-comm)",
     Layout, at<&Plan::expert_overlap>()},
    {"delay_wgrad", "/delay_wgrad", "weights beside exchange", "with experts' exchange beside compute: gradients of weights run behind those of inputs, while tokens are under way (Megatron: --delay-wgrad-compute)",
     Layout, at<&Plan::delay_wgrad>()},
    {"delay_head_wgrad", "/delay_head_wgrad", "weights of the head later", "of so many microbatches gradients of the head's weights wait for the last backward (Megatron: --defer-embedding-wgrad-compute --wgrad-deferral-limit)",
     Layout, at<&Plan::delay_head_wgrad>(), {0, kMostMicrobatches}},
    {"sequence_parallel", "/sequence_parallel", "sequence parallel", "between products tensor ranks share the tokens",
     Layout, at<&Plan::sequence_parallel>(), {}, always},
    {"direct_source", "/direct_source", "source sent straight", "encoder and decoder: what the encoder puts out goes straight to each stage that reads it, and its gradient back, not along through the stages between (torch.distributed.pipelining of a traced network)",
     Layout, at<&Plan::direct_source>()},
    {"sync_batch_norm", "/sync_batch_norm", "batch norms over ranks", "convolutional networks: a batch is normalised by statistics of all data ranks' samples, not of each rank's own (torch.nn.SyncBatchNorm, VISSL)",
     Layout, at<&Plan::sync_batch_norm>()},
    {"recompute", "/recompute", "recompute", "what backward computes again",
     Layout, named<kRecomputeNames, &Plan::recompute>(), {}, always},
    {"recompute_scope", "/recompute_scope", "recomputed", "with selective: which modules of blocks; with full: which blocks, in which microbatches",
     Layout, kRecomputeScope},
    {"offload_optimizer", "/offload_optimizer", "optimizer on the host", "ZeRO-Offload: masters and moments lie on the host, which steps them",
     Layout, at<&Plan::offload_optimizer>()},
    {"offload_share", "/offload_share", "share on the host", "of the optimizer that lies on the host; the device steps the rest beside it (DeepSpeed: offload_optimizer.ratio, Megatron: --optimizer-offload-fraction)",
     Layout, at<&Plan::offload_share>(), {0, 1}},
    {"offload_parameters", "/offload_parameters", "weights on the host", "stage 3 with the optimizer on the host: shards of weights and gradients lie there, too (DeepSpeed: offload_param, FSDP: CPU offload)",
     Layout, at<&Plan::offload_parameters>()},
    {"on_drive", "/on_drive", "on drives", "stage 3: what of that on the host lies on its drives, is read for each use and written behind each step (DeepSpeed: device nvme)",
     Layout, named<kOnDriveNames, &Plan::on_drive>()},
    {"offload_activations", "/offload_activations", "inputs of blocks on the host", "with recompute full: inputs of blocks wait on the host for their backward",
     Layout, at<&Plan::offload_activations>()},
    {"offload_modules", "/offload_modules", "inputs of modules on the host", "of blocks that are not recomputed as a whole: inputs of these modules wait on the host for their backward (Megatron: --fine-grained-activation-offloading --offload-modules)",
     Layout, kOffloadModules},
    {"offload_least", "/offload_least", "least on the host", "of inputs of modules: smaller tensors, in elements, stay on the device (Megatron: --min-offloaded-tensor-size)",
     Layout, at<&Plan::offload_least>(), {0, 1e15}},
    {"offload_blocks", "/offload_blocks", "blocks whose modules wait on the host", "of each chunk the first so many send inputs of modules to the host; 0: all (Megatron: --cpu-offloading-num-layers)",
     Layout, at<&Plan::offload_blocks>(), {0, 1e6}},
    {"learning_rate", "/training/learning_rate", "learning rate", "at its highest",
     Training, at<&Plan::training, &Settings::learning_rate>(), kRate, always, false, false, nullptr, true},
    {"minimum_learning_rate", "/training/minimum_learning_rate", "least learning rate", "after decay_steps",
     Training, at<&Plan::training, &Settings::minimum_learning_rate>(), kRate, always, false, false, nullptr, true},
    {"warmup_steps", "/training/warmup_steps", "warm-up steps", "in which the learning rate rises from 0",
     Training, at<&Plan::training, &Settings::warmup_steps>(), {0, kMostSteps}, always, false, false, nullptr, true},
    {"decay_steps", "/training/decay_steps", "decay steps", "cosine to the minimum; 0: constant",
     Training, at<&Plan::training, &Settings::decay_steps>(), {0, kMostSteps}, always, false, false, nullptr, true},
    {"beta1", "/training/beta1", "beta 1", "AdamW: of the gradient's mean",
     Training, at<&Plan::training, &Settings::beta1>(), kShare, always},
    {"beta2", "/training/beta2", "beta 2", "AdamW: of its square's",
     Training, at<&Plan::training, &Settings::beta2>(), kShare, always},
    {"epsilon", "/training/epsilon", "epsilon", "AdamW: added to the root of the square's mean",
     Training, at<&Plan::training, &Settings::epsilon>(), kRate, always},
    {"weight_decay", "/training/weight_decay", "weight decay", "apart from the gradient",
     Training, at<&Plan::training, &Settings::weight_decay>(), kRate, always, false, false, nullptr, true},
    {"momentum", "/training/momentum", "momentum", "of sgd",
     Training, at<&Plan::training, &Settings::momentum>(), kShare, always},
    {"gradient_clip", "/training/gradient_clip", "gradient clip", "largest norm of all gradients; 0: none",
     Training, at<&Plan::training, &Settings::gradient_clip>(), {}, always, false, false, nullptr, true},
    {"seed", "/training/seed", "seed", "of initial weights, sample order and dropout",
     Training, at<&Plan::training, &Settings::seed>(), {0, kLargestSeed}, always},
    {"checkpoint_interval", "/training/checkpoint_interval", "checkpoint interval", "steps; 0: at the end only",
     Saving, at<&Plan::training, &Settings::checkpoint_interval>(), {0, kMostSteps}, always},
    {"keep_last", "/training/keep_last", "checkpoints kept", "the newest ones",
     Saving, at<&Plan::training, &Settings::keep_last>(), {1, 1e6}, always},
    {"loss_scale_rule", "/training/loss_scale_rule", "loss scale rule", "fp16: how the factor of the loss follows overflows",
     Training, named<kLossScaleRuleNames, &Plan::training, &Settings::loss_scale_rule>(), {}, always},
    {"initial_loss_scale", "/training/initial_loss_scale", "first loss scale", "fp16",
     Training, at<&Plan::training, &Settings::initial_loss_scale>(), {1, 1e300}, always},
    {"loss_scale_window", "/training/loss_scale_window", "loss scale window", "fp16: steps without an overflow before the factor doubles",
     Training, at<&Plan::training, &Settings::loss_scale_window>(), {1, 1e9}, always},
});
// clang-format on

template <class Number>
std::optional<FieldValue> in_range(const PlanField& field, std::optional<Number> number) {
  if (!number || !std::isfinite(static_cast<double>(*number)) || static_cast<double>(*number) < field.range.low ||
      static_cast<double>(*number) > field.range.high)
    return std::nullopt;
  return *number;
}

std::optional<FieldValue> parse_text(const PlanField& field, std::string_view text) {
  if (field.access.names != nullptr)
    if (const auto names = field.access.names(); std::find(names.begin(), names.end(), text) == names.end()) return std::nullopt;
  return std::string(text);
}

std::optional<FieldValue> parse_switch(std::string_view text) {
  if (text != "true" && text != "false") return std::nullopt;
  return text == "true";
}

std::optional<std::int64_t> number_of_switch(std::string_view text) {
  const std::optional<FieldValue> given = parse_switch(text);
  return given ? std::optional<std::int64_t>(std::get<bool>(*given)) : number_in<std::int64_t>(text);
}

std::optional<FieldValue> parse_amount(std::string_view text) {
  const std::optional<Bytes> amount = parse_bytes(text);
  return amount && *amount >= Bytes(0) ? std::optional<FieldValue>(*amount) : std::nullopt;
}

std::string accepted_integers(FieldRange range) {
  constexpr double kFew = 8;
  if (range.high - range.low >= kFew) return fmt::format("a whole number of at least {:.0f}", range.low);
  std::string all;
  for (double number = range.low; number <= range.high; ++number) all += fmt::format("{}{:.0f}", all.empty() ? "" : ", ", number);
  return all;
}

struct ValueText {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(Bytes value) const { return to_exact_text(value); }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  template <class Item>
  std::string operator()(const std::vector<Item>& items) const {
    return fmt::format("{}", fmt::join(items, ","));
  }
};

}  // namespace

std::span<const PlanField> plan_fields() { return kFields; }

const PlanField& plan_field(std::string_view name) {
  const auto* const field = std::find_if(kFields.begin(), kFields.end(), [&](const PlanField& row) { return row.name == name; });
  if (field == kFields.end()) std::abort();  // a name in our own code
  return *field;
}

bool is_at_default(const PlanField& field, const ParallelPlan& plan) {
  static const ParallelPlan defaults;
  return field.access.get(plan) == field.access.get(defaults);
}

bool stands_in_file(const PlanField& field, const ParallelPlan& plan) {
  if (field.is_older_spelling) return false;
  return field.stands != nullptr ? field.stands(plan) : !is_at_default(field, plan);
}

std::string to_text(const FieldValue& value) { return std::visit(ValueText{}, value); }
std::string text_of(const PlanField& field, const ParallelPlan& plan) { return to_text(field.access.get(plan)); }

std::optional<FieldValue> parse_value(const PlanField& field, std::string_view text) {
  switch (field.access.kind) {
    case FieldKind::Integer: return in_range(field, field.was_switch ? number_of_switch(text) : number_in<std::int64_t>(text));
    case FieldKind::Number: return in_range(field, number_in<double>(text));
    case FieldKind::Switch: return parse_switch(text);
    case FieldKind::Text: return parse_text(field, text);
    case FieldKind::Amount: return parse_amount(text);
    case FieldKind::Integers:
    case FieldKind::Lines: break;  // nobody types them
  }
  return std::nullopt;
}

std::string accepted(const PlanField& field) {
  switch (field.access.kind) {
    case FieldKind::Integer: return accepted_integers(field.range);
    case FieldKind::Number: return fmt::format("a number of at least {}", field.range.low);
    case FieldKind::Switch: return "true, false";
    case FieldKind::Amount: return "an amount with its unit, like \"25 MiB\"";
    default:
      return field.access.names == nullptr ? std::string(field.access.grammar) : fmt::format("{}", fmt::join(field.access.names(), ", "));
  }
}

}  // namespace sim
