// The pieces of one layer in one phase: its segments' parts, joined where nothing meets between them, and what ranks exchange where something does.
// Payloads are per group (CollectiveShape's convention).
//
//   T = 1     attention                                                      mlp
//   T > 1     attention   all_reduce 0   attention_residual                  mlp   all_reduce 1   mlp_residual
//   experts   instead of mlp: expert_input   all_to_all 0 (E > 1)   experts   all_to_all 1   expert_output; where all tokens are gathered:
//             all_gather, reduce_scatter; backward the same
//   C > 1     attention_input ... attention_scores ... attention_output, and between them
//     all_to_all   exchange q, k, v for heads | exchange the output;                     backward: do | dq, dk, dv
//     all_gather   keys and values of all | -;                                           backward: all_gather again | reduce_scatter
//     ring         attention_scores 0 | hop 0   ...   attention_scores C - 1             | : side by side
//                  backward: scores 0 | k, v   scores i | k, v, dk, dv   ...   scores C - 1 | dk, dv   hop C: dk, dv go home
//
//   linear attention, C > 1, whichever way attention does it (n tokens of a rank, p, c, v widths as in activation_memory.h: all of p goes, and v comes back)
//     linear_attention_input   all_to_all   linear_attention_scan   all_to_all   linear_attention_output;     backward the same, the other way round
//
//   sync_batch_norm, D > 1, a layer with a batch norm
//     forward    pointwise    all_gather (data)   batch_norm
//     backward   batch_norm   all_reduce (data)   pointwise
//
//   attention of heads that tensor ranks meet for, T > 1
//     fewer key/value heads      attention_input   all_gather       attention_heads ... ;   backward: reduce_scatter
//     norms of all heads         attention_input   all_reduce       attention_heads ... ;   backward: all_reduce
//
//   8 bit (scaled_products.h): all_reduce of maxima behind computations that ask for them on their way, of T, C or copies of experts; T > 1, backward: of the
//   gradient of what every tensor rank makes whole
//
//   slices   attention_input  attention_scores  attention_output: nobody is met, but the middle reads the keys and values of slices before
//
// Bytes on the wire of a rank, n its tokens, b a block of n keys and values: ring (C-1) b forward, (2C-1) b backward; all_gather (C-1) b and
// 2 (C-1) b; all_to_all (C-1)/C of n (2 q + 2 kv), each way.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task.h"

namespace sim {

struct Parts {  // [first, last) of a layer's segment
  std::int32_t segment = 0, first = 0, last = 0;
  bool has(std::int32_t part) const { return first <= part && part < last; }
};

struct Piece {
  Operation operation{};
  std::int32_t sequence = 0;  // among equal ones inside (layer, phase)
  Bytes payload{};            // of a communication; zero for computation
  MeshAxis group = MeshAxis::None;
  bool beside_next = false;  // starts with the next piece; what follows waits for both
  bool within = false;       // asked for inside the computation in front of it (maxima, sums before rounding): what follows waits as long
  Parts parts{};             // of computation: what it runs. Of communication: between which
};

// Whether parts of a layer read in a forward what the layer in front hands on, and whether they hand on themselves. The embedding reads tokens, and what
// the head makes nobody reads. A backward comes the other way.
struct Ends {
  bool reads = false, hands_on = false;
};
Ends ends_of(const ModelGraph& model, LayerIndex layer, const Parts& parts);

std::vector<Piece> forward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);
std::vector<Piece> backward_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);
// The linear layers' weight gradients, of schedules that split the backward pass: all else is in Backward. None of the embedding.
std::vector<Piece> weight_pieces(const ModelGraph& model, LayerIndex layer);
// What the plan computes again of a block, before its backward: its forward up to what backward reads, where the sum after the last product is left
// out and of experts the rows that come back are in; or the cores of the segments that are recomputed as modules. Of other layers nothing.
std::vector<Piece> recompute_pieces(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);

// Whether the computation of that name ends what is computed again between what a checkpoint keeps: a block, or the core of a module.
bool ends_recompute(const std::vector<Piece>& recomputed, bool is_by_module, Operation operation);

std::vector<Piece> pieces_of(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer, Phase phase);
std::optional<Piece> piece_among(const std::vector<Piece>& pieces, const TaskKey& exchange);  // none: the task is no exchange of these
// The computation of that name, among equal ones the sequence-th, which must be there.
Parts parts_of(const std::vector<Piece>& pieces, Operation operation, std::int32_t sequence = 0);

// What `layer` hands to the next one, of one rank and microbatch: a row of `hidden` a token, or a map.
Bytes handed_on(const ModelGraph& model, const ParallelPlan& plan, LayerIndex layer);

// One after the other, and of those side by side the longer one.
template <class Time, class TimeOf>
Time chain_time(const std::vector<Piece>& pieces, const TimeOf& time_of) {
  Time sum{}, beside{};
  for (const Piece& piece : pieces) {
    const Time time = std::max(beside, time_of(piece));
    beside = piece.beside_next ? time : Time{};
    if (!piece.beside_next) sum += time;
  }
  return sum;
}

}  // namespace sim
