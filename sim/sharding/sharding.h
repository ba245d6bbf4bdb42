// Who stores what: data-parallel sharding strategies as a table, and the flat buckets in which parameters are
// reduced, gathered and stepped. The same buckets serve lower() (payloads), cost (memory) and the executor (buffers).
//
//   bucket   | head.weight ......... | norm | pad |      slots in reverse order of use (gradients become ready last layer first)
//   shard d owns elements [d * shard, (d+1) * shard)     shard = elements / (D / replicas), a multiple of slot_alignment()
//
// Whole tensors (deals_tensors): the slots of one owner stand side by side, owners in rank order; some have no slot in a bucket.
//   bucket   | 0: mlp.up | 0: norm | 1: mlp.down | 3: attention.qkv |        reduced to each owner, gathered from them, by one collective each
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sim/model/model_graph.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

struct ShardingStrategy {
  std::string_view name;  // "ddp", "zero1", "zero2", "zero3"
  std::string_view summary;
  std::string_view paper;
  bool shards_optimizer;   // each data rank steps its shard, then weights are gathered
  bool shards_gradients;   // gradients are reduce-scattered; the full ones are freed
  bool shards_parameters;  // one bucket a unit, gathered just in time
};
std::span<const ShardingStrategy> all_sharding_strategies();
const ShardingStrategy& sharding_strategy(const ParallelPlan& plan);

inline constexpr std::int64_t kSlotAlignment = 64;  // elements: a slot starts on it, so norm blocks are the same in every bucket layout
inline constexpr std::int64_t kMomentBlock = 256;   // elements of a tensor whose moments in 8 bit have a scale in common
// What a plan's slots and shards start on: blocks of moments, too, are whole, and the same in every bucket layout.
inline std::int64_t slot_alignment(const ParallelPlan& plan) {
  return plan.workload.optimizer == OptimizerKind::AdamW8bit ? kMomentBlock : kSlotAlignment;
}

struct BucketSlot {
  LayerIndex layer;
  std::int32_t parameter = 0;  // position in Layer::parameters
  std::int64_t offset = 0;     // elements, multiple of slot_alignment()
  std::int64_t elements = 0;   // of this tensor rank's part
  std::int64_t in_rows = 0;    // the same where each matrix is padded to a multiple of the ranks in its rows (FSDP 2)
  bool is_matrix = false, is_matrix_of_block = false;
  bool unscaled = false;  // Parameter::unscaled
  bool frozen = false;
  bool norm = false;         // Parameter::norm
  std::int64_t columns = 1;  // of a matrix, of this tensor rank's part of it
  Bytes packed{};            // of a frozen matrix that is kept in fewer bits; else 0
  Bytes packed_offset{};     // of any slot of a packed bucket, a multiple of kSlotAlignment
};

BucketSlot slot_of(const ParallelPlan& plan, const Parameter& parameter, LayerIndex layer, std::int32_t position);  // offset 0

struct Bucket {
  std::vector<BucketSlot> slots;
  std::int32_t shards = 1;  // ranks that share it: 1 where no other rank holds the same weights
  Bytes packed{};  // frozen, with weights in fewer bits: all of it, a multiple of shards * kSlotAlignment. Else 0: it is kept in elements
  bool frozen = false;              // gathered where parameters are sharded, and nothing else: no gradients, no states; by itself
  bool persistent = false;          // stage 3: whole on every rank from step to step, as those of stage 2
  bool expert = false;              // of experts: reduced and gathered over the ranks that hold the same ones
  std::int64_t elements = 0;        // padded to a multiple of shards * slot_alignment()
  std::int64_t shard_elements = 0;  // of a shard; where whole tensors are dealt, of the stage's fullest owner, who is who ranks wait for
  std::vector<std::int64_t>
      first_of{};            // whole tensors: where the elements of shard 0, 1, ... begin, and behind the last one their end; else empty
  std::int32_t fullest = 0;  // shard of the stage's fullest owner
  std::int32_t busiest = 0;  // shard whose matrices take Muon longest: who has most of all may have few of them
  LayerIndex
      ready_after;  // the layer whose backward completes it (the smallest layer index inside). All of its numbers are in that unit's precision
  ChunkIndex chunk;   // whose backward that is
  bool tied = false;  // the tied embedding, shared with another stage: summed over both first, at the end
};

struct ShardRange {
  std::int64_t begin = 0, count = 0;  // elements of the bucket
  std::int64_t end() const { return begin + count; }
};
ShardRange range_of(const Bucket& bucket, std::int32_t shard);
inline bool is_owned_by(const Bucket& bucket, const BucketSlot& slot, std::int32_t shard) {
  const ShardRange owned = range_of(bucket, shard);
  return slot.offset >= owned.begin && slot.offset < owned.end();
}

// Data ranks own whole tensors: stages 1 and 2 that ask for them, and every optimizer that steps matrices as matrices.
bool deals_tensors(const ParallelPlan& plan);
// Stepped weights of a bucket go out owner by owner, not by one gather.
inline bool broadcasts_weights(const ParallelPlan& plan) { return deals_tensors(plan) && plan.weight_sync != WeightSync::AllGather; }
// On their way: as they are, or cast.
Bytes sent_bytes(const ParallelPlan& plan, const Bucket& bucket, ShardRange owned);

std::int64_t elements_in_rows(const Bucket& bucket);  // as FSDP 2 pads it: parameter by parameter, q, k, v, gate and up each
// Of a bucket that is gathered or reduced, and of its shard: as its program pads it.
std::int64_t moved_elements(const Bucket& bucket, const ParallelPlan& plan);
inline std::int64_t moved_shard(const Bucket& bucket, const ParallelPlan& plan) { return moved_elements(bucket, plan) / bucket.shards; }

std::int64_t stepped_elements(const Bucket& bucket, const ParallelPlan& plan);  // that one rank's optimizer updates
std::int64_t host_elements(const Bucket& bucket, const ParallelPlan& plan);     // of them, what the host updates
// Flops of Muon's five Newton-Schulz steps (Jordan et al. 2024), each X X^T, its square and their product with X: 2 m^2 (2 n + m) of an m x n matrix,
// m <= n. Of what is no block's matrix: none.
double orthogonalization_flops(const ParallelPlan& plan, const Parameter& parameter, const BucketSlot& slot);
// Of those that its optimizer steps as matrices: of blocks, whose momentum Muon makes orthogonal; all, whose squares Adafactor keeps as means.
bool is_stepped_as_matrix(const BucketSlot& slot, const ParallelPlan& plan);
std::int64_t stepped_matrix_elements(const Bucket& bucket, const ParallelPlan& plan);
bool scatters_gradients(const ParallelPlan& plan);  // over the ranks that share optimizer states
// Its gradients meet those of other ranks: of those that share it, then of the replicas, which an expert's owner may have alone.
inline bool is_reduced(const Bucket& bucket, const ParallelPlan& plan) { return bucket.shards > 1 || plan.mesh.replicas > 1; }
inline MeshAxis axis_of(const Bucket& bucket) { return bucket.expert ? MeshAxis::ExpertData : MeshAxis::Data; }

// Of one rank: its tensor part, and the experts that it holds.
std::int64_t local_elements(const Parameter& parameter, const DeviceMesh& mesh);
// Stage 3: small enough to stay whole (plan.persistence_threshold). What is counted is a checkpoint's parameter: of queries, keys and values each by itself.
bool persists(const Parameter& parameter, const ParallelPlan& plan);
// Whole on every tensor rank, each of which has a part of its gradient: of a stretch of the tokens, of its heads, or of what experts put out. Summed once a step.
bool sums_over_tensor(const Parameter& parameter, const ParallelPlan& plan);

// The layers that stage 3 gathers, frees and reduces together with this one: layers_per_unit blocks, counted from the first of their chunk.
// Embedding, head and predictions that stand apart are a unit each, as torchtitan wraps embedding and head: FSDP's root unit would keep both gathered for the whole step.
LayerRange unit_of(const ParallelPlan& plan, LayerIndex layer);

// Of frozen matrices of blocks as many bytes as their format has.
// Of a bucket that is gathered: weights of the blocks' products in 8 bit where the plan casts them before; ends, norms and biases stay as they are.
Bytes gathered_bytes(const ParallelPlan& plan, const BucketSlot& slot);
Bytes gathered_bytes(const ParallelPlan& plan, const Bucket& bucket);

// After each backward units are shards again, whatever comes next, as FSDP 2 has it: each microbatch gathers by itself. Its pipelines put that off to
// the last microbatch (torch/distributed/pipelining/stage.py: set_reshard_after_backward).
bool reshards_after_backward(const ParallelPlan& plan);
bool stays_gathered(const ParallelPlan& plan, ActionKind behind);  // for actions that come, unless the one it was gathered for ends with it

// Of a bucket, what a rank keeps from a forward to the next gather of it (mesh.reshard), or to the step (kept_until); else none.
Bytes kept_after_forward(const ParallelPlan& plan, const Bucket& bucket);

// Buckets of one stage, in launch order (that of the backward: last layer first). Stages 0-2: filled up to bucket_size,
// a parameter larger than that has its own; buckets mix neither chunks, nor experts, nor units in full precision with other weights. Stage 3, and sums by priority: one bucket a unit (and one of its experts).
std::vector<Bucket> make_buckets(const ModelGraph& model, const ParallelPlan& plan, StageIndex stage);

// A shared token table: who reads it on the embedding's stage (plan.embedding_reader()) uses layer 0's weight and owns no copy. On another stage it has
// one as an extra parameter of its own (index Layer::parameters.size()), which is no matrix of a block.
std::vector<Parameter> parameters_of(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);

}  // namespace sim
