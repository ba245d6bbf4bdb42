// Which weights a plan multiplies in 8 or 4 bit, and what its ranks say to each other of them.
//
// Delayed scales come from the largest magnitudes of steps before. Every operand has one, over all ranks and microbatches: at the end of a step the
// ranks agree on them by one all-reduce of maxima, as Transformer Engine's reduce_and_update_fp8_tensors does for all tensors at once.
#pragma once

#include "sim/model/model_graph.h"
#include "sim/plan/parallel_plan.h"

namespace sim {

// Of a product y = x W^T: x, W, and the gradient of y.
enum class Operand : std::uint8_t { Input, Weight, OutputGradient };
inline constexpr std::int64_t kNumOperands = 3;
inline constexpr std::int32_t kOfMaxima = 1;  // TaskKey::sequence of their all-reduce; that of the step's sums has 0
inline constexpr Bytes kMaximum{4};           // fp32

constexpr bool is_scaled(const Parameter& of_block) { return of_block.columns > 1 && !of_block.unscaled; }
std::int64_t num_scaled(const ModelGraph& model);  // weights, on all stages
// Frozen weights are kept in the 8 bits that products read (Transformer Engine's fp8_model_init, NeMo's fp8_params): no use casts or unpacks them.
bool reads_frozen_as_kept(const ParallelPlan& plan);
// Of the all-reduce; 0: scales are of the step itself, or nobody else is there.
Bytes agreed_maxima(const ParallelPlan& plan, const ModelGraph& model);
// Scales of the step itself, where ranks have parts of what shares one: each product asks all of them for the largest magnitudes in front of it, on CPU
// ranks. y = x W^T with W cut by rows has a part of W, and of the gradient of y; cut by columns it has parts of x and of W. Ranks that have other tokens of
// the same product have parts of x and of the gradient of y. Every product of an expert with the rows of a microbatch asks for itself; all of a rank's are
// one message.
//
//                  W cut by rows                   W cut by columns         tokens cut
//   tensorwise     forward: W; backward: dy        forward: x, W            forward: x; backward: dy      what forward has heard is read again
//   rowwise        backward: rows of dy, W^T       forward: rows of x, W    forward: x^T; backward: dy^T  (a row is what a product sums over)
//   in tiles       -                               -                        as rowwise, a number for each tile of tokens, unless ranks have whole ones
enum class ProductPass : std::uint8_t { Forward, Backward };
bool scales_whole_tensors_or_rows(const ParallelPlan& plan);  // by what this step finds
bool scales_tiles(ScaleRecipe recipe);
bool agrees_on_scales(const ParallelPlan& plan);
bool meets_at_heads(const ParallelPlan& plan);  // tensor ranks have a part of the columns of a head, or of a norm
// An expert's rows of one microbatch go to several copies of it, each of which has those of some ranks.
bool parts_of_microbatches(const ParallelPlan& plan);
// Microbatches that ranks compute at once which agree on scales: their numbers lie side by side in a message.
std::int64_t microbatches_agreed(const ParallelPlan& plan, bool of_experts);
bool cuts_tokens(const ParallelPlan& plan, bool of_experts);  // of what shares a scale
// Numbers that one product asks for, of whom; what is asked second is of what the first have agreed on. None: all that it reads is whole. Of experts, their
// products together.
struct AskedMaxima {
  MeshAxis of{};
  std::int64_t numbers = 0;
  bool operator==(const AskedMaxima&) const = default;
};
std::vector<AskedMaxima> asked_maxima(const ParallelPlan& plan, const Operator& product, ProductPass pass);
// A product that every tensor rank makes whole, in front of what they cut (latent attention's way down): each has a part of the gradient of y, which is
// summed before it is rounded, on CPU ranks. Then each gives an equal share of what that makes.
bool sums_before_rounding(const ParallelPlan& plan, const Operator& product);
bool sums_before_rounding(const ParallelPlan& plan, const Parameter& parameter);
bool sums_in_front_of_rounding(const ParallelPlan& plan);  // some product, on CPU ranks; on others its parts would be rounded
bool asks_within_computations(const ParallelPlan& plan);   // for maxima or such sums
// Tokens, or inputs and outputs, that share a scale: of recipes with tiles.
struct TileSide {
  std::int64_t value = 1;
};
constexpr TileSide tile_side(ScaleRecipe recipe) { return {recipe == ScaleRecipe::Mx ? 32 : 128}; }
// Tensor ranks cut weights where no tile of so many rows and columns ends, in some block.
bool cuts_tiles(const ModelGraph& model, TileSide side, std::int64_t tensor_degree);
// Context ranks cut a sample where no tile of so many tokens ends.
bool cuts_tiles_of_tokens(const ParallelPlan& plan);
std::int64_t tiles_of_tokens(const ParallelPlan& plan);  // of a microbatch, on all ranks

}  // namespace sim
