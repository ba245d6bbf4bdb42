// What modules of a block send to the host and read from it again (ParallelPlan::offload_modules), segment by segment: whatever autograd saves inside
// the module, made again later or not (Megatron-Core, pipeline_parallel/fine_grained_activation_offload.py). Behind the segment's forward it leaves, and comes
// back beside the backward of the segment behind it.
//
//   module       saves
//   attn_norm    what the norm reads: latent attention's, whose norm stands apart
//   qkv_linear   what products in front of the scores read: the norm's output, narrow vectors; of usual attention also what the norm reads, as both are one
//   core_attn    queries, keys, values; scores where they are written, else what comes out
//   attn_proj    what comes out
//   mlp_norm     what the norm of experts reads; that of a plain feed-forward is one with its product
//   expert_fc1   rows of experts
//   moe_act      what their first products put out
//   mlp          a plain feed-forward's: what its norm reads and puts out, and what both sides of the activation are
#pragma once

#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sim/model/model_graph.h"
#include "sim/plan/parallel_plan.h"
#include "sim/schedule/schedule.h"

namespace sim {

// What is smaller stays on the device (min_offloaded_tensor_size).
bool is_large_enough(const ParallelPlan& plan, Bytes tensor);

// Of one rank and microbatch: all that the plan's modules send.
Bytes inputs_on_host(const ModelGraph& model, const ParallelPlan& plan, const SegmentGraph& segment);
// The module with which the stream goes that the segment's norm reads; none: it stays.
std::optional<Module> sends_stream(const ModelConfig& config, const SegmentGraph& segment);

// Of a stage's backwards, in the order of the plan, what comes next.
class NextBackwards {
 public:
  NextBackwards(const ParallelPlan& plan, StageIndex stage);
  std::optional<StageAction> behind(const StageAction& backward) const;
  // The last block of an action whose own backward is the next of all when its forward runs keeps what its modules have: of all that the chunk sends it would come
  // back first, and at once. Predictions within the head's layer are behind the blocks, and stay in its place.
  bool keeps(const ParallelPlan& plan, ChunkIndex chunk, MicrobatchIndex microbatch, LayerIndex layer) const;

 private:
  using Action = std::pair<ChunkIndex, MicrobatchIndex>;
  StageIndex stage_;
  std::set<Action> comes_back_next_;
  std::map<Action, std::optional<StageAction>> behind_;
};

}  // namespace sim
