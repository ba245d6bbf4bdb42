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

constexpr bool is_scaled(const Parameter& of_block) { return of_block.columns > 1; }
std::int64_t num_scaled(const ModelGraph& model);  // weights, on all stages
// Of the all-reduce; 0: scales are of the step itself, or nobody else is there.
Bytes agreed_maxima(const ParallelPlan& plan, const ModelGraph& model);
// Scales of the step itself, where tensor ranks have parts of what shares one: each product asks all of them for the largest magnitudes in front of
// it, on CPU ranks. y = x W^T with W cut by rows has a part of W, and of the gradient of y; cut by columns it has parts of x and of W.
//
//                  W cut by rows                   W cut by columns
//   tensorwise     forward: W; backward: dy        forward: x, W                     backward reads again what forward has heard
//   rowwise        backward: rows of dy, W^T       forward: rows of x, W             (a row is what a product sums over)
enum class ProductPass : std::uint8_t { Forward, Backward };
bool scales_whole_tensors_or_rows(const ParallelPlan& plan);  // by what this step finds
bool agrees_on_scales(const ParallelPlan& plan);
bool meets_at_heads(const ParallelPlan& plan);  // tensor ranks have a part of the columns of a head, or of a norm: nobody agrees there
// Numbers that one product of so many tokens asks for; 0: all that it reads is whole.
std::int64_t asked_maxima(ScaleRecipe recipe, const Operator& product, std::int64_t tokens, ProductPass pass);
// Tokens, or inputs and outputs, that share a scale: of recipes with tiles.
struct TileSide {
  std::int64_t value = 1;
};
constexpr TileSide tile_side(ScaleRecipe recipe) { return {recipe == ScaleRecipe::Mx ? 32 : 128}; }
// Tensor ranks cut weights where no tile of so many rows and columns ends, in some block.
bool cuts_tiles(const ModelGraph& model, TileSide side, std::int64_t tensor_degree);

}  // namespace sim
