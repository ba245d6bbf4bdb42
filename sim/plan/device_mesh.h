// Which rank stands where: D data x C context x P pipeline x T tensor. Tensor is fastest (neighbours on one node), then context, data, pipeline.
//
// The N = D x C ranks that differ in data and context alone hold the same weights: they share gradients and ZeRO's shards. C of them share a sample,
// each with a part of its tokens. With replicas R > 1 (HSDP) they are R copies of S = N / R shards: shards are neighbours, and replicas sum what
// is left of a shard. FSDP's integer reshard_after_forward: W neighbours (a divisor of S) keep the weights among them from forward to backward. Experts are dealt out
// to E neighbours of a replica's S ranks: S / E of them hold the same ones, and share gradients and shards as a replica's ranks do.
//
// Experts may be cut by a degree of their own, G in place of T (Megatron's --expert-tensor-parallel-size): the S T ranks of a replica are then S T / (G E)
// copies x E x G, with G the fastest. With G = T these are the groups from above.
//
//   rank = (stage * N + data) * T + tensor            N = 2, P = 2, T = 2:   stage 0: 0 1 | 2 3    stage 1: 4 5 | 6 7
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "sim/units/index.h"

namespace sim {

// Data: the shards of one replica. Embedding: first stage, and the one that holds a copy of its table (tied weights). Replica: the same shard in all replicas. Context: parts of a sample.
// Expert: ranks that share the experts of a layer. ExpertData: those of a replica that hold the same ones.
// ExpertTensor: those that share an expert, where that is a degree of its own. Reshard: ranks that keep weights among them after forward.
// Distant: those of a replica that have the same place in their neighbourhoods (Reshard), one of each.
// ContextInner: neighbours among the ranks of a sample; ContextOuter: those that have the same place in such neighbourhoods, one of each.
enum class MeshAxis : std::uint8_t {
  None,
  Data,
  Pipeline,
  Tensor,
  Embedding,
  World,
  Replica,
  Context,
  Expert,
  ExpertData,
  Reshard,
  ExpertTensor,
  Distant,
  ContextInner,
  ContextOuter
};
inline constexpr std::string_view kMeshAxisNames[] = {"none",    "data",          "pipeline", "tensor",        "embedding",
                                                      "world",   "replica",       "context",  "expert",        "expert_data",
                                                      "reshard", "expert_tensor", "distant",  "context_inner", "context_outer"};

struct MeshCoordinate {
  std::int32_t data = 0;  // among the ranks of the same weights, of which C neighbours share samples: see data_rank and context_rank
  StageIndex stage{0};
  std::int32_t tensor = 0;
  bool operator==(const MeshCoordinate&) const = default;
};

// Ranks first, first + stride, ...
struct RankSeries {
  std::int32_t first = 0, stride = 1, count = 1;
};

struct DeviceMesh {
  std::int32_t data = 1;
  std::int32_t pipeline = 1;
  std::int32_t tensor = 1;
  std::int32_t replicas = 1;  // divides copies()
  std::int32_t context = 1;
  std::int32_t context_inner = 1;  // divides context: neighbours that exchange heads for tokens, where that is hierarchical
  std::int32_t expert = 1;         // divides shards() * tensor / expert_cut()
  std::int32_t expert_tensor = 0;  // ranks that share an expert; 0: the tensor ranks
  std::int32_t reshard = 1;        // divides shards(); 1: after forward nobody but the shard's owner has it

  std::int32_t copies() const { return data * context; }  // ranks of the same weights
  std::int32_t expert_cut() const { return expert_tensor == 0 ? tensor : expert_tensor; }
  bool cuts_experts_apart() const { return expert_cut() != tensor; }
  bool moves_tokens() const { return expert > 1 || (cuts_experts_apart() && expert_cut() > 1); }  // to the experts of other ranks
  std::int32_t expert_copies() const { return shards() * tensor / (expert_cut() * expert); }      // in a replica
  // Of tensor ranks alone, those that do not cut experts hold the same ones.
  bool has_copies() const { return copies() > 1 || expert_copies() > 1; }
  std::int32_t shards() const { return copies() / replicas; }
  std::int32_t context_outer() const { return context_inner > 1 ? context / context_inner : 1; }
  std::int32_t ranks() const { return copies() * pipeline * tensor; }
  std::int32_t data_rank(const MeshCoordinate& at) const { return at.data / context; }     // whose samples
  std::int32_t context_rank(const MeshCoordinate& at) const { return at.data % context; }  // which of their tokens
  Rank rank_of(const MeshCoordinate& at) const;
  MeshCoordinate coordinate(Rank rank) const;
  RankSeries of_experts(Rank member, MeshAxis axis) const;  // of Expert, ExpertData, ExpertTensor
  // Ascending; the ranks that differ from `member` along axis alone. Of Embedding: the first stage and the copy's.
  std::vector<Rank> group(Rank member, MeshAxis axis, StageIndex copy) const;
  std::vector<Rank> group(Rank member, MeshAxis axis) const { return group(member, axis, StageIndex(pipeline - 1)); }
  bool operator==(const DeviceMesh&) const = default;
};

}  // namespace sim
