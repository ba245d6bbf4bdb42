// The plan: what is trained, on what, and how it is cut. The plan file ("format": "meshwright.plan/1") is its only other form.
// Made by the planner, lowered by task_graph, performed by the executor. Complete in itself: model and cluster are inside.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/model/expert_loads.h"
#include "sim/model/model_config.h"
#include "sim/model/model_graph.h"
#include "sim/plan/device_mesh.h"
#include "sim/plan/graph_scope.h"
#include "sim/plan/precision_policy.h"
#include "sim/plan/recompute_scope.h"
#include "sim/plan/samples_policy.h"
#include "sim/schedule/order_table.h"
#include "sim/schedule/schedule.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace sim {

enum class Recompute : std::uint8_t { None, Selective, Full };  // Selective: attention's scores only; a fused kernel keeps none in any case
inline constexpr std::string_view kRecomputeNames[] = {"none", "selective", "full"};
// When gradients of several microbatches meet those of other ranks. ReduceEach: ranks first, microbatches second.
enum class Accumulation : std::uint8_t { ReduceLast, ReduceEach };
inline constexpr std::string_view kAccumulationNames[] = {"reduce_last", "reduce_each"};
// Stage 1: each rank gets the sum of its shard, or the whole sum, of which it keeps its shard (DeepSpeed before 0.3.14, nanotron).
enum class GradientSync : std::uint8_t { Scatter, AllReduce };
inline constexpr std::string_view kGradientSyncNames[] = {"reduce_scatter", "all_reduce"};
// What a data rank holds of states that are shared (stages 1 and 2): an even slice of each bucket, or whole tensors, each dealt to the rank that has
// least so far, in the model's order (FairScale's OSS; Megatron-Core's layer-wise optimizer). Muon steps whole matrices: with it they are always dealt.
enum class StateShards : std::uint8_t { Slices, Tensors };
inline constexpr std::string_view kStateShardsNames[] = {"slices", "tensors"};
// Whole tensors: stepped weights come to all by a gather of unequal parts, or each owner sends its own, in 16 bit if so said: then all, the
// owner too, go on with what was sent (OSS: broadcast_fp16).
enum class WeightSync : std::uint8_t { AllGather, Broadcast, BroadcastFp16, BroadcastBf16 };
inline constexpr std::string_view kWeightSyncNames[] = {"all_gather", "broadcast", "broadcast_fp16", "broadcast_bf16"};
// Kernels that are issued at once: a block's, or a whole step's. The host then takes a part of the time that it takes for each.
enum class CudaGraphs : std::uint8_t { None, PerLayer, FullIteration };
inline constexpr std::string_view kCudaGraphsNames[] = {"none", "per_layer", "full_iteration"};
// fp16: how the factor of the loss follows overflows. PyTorch's GradScaler halves at each; DeepSpeed's forgives the first of a window.
enum class LossScaleRule : std::uint8_t { PyTorch, DeepSpeed };
inline constexpr std::string_view kLossScaleRuleNames[] = {"pytorch", "deepspeed"};
// How attention meets the keys and values of other context ranks. Ring: they go round, a block beside each step (Liu et al. 2023). AllGather: all of
// them at once (Llama 3). AllToAll: heads are exchanged for tokens and back (DeepSpeed-Ulysses, Jacobs et al. 2023). Hierarchical: heads among
// mesh.context_inner neighbours, whose tokens together then go round the ring of all such neighbourhoods (USP, Fang and Zhao 2024). All but
// AllToAll deal tokens out in 2 C pieces, the i-th with the i-th last, so that a causal mask leaves each rank the same work.
enum class ContextAlgorithm : std::uint8_t { Ring, AllGather, AllToAll, Hierarchical };
inline constexpr std::string_view kContextAlgorithmNames[] = {"ring", "all_gather", "all_to_all", "hierarchical"};
// Steps the weights before the gradients' norm, or an infinity among them, is known of all stages: it is looked at in the next step, and a step that
// was wrong is undone (Qi et al. 2024). InPlace: by its arithmetic, backwards. Copies: from copies of what it changed.
enum class PostValidation : std::uint8_t { None, InPlace, Copies };
inline constexpr std::string_view kPostValidationNames[] = {"none", "in_place", "copies"};
enum class OnDrive : std::uint8_t { None, Optimizer, Weights, Both };  // of what lies on the host: bits
inline constexpr std::string_view kOnDriveNames[] = {"none", "optimizer", "weights", "both"};
// How long mesh.reshard neighbours keep weights among them. Backward: from each forward to its backward, as FSDP2's integer reshard_after_forward has it.
// Step: a second copy, made when a unit is freed for the first time in a step, that every later gather reads, in forward, too; it goes with the step (ZeRO++'s hpZ, Wang et al. 2023).
enum class KeptUntil : std::uint8_t { Backward, Step };
inline constexpr std::string_view kKeptUntilNames[] = {"backward", "step"};
// Stage 3, of weights that a backward has on its rank whole: whether they go with the backward of each microbatch, or stay to that of the step's last, so
// that they are gathered once a step (FSDP2: set_reshard_after_backward). AsTheProgram: FSDP 2 on one stage gives them up with each, all else with the last.
enum class ReshardAfterBackward : std::uint8_t { AsTheProgram, Each, Last };
inline constexpr std::string_view kReshardAfterBackwardNames[] = {"as_the_program", "each", "last"};
// Which kernel attends. AsTheProgram: the software profile's. The others are those of AttentionKernel.
enum class AttentionWord : std::uint8_t { AsTheProgram, Unfused, FusedSoftmax, EfficientMasked, Efficient, Flash1, Flash2, Flash3, Cudnn };
inline constexpr std::string_view kAttentionWords[] = {
    "as_the_program", "unfused", "fused_softmax", "efficient_masked", "efficient", "flash1", "flash2", "flash3", "cudnn"};
// How tokens reach experts of other ranks. AllToAll: a copy for each expert. Hierarchical: a token crosses to a node once (DeepEP, HybridEP), at the
// rate that the software profile's program gets there. AllGather: every rank has all tokens, and takes the rows of its own experts.
enum class TokenDispatcher : std::uint8_t { AsTheProgram, AllToAll, Hierarchical, AllGather };
inline constexpr std::string_view kTokenDispatcherNames[] = {"as_the_program", "all_to_all", "hierarchical", "all_gather"};
// How tensor ranks exchange what a product reads or makes. Apart: in front of it, or behind. AlongProducts: piece by piece beside it (Wang et al. 2023), as
// Megatron's --tp-comm-overlap and torchtitan's enable_async_tensor_parallel do with shared sequences. BesideWeights: apart, but what a backward exchanges of
// an input's gradient goes beside the gradients of weights, as Megatron's asynchronous all-reduce has it.
enum class TensorOverlap : std::uint8_t { AsTheProgram, Apart, AlongProducts, BesideWeights };
inline constexpr std::string_view kTensorOverlapNames[] = {"as_the_program", "apart", "along_products", "beside_weights"};
// Sgd with momentum, RMSProp with momentum. Lamb (You et al. 2020) is Adam, Lars (You et al. 2017) is SGD, each layer's step in proportion to its norm.
// Muon (Jordan et al. 2024) makes the momentum of a block's matrix orthogonal; ends, norms and biases are AdamW's. Stage 1 deals whole matrices out.
// AdamW8bit (Dettmers et al. 2022) keeps its moments in 8 bit with a scale a block. Adafactor (Shazeer and Stern 2018) keeps no mean, and of a
// matrix's squares the means of its rows and columns.
enum class OptimizerKind : std::uint8_t { AdamW, Sgd, Lamb, Lars, RmsProp, Muon, AdamW8bit, Adafactor };
inline constexpr std::string_view kOptimizerNames[] = {"adamw", "sgd", "lamb", "lars", "rmsprop", "muon", "adamw_8bit", "adafactor"};
constexpr std::int64_t moments_of(
    OptimizerKind optimizer) {  // numbers that it keeps of each parameter; of a block's matrix Muon one less, Adafactor none
  const bool keeps_one = optimizer == OptimizerKind::Sgd || optimizer == OptimizerKind::Lars || optimizer == OptimizerKind::Adafactor;
  return keeps_one ? 1 : 2;
}
inline std::int64_t moments_of(OptimizerKind optimizer, const SoftwareStack& program) {  // as that program writes it
  const bool has_momentum = optimizer == OptimizerKind::Sgd || optimizer == OptimizerKind::RmsProp;
  return moments_of(optimizer) - (program.plain_optimizer && has_momentum ? 1 : 0);
}

// Most that a plan file may say.
inline constexpr std::int64_t kMostSamples = 1'000'000'000, kMostTokens = 1'000'000'000, kMostVocabularyMultiple = 1'000'000;
inline constexpr std::int64_t kMostSteps = 1'000'000'000'000'000, kLargestSeed = kMostSteps;
inline constexpr std::int32_t kMostPrefetched = 3;         // units: beyond it more memory, and no time
inline constexpr std::int64_t kMostMicrobatches = 16'384;  // a step: beyond it a plan is a slip of the pen, and orders of gigabytes

struct Workload {
  std::int64_t sequence = 1;      // tokens a sample
  std::int64_t global_batch = 1;  // samples a step
  SamplesPolicy samples{};        // documents in them
  ExpertLoads expert_loads{};     // how they meet experts
  PrecisionPolicy precision{};
  OptimizerKind optimizer = OptimizerKind::AdamW;
};

// One entry a virtual stage in model order (ChunkPlacement says whose chunk each is). `first` .. next entry's first - 1.
struct StageCut {
  std::vector<LayerIndex> first;  // size p * v; first[0] = 0 (embedding); the last virtual stage ends with the head
};
struct LayerRange {
  LayerIndex begin, end;
};  // half open

// Settings of the training that change neither cost nor graph; outside the predictions' hash.
struct TrainingSettings {
  double learning_rate = 3e-4, minimum_learning_rate = 3e-5;
  std::int64_t warmup_steps = 0, decay_steps = 0;  // cosine from learning_rate to the minimum; 0: constant
  double beta1 = 0.9, beta2 = 0.95, epsilon = 1e-8, weight_decay = 0.1, momentum = 0.9;
  double gradient_clip = 1.0;  // 0: none
  std::uint64_t seed = 1;
  LossScaleRule loss_scale_rule = LossScaleRule::PyTorch;  // fp16 alone
  double initial_loss_scale = 65536;
  std::int64_t loss_scale_window = 2000;  // steps without an overflow before it doubles
  std::int64_t checkpoint_interval = 0;   // steps; 0: at the end only
  std::int64_t keep_last = 2;
  bool operator==(const TrainingSettings&) const = default;
};

struct Predictions {
  Seconds step_time{};
  Bytes peak_memory{};
  std::string hash;  // plan_hash() of what they were made from
};

struct ParallelPlan {
  ModelConfig model;
  Cluster cluster;
  Workload workload;
  DeviceMesh mesh;
  ContextAlgorithm context_algorithm = ContextAlgorithm::Ring;  // of mesh.context > 1
  bool context_by_document =
      false;  // as few context ranks as have room share a document, and documents are balanced over all (context_balance.h)
  std::int64_t vocabulary_multiple = 128;
  std::string schedule = "1f1b";  // a row of all_schedules(), or "csv": as written_order says
  std::optional<OrderTable> written_order;
  std::int32_t chunks = 1;            // v
  std::int32_t passes = 1;            // of the pipeline a step: each has as many microbatches, fills and drains it
  std::int32_t microbatch_group = 0;  // interleaved: microbatches that pass a stage together; 0: as few as fill the pipeline, evenly
  StageCut cut;
  std::int64_t microbatch_size = 1;   // samples
  std::int32_t slices = 1;            // of each sample, as long as each other, that pass the pipeline one behind the other (TeraPipe)
  std::int32_t zero_stage = 0;        // 0 (DDP), 1, 2, 3
  bool reshard_after_forward = true;  // stage 3: gather again before backward
  ReshardAfterBackward reshard_after_backward = ReshardAfterBackward::AsTheProgram;
  KeptUntil kept_until = KeptUntil::Backward;
  std::int32_t prefetch = 1;  // stage 3: so many units behind the one that computes are gathered meanwhile; prefetch + 1 are held
  // Stage 3: parameters of at most so many elements stay whole on every rank from step to step; their gradients and states are shared as all are
  // (DeepSpeed's stage3_param_persistence_threshold). 0: none
  std::int64_t persistence_threshold = 0;
  std::int32_t layers_per_unit = 1;  // stage 3: consecutive blocks that are gathered, freed and reduced together (FSDP's unit; see unit_of)
  Bytes bucket_size{25 << 20};       // of gradients, stages 0-2
  Bytes first_bucket_size{};  // of the one that is ready first, so that its sum begins early (PyTorch's DDP: 1 MiB); 0: as the others
  Accumulation accumulation = Accumulation::ReduceLast;
  GradientSync gradient_sync = GradientSync::Scatter;
  StateShards state_shards = StateShards::Slices;
  WeightSync weight_sync = WeightSync::AllGather;
  CudaGraphs cuda_graphs = CudaGraphs::None;
  GraphScope graph_scope{};  // of graphs of layers
  TokenDispatcher token_dispatcher = TokenDispatcher::AsTheProgram;
  AttentionWord attention = AttentionWord::AsTheProgram;
  TensorOverlap tensor_overlap = TensorOverlap::AsTheProgram;
  bool overlap_weight_gather =
      false;  // stages 1 and 2: new weights are gathered beside the next forward, which waits for those that it reads
  PostValidation post_validation = PostValidation::None;
  // Gradients are summed in parts of that size, those of the first layers first, and the next forward waits for what it reads (ByteScheduler,
  // Peng et al. 2019). A part is sent while fewer bytes than the credit are under way. 0: bucket by bucket, as they come.
  Bytes partition_size{}, credit_size{};
  // What is reduced together is stepped as soon as its gradients are complete, beside the backward of the layers below, and they are given up then
  // (torch/distributed/optim/apply_optimizer_in_backward.py; LOMO, Lv et al. 2023).
  bool optimizer_in_backward = false;
  // Moments lie in managed memory, beside what the allocator has; those that a device has no room for come from the host when it steps, and go
  // back (bitsandbytes' paged optimizers; Dettmers et al. 2023).
  bool paged_optimizer = false;
  bool expert_overlap = false;  // a backward runs together with the forward behind it: one exchanges tokens while the other computes
  bool delay_wgrad = false;     // with it: gradients of weights run behind those of inputs, while tokens are exchanged
  bool sequence_parallel = false;
  bool direct_source = false;    // of an encoder, to each stage that reads it, not along through those between (source_edges.h)
  bool sync_batch_norm = false;  // batch norms by statistics of all data ranks' samples, not of each rank's own (SyncBatchNorm)
  Recompute recompute = Recompute::None;
  RecomputeScope recompute_scope{};
  bool offload_optimizer = false;  // states on the host, which steps them (ZeRO-Offload, Ren et al. 2021)
  double offload_share = 1;        // of them; the device steps the rest at the same time (ZeRO-Offload++)
  // stage 3: shards of weights and gradients wait there, too, and come to the device unit by unit (ZeRO-Infinity, Rajbhandari et al. 2021)
  bool offload_parameters = false;
  OnDrive on_drive = OnDrive::None;  // of both, lies on drives and passes through the host's memory (ZeRO-Infinity)
  bool offload_activations =
      false;  // inputs of recomputed blocks wait on the host for their backward (FairScale's checkpoint_wrapper, offload_to_cpu)
  // Of blocks that are not recomputed as a whole, the inputs of these do (Megatron-Core's fine-grained offloading): tensors of so many elements or more.
  Modules offload_modules{};
  std::int64_t offload_least = 1 << 20;
  std::int32_t offload_blocks = 0;  // so many, the first of each chunk; 0: all (Megatron-Core's cpu_offloading_num_layers)
  // Of so many microbatches the gradients of the head's weights wait until the stage has gone backward through all (Megatron-Core's
  // defer_embedding_wgrad_compute and wgrad_deferral_limit)
  std::int32_t delay_head_wgrad = 0;
  TrainingSettings training;
  std::optional<Predictions> predictions;

  std::int64_t num_microbatches() const;  // m = global_batch / (D * microbatch_size)
  std::int64_t num_pieces() const { return num_microbatches() * slices; }
  // Where an action's, or a task's, stands among all pieces of a step: by microbatch, then by slice.
  std::size_t piece_of(const auto& work) const {
    return count_of(std::int64_t{work.microbatch.value()} * slices + (work.slice.exists() ? work.slice.value() : 0));
  }
  PipelineShape pipeline_shape() const;
  PipelineShape pass_shape() const;                        // of one pass of the pipeline
  std::int32_t percent_waiting() const;                    // of PipelineShape::waiting
  std::vector<StageAction> order(StageIndex stage) const;  // of the schedule; with delay_wgrad weights behind each backward
  OrderTable order_table() const;                          // of all stages, as a CSV holds it: the schedule's own
  void take_order(OrderTable table);                       // schedule "csv"; cut evenly where the chunks are others. violations() judges it
  bool splits_backward() const;
  bool order_splits_backward() const;      // of itself, as zero-bubble orders do
  ActionKind completes_gradients() const;  // what ends with the gradients of the weights: Weight where backwards are split
  ChunkPlacement placement() const;
  // Context ranks among which heads are dealt, and the parts of a sample whose keys and values meet block by block: their product is C.
  std::int32_t head_ranks() const;
  std::int32_t block_ranks() const { return mesh.context / head_ranks(); }
  std::int32_t num_virtual_stages() const { return mesh.pipeline * chunks; }
  std::int32_t virtual_stage(ChunkSite site) const;    // its place in the model's order
  std::int32_t virtual_stage(LayerIndex layer) const;  // that has it
  ChunkSite site(std::int32_t virtual_stage) const;
  ShardShape shard_shape() const;                                       // of what an action works on: a microbatch, or a slice of it
  bool recomputes(LayerIndex layer, MicrobatchIndex microbatch) const;  // as a whole: a block keeps its input alone, or not even that:
  bool makes_input_again(LayerIndex layer, MicrobatchIndex microbatch) const;  // blocks before it are computed again together with it
  bool recomputes_scores() const { return recompute == Recompute::Selective && recompute_scope.modules.none(); }
  Modules recomputed_modules() const { return recompute == Recompute::Selective ? recompute_scope.modules : Modules(); }
  bool sends_modules(LayerIndex layer) const;                                            // to the host
  bool keeps_on_host() const { return offload_activations || !offload_modules.none(); }  // what backward reads
  bool delays_weights(LayerIndex layer) const { return delay_head_wgrad > 0 && layer == head(); }
  bool delays_weights(LayerIndex layer, MicrobatchIndex microbatch) const {
    return delays_weights(layer) && microbatch.exists() && microbatch.value() < delay_head_wgrad;
  }
  bool shares_statistics() const { return sync_batch_norm && mesh.data > 1; }
  bool sends_tokens() const {
    return mesh.moves_tokens() && token_dispatcher != TokenDispatcher::AllGather;
  }  // rows of experts cross links
  bool gathers_tokens() const { return token_dispatcher == TokenDispatcher::AllGather && mesh.moves_tokens(); }
  bool sends_along_products() const {  // which needs shared sequences
    if (tensor_overlap == TensorOverlap::AsTheProgram)
      return sequence_parallel && cluster.software.overlap_tensor && cluster.software.overlaps_pieces;
    return tensor_overlap == TensorOverlap::AlongProducts;
  }
  bool exchanges_beside_weights() const {
    const bool asks = tensor_overlap == TensorOverlap::BesideWeights || cluster.software.overlap_input_gradient;
    return asks && !splits_backward();  // those put weight gradients off further
  }
  bool sums_by_priority() const { return partition_size > Bytes(0); }
  bool has_on_drive(OnDrive what) const { return (static_cast<int>(on_drive) & static_cast<int>(what)) != 0; }
  bool crosses_steps() const { return overlap_weight_gather || crosses_norm(); }  // a step begins before the one before has ended
  bool crosses_norm() const { return post_validation != PostValidation::None || sums_by_priority(); }  // before its norm is known
  Bytes bytes(Numbers what) const { return workload.precision.bytes(what); }                           // of an element
  // Of a unit's numbers inside it, and of the bucket that it completes: what it reads and hands on are cast at its ends.
  bool is_full(LayerIndex layer) const { return workload.precision.is_full_layer(layer, model.layers); }
  bool is_unscaled(LayerIndex layer) const {
    return has(workload.precision.unscaled_blocks(), layer.value() - 1);
  }                                                                                       // beside blocks with scales
  bool is_apart(LayerIndex layer) const { return is_full(layer) || is_unscaled(layer); }  // in a precision of its own
  // What goes from one full unit to the next is in full precision, too: there nothing is cast.
  bool reads_full(LayerIndex layer) const { return layer.value() > 0 && is_full(layer) && is_full(LayerIndex(layer.value() - 1)); }
  Bytes bytes_into(LayerIndex layer) const {  // of its input
    return reads_full(layer) ? bytes_per_element(Precision::Fp32) : layer.value() > 0 ? bytes_of_stream() : bytes(Numbers::Activations);
  }
  Bytes bytes_of_stream() const {  // as blocks in no precision of their own hand it on
    const PrecisionPolicy& policy = workload.precision;
    return bytes_per_element(policy.of(WideKind::Stream).value_or(policy.of(Numbers::Activations)));
  }
  Bytes bytes_of_norms() const {  // of their weights, and of what they put out
    const PrecisionPolicy& policy = workload.precision;
    return bytes_per_element(policy.of(WideKind::Norms).value_or(policy.of(Numbers::Weights)));
  }
  PrecisionPolicy precision_of(LayerIndex layer) const { return is_full(layer) ? PrecisionPolicy(Precision::Fp32) : workload.precision; }
  Bytes bytes(Numbers what, LayerIndex layer) const { return is_full(layer) ? bytes_per_element(Precision::Fp32) : bytes(what); }
  LayerIndex head() const { return LayerIndex(static_cast<std::int32_t>(model.inner_layers()) + 1); }
  // That predicts further tokens, if the network does: the head, or the layer in front of it.
  LayerIndex predicting() const { return LayerIndex(head().value() - (model.predicts_apart() ? 1 : 0)); }
  LayerRange layers(StageIndex stage, ChunkIndex chunk) const;
  LayerRange part_of(LayerIndex layer) const;  // of the cut, that holds it
  bool owns(StageIndex stage, LayerIndex layer) const;
  // Streams that a layer reads: a head behind predictions that stand apart those of all depths, side by side.
  std::int64_t streams_into(LayerIndex reader) const { return model.predicts_apart() && reader == head() ? 1 + model.mtp_layers : 1; }
  Bytes message_into(LayerIndex reader) const;  // that goes from stage to stage, of this rank and an action
  // The embedding's table may have a second reader: a tied head, or what predicts further tokens (which is its layer then: check_predictions). On the
  // embedding's stage it reads the table itself, on another a copy of it, which stands behind its own parameters.
  bool shares_embedding() const { return model.tied_embeddings || model.mtp_layers > 0; }
  LayerIndex embedding_reader() const { return predicting(); }
  StageIndex reader_stage() const;
  bool ties_across_stages() const { return shares_embedding() && reader_stage() != StageIndex(0); }
  bool reads_embedding(LayerIndex layer) const { return layer == embedding_reader() && shares_embedding() && !ties_across_stages(); }
  bool holds_copy(LayerIndex layer) const { return layer == embedding_reader() && ties_across_stages(); }
  std::vector<Rank> group(Rank member, MeshAxis axis) const { return mesh.group(member, axis, reader_stage()); }
};

// The plan's own word, or what a program with those habits takes.
AttentionKernel attention_kernel(const ParallelPlan& plan, const SoftwareStack& habits);
std::vector<Violation> attention_violations(const ParallelPlan& plan);  // of that word alone
std::vector<Violation> residency_violations(const ParallelPlan& plan);  // of what waits for a backward: offload_modules, delay_head_wgrad
ModelGraph make_model_graph(const ParallelPlan& plan);
// Blocks in a precision of their own are of kinds of their own.
ModelGraph make_model_graph(const ModelConfig& model, VocabularyMultiple multiple, const PrecisionPolicy& precision);
ParallelPlan in_full_precision(ParallelPlan plan);                          // as its units in full precision see it: all of it in fp32
std::optional<ParallelPlan> plan_of_units_apart(const ParallelPlan& plan);  // as those that are see it; none: nothing is
StageCut even_cut(std::int64_t inner_layers,
                  PipelineShape shape);  // as even as whole layers allow, ends with them while there are enough; parts <= inner_layers + 2

// Every rule a plan must keep, all violations at once (empty: the plan can be lowered). Memory is not judged here.
std::vector<Violation> violations(const ParallelPlan& plan);
// What a person should know of a plan that keeps every rule: a sequence beyond the positions that the network was made for.
std::vector<Violation> notes(const ParallelPlan& plan);
// Fields that the worker cannot perform yet, from one table (kRunnable in runnable.cpp); empty: runnable. Exit code 30.
std::vector<Violation> why_not_runnable(const ParallelPlan& plan);

// Identity of everything that the predictions depend on (all but training and predictions): 16 hex digits.
std::string plan_hash(const ParallelPlan& plan);

// Fields in which two plans differ, "/training/seed: 1 before, 2 now"; predictions and how often is saved left out. A run may go on under
// another layout; what is trained must stay.
struct PlanDifferences {
  std::vector<std::string> training, layout;
};
PlanDifferences differences(const ParallelPlan& before, const ParallelPlan& now);

ParallelPlan load_plan(const std::string& path);  // throws InputError: JSON, fields, then violations()
void save_plan(const ParallelPlan& plan, const std::string& path);
Json to_json(const ParallelPlan& plan);
ParallelPlan plan_from_json(const Json& json, const std::string& file);

}  // namespace sim
