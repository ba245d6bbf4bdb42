// Attention where C context ranks each hold a part of a sample's tokens: which exchanges stand inside it. Used by layer_tasks alone.
//
//   all_gather   AttentionInput   AllGather k, v            AttentionScores    AttentionOutput
//                backward:        AllGather k, v            AttentionScores    ReduceScatter dk, dv
//   all_to_all   AttentionInput   AllToAll q, k, v          AttentionScores    AllToAll o    AttentionOutput     heads / C, all tokens
//                backward:        AllToAll do               AttentionScores    AllToAll dq, dk, dv
//   ring         AttentionInput   AttentionScores 0 | hop 0   ...   AttentionScores C - 1   AttentionOutput      | : side by side
//                backward:        Scores 0 | k, v             Scores i | k, v, dk, dv   ...   Scores C - 1 | dk, dv   hop C: dk, dv go home
//
// Bytes on the wire of a rank, n its tokens, b a block of n keys and values: ring (C-1) b forward, (2C-1) b backward; all_gather (C-1) b and
// 2 (C-1) b; all_to_all (C-1)/C of n (2 q + 2 kv), each way.
#pragma once

#include "sim/task_graph/layer_tasks.h"

namespace sim {

// Replaces Attention by its parts; unchanged where C = 1.
std::vector<Piece> with_context(std::vector<Piece> pieces, const ParallelPlan& plan, Phase phase);

}  // namespace sim
