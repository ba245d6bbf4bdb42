// What a training program does beside arithmetic: which operators it fuses, what it overlaps, what its host costs.
// Lives in profiles/software/*.json ("format": "meshwright.software/2"). An unknown program gets "plain" and a wider interval.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/likeness.h"
#include "sim/units/json_fwd.h"
#include "sim/units/sim_time.h"

namespace sim {

// Of a program on GPUs: PyTorch's caching allocator with segments, the same with segments that grow, or another one, of which nothing is modelled.
enum class DeviceAllocator : std::uint8_t { Segments, Expandable, Other };
inline constexpr std::string_view kDeviceAllocatorNames[] = {"segments", "expandable", "other"};
// Of ZeRO-3: weights are views of one flat tensor (FSDP 1), are copied out of what was gathered (FSDP 2), or that and through buckets (DeepSpeed).
enum class UnitCopying : std::uint8_t { None, Flat, Split, Buckets };
inline constexpr std::string_view kUnitCopyingNames[] = {"none", "flat", "split", "buckets"};
// Unfused, FusedSoftmax: scores are written out (eager and math attention). EfficientMasked, Efficient: PyTorch's memory-efficient kernel with a mask handed
// to it, of which it skips nothing, or told that attention is causal (scaled_dot_product_attention: attn_mask, is_causal). The rest skip what is hidden, too.
enum class AttentionKernel : std::uint8_t { Unfused, FusedSoftmax, EfficientMasked, Efficient, Flash1, Flash2, Flash3, Cudnn };
inline constexpr std::string_view kAttentionKernelNames[] = {"unfused", "fused_softmax", "efficient_masked", "efficient",
                                                             "flash1",  "flash2",        "flash3",           "cudnn"};
constexpr bool writes_scores(AttentionKernel kernel) { return kernel <= AttentionKernel::FusedSoftmax; }
constexpr bool skips_hidden(AttentionKernel kernel) {
  return kernel >= AttentionKernel::Efficient;
}  // what a causal mask or a window hides
constexpr bool skips_documents(AttentionKernel kernel) {
  return kernel >= AttentionKernel::Flash1;
}  // what lies between documents of a row

struct SoftwareStack {
  std::string name, source;
  std::vector<std::string> frameworks;  // as rows call them
  std::int64_t from_year = 0;           // of the newest that is not newer than the run, this one is taken
  bool fused_norm = false, fused_activation = false, fused_residual = false, fused_rotary = false, fused_loss = false,
       fused_optimizer = true;
  bool fused_accumulation = false;      // weight gradients are added inside their product
  bool vocabulary_parallel = true;      // the loss sees a part of the vocabulary on each tensor rank; false: logits are gathered
  bool loss_by_operator = false;        // and is written as operators that each pass through memory, where it is not fused
  bool loss_in_pieces = false;          // output head and loss go piece of tokens by piece, with their gradients: logits are never whole
  bool overlap_input_gradient = false;  // its sum over the tensor group goes beside the weight gradient
  bool expert_tensor = true;            // the tensor group cuts experts, too
  bool lightens_last_stage = false;     // blocks that divide evenly are cut so that later stages have one more, and the last what is left
  bool scatter_gather = false;          // pipeline messages are cut over the tensor group
  Seconds broadcast_start{};            // ZeRO-1: of a rank's broadcast of its new weights; zero: one gather for all
  bool zero1_all_reduce = false;        // ZeRO 1 and 2 sum whole gradients, then keep their part
  bool cached_fp8_weights = false;      // cast once a step, not for each microbatch
  bool mixed_products =
      false;  // a product reads 16 bit and puts out fp32 where it is asked to, and multiplies fp32 through TF32 (Transformer Engine)
  bool gathers_fp8 = false;       // under sequence parallelism operands are cast before they are gathered
  bool masked_loss = false;       // of an encoder: the output head sees masked tokens alone
  double dispatch_share = 0;      // of the sold rate between nodes, where a token crosses to a node once; 0: a copy an expert
  bool balances_in_turn = false;  // a balance that is forced deals tokens to experts in turn: those of a token are neighbors
  bool recomputes_parts = true;   // of a block; false: all of it or nothing
  bool repeats_blocks = false;    // full recomputation runs a block to its end, with the sum over tensor ranks and what follows it
  bool early_stop = false;        // recomputation ends in front of its last product, whose output no backward reads
  bool scales_when_used = false;  // fp8 scales are found by a pass over each tensor, not from steps before
  double ring_overhead = 0;       // of ring attention over many ranks, beside the merging of partial results: causal blocks uneven
  double attention_gain = 1;      // of the part's rate of a fused kernel, which grows with versions of its library
  bool fused_softmax = false, dropout = false, compiled = false;
  bool compiled_loss = false;        // the loss is compiled with the blocks
  std::string flash = "flash2";      // what "flash" means there
  std::string attention = "flash2";  // when nothing is said
  bool overlaps_pieces = true;  // overlap_tensor goes along a product piece by piece; false: a whole gather stands in front of most of it
  bool overlap_gather = false;  // its runs gather new weights of ZeRO 1 and 2 beside the next forward, where a plan does not say so itself
  bool overlap_reduce = false, overlap_tensor = false, overlap_pipeline = false;
  double reduce_bytes = 2, accumulate_bytes = 4;
  Seconds host_per_kernel{6e-6};         // time of the host to issue one
  Seconds host_per_module{};             // beside its kernels: to run attention or the feed-forward of a block once, eager, either pass
  Seconds host_per_cut_module{};         // of tensor ranks, the same again where weights and what lies between modules are DTensors
  Seconds host_per_experts{};            // the same of a layer of experts: routing, permutations, exchanges
  Seconds host_per_tensor{};             // of an optimizer: a tensor that a rank steps, half in front of the norm, half behind it
  Seconds host_per_adapter{};            // of a product with a low-rank adapter: to run the module that wraps it, either pass
  Seconds host_per_unit{};               // of ZeRO-3: to gather and give back a further unit: PEFT makes each matrix of an adapter one
  Seconds host_per_tensor_rank{};        // of each module, for each tensor rank, while stages of a pipeline are on several nodes
  Seconds host_per_tensor_node{};        // of the device: of a module, for each further node that its tensor group is on, without stages
  Seconds pipeline_sync{};               // the host waits for the device at each exchange between stages
  bool unfused_adapters = false;         // fp32 adapters: casts around them, and their scaling, are kernels of their own
  bool unpacks_by_operator = false;      // 4-bit whole numbers become 16 bit operator by operator, until their backward
  bool channels_first = false;           // of maps, which kernels of 16 bit turn around
  bool unfused_expert_bias = false;      // biases of experts are added to what each of them puts out by kernels of their own
  bool unfused_gate_limit = false;       // gates are clamped by kernels of their own, in front of the fused activation
  bool unfused_rms_norm = false;         // RMSNorm runs operator by operator, also where `fused_norm` says that LayerNorm is one kernel
  bool wide_softmax = false;             // scores in 16 bit that are written out become fp32 for their softmax, and go back
  bool transposed_rotary = false;        // rotary positions walk transposed heads, as modules of Transformers do
  bool unfused_long_rotary = false;      // rotary positions whose cosines and sines have a factor are turned operator by operator
  double launches_per_expert = 2;        // kernels of one product of one expert, 16 bit
  double images_per_worker = 0;          // a second that one process of the host decodes; 0: the input is never waited for
  Seconds step_overhead{};               // data loading, logging, synchronization
  double matrix_share = 1.0;             // of what tuned products reach
  bool newer_libraries = false;          // its products are those of CUDA 13: KernelTraits::newer_matrix_share where a part was measured so
  double network_share = 1.0;            // of what the links give to a benchmark
  double overlap_slowdown = 0.0;         // of kernels while a collective runs beside them
  double interval = 0.2;                 // half width of the 80 % interval, relative
  std::string fitted_parts;              // hardware on which the runs were measured that its constants were fitted to; empty: to none
  double pace = 1;                       // of everything: measured / priced, where runs of this very program and machine were learned from
  double learned_interval = 0;           // instead of `interval` for plans of the forms that those runs had; zero: nothing was learned
  std::string learned_forms;             // of plans, as prediction_interval.h names them: "tensor pipeline nodes"
  std::vector<LearnedRun> learned_runs;  // and what plans like them took more than that pace
  double owner_gradient_bytes = 0;       // of an element whose optimizer state a rank owns: its gradient in fp32, copies
  double context_gib = 2.0;              // driver, library handles, communication buffers
  double workspace_gib = 0;              // scratch of libraries that the program's allocator holds and counts
  std::int32_t product_workspaces = 0;   // beside it, of KernelTraits::product_workspace each
  std::int32_t expert_workspaces = 0;    // and of a program that groups experts' products: one for each of its streams
  double fragmentation = 0.05;           // share of the activations that the allocator holds without use
  std::string allocator = "segments";    // DeviceAllocator: of tensors on a GPU
  bool shows_reserved = false;           // memory is read as what the allocator took, not as what tensors occupy
  std::int32_t held_messages =
      0;                         // of each microbatch until the step ends: 2 that come in, 3 with what goes out; the last stage: its logits
  bool stages_gathers = false;   // ZeRO-3: what is gathered lands in memory of a stream of its own, and is copied from there
  bool repeats_keys = false;     // keys and values of grouped queries are written once a head
  bool gathers_context = false;  // ring attention gathers all keys and values at once
  bool keeps_gathered = false;   // what sequence parallelism gathered is saved as it is, not gathered again
  bool keeps_scaled_inputs = false;   // products in 8 or 4 bit keep what they read as they rounded it; false: in 16 bit, and round it again
  bool weights_activation = false;    // the router's weights are applied inside the experts: what these give back is not kept
  bool own_memory = false;            // simulated memory follows these fields; false: the habits of our worker, whatever they say
  bool keeps_masks = true;            // of dropout, one byte an element; false: they are computed again, and dropped scores are kept whole
  bool keeps_unrotated = false;       // rotary positions leave what they read beside what they write
  bool shards_masters = false;        // ZeRO-3: the fp32 shard is the weight, cast when it is gathered; no 16-bit shard beside it
  bool keeps_both_gradients = false;  // 16-bit gradients stay beside the wider buffer that they are added to
  bool keeps_buckets =
      false;  // ZeRO-0: gradients come in backward and go with the step; beside them buckets stay (DistributedDataParallel), where ranks have copies
  bool fills_buckets = false;  // a bucket ends with the tensor that reaches its size; false: before the one that would pass it
  bool unit_buffers = false;  // ZeRO-3 as FSDP 2 does it: buffers beside units, gathered in each pass, gradients as they come (unit_memory)
  std::string unit_copies = "none";  // UnitCopying: by kernels of its own, beside the exchanges of ZeRO-3
  bool unit_lists =
      false;  // ZeRO-3: each matrix of a unit crosses by itself, out of a list, or into one, of as many tensors as there are ranks
  bool autocast = false;  // torch.autocast: in 16 bit with fp32 masters, these are the weights, and the stream of residuals is fp32
  bool keeps_block_inputs =
      false;                 // ZeRO-3: inputs of recomputed blocks of frozen weights, and their gradients, stay until a backward ends
  bool half_states = false;  // runs that say nothing of optimizer states keep all of them in 16 bit, and no masters
  bool root_unit =
      false;  // of such units: embedding, last norm and head are one, gathered from the first forward to the end of the backward
  bool by_operator = false;       // autograd runs modules as they are written: memory goes operator by operator (operator_memory)
  double rotary_bytes = 0;        // of the table of positions, for each position and each number of a head; 0: as activations
  double cached_logit_bytes = 0;  // of a logit that the allocator holds beside the loss and nobody uses
  bool steps_by_lists = false;    // AdamW steps all tensors of a rank at once, and writes the roots of all second moments out meanwhile
  bool plain_optimizer = false;   // its SGD and RMSProp have no momentum
  double loss_bytes = 12;         // of a logit at the peak: fp32 of the softmax, its gradient and that of the logits
  double cut_loss_bytes = 12;     // the same where tensor ranks hold parts of the vocabulary
  double fused_loss_bytes = 6;    // one kernel: logits and their gradient
};

// fused_loss_bytes of a kernel that writes the gradient over 16-bit logits: TransformerEngine's (pytorch/triton/cross_entropy.py), the worker's.
constexpr double kBytesOfLossInPlace = 2;

// Habits of the worker in memory, as sim/cost/activation_memory.cpp lists them and its tests measure them.
const SoftwareStack& worker_software();

// Of an eager program; a compiler fuses either.
constexpr bool fuses_norm(const SoftwareStack& stack, bool is_rms) { return stack.fused_norm && !(is_rms && stack.unfused_rms_norm); }

DeviceAllocator device_allocator(const SoftwareStack& stack);
UnitCopying unit_copying(const SoftwareStack& stack);
AttentionKernel attention_kernel(const SoftwareStack& stack, const std::string& stated = "");  // "flash", "no_flash": what they mean there

// The stack of a framework in a year. Throws InputError for a broken profile; never for an unknown framework.
struct FrameworkVersion {
  std::string framework;
  std::int64_t year = 0;
};
class SoftwareCatalog {
 public:
  explicit SoftwareCatalog(std::vector<SoftwareStack> stacks) : stacks_(std::move(stacks)) {}
  const SoftwareStack& find(const FrameworkVersion& version) const;
  const SoftwareStack& named(const std::string& name) const;

 private:
  std::vector<SoftwareStack> stacks_;  // one of them is "plain"
};

SoftwareCatalog load_software_catalog();  // profiles/software
SoftwareStack load_software(const std::string& path_or_name);
SoftwareStack software_stack_from_json(const Json& json, const std::string& file);
Json to_json(const SoftwareStack& stack);

}  // namespace sim
