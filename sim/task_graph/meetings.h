// What ranks exchange between two parts of a segment, under a plan.
#pragma once

#include <optional>
#include <vector>

#include "sim/task_graph/layer_tasks.h"

namespace sim {

enum class Direction : std::uint8_t { Forward, Backward };

// Tokens that a rank finds experts for: all that it has, or its part, where experts are cut by a degree of their own.
std::int64_t tokens_to_route(const ParallelPlan& plan);
// Whether the parts on both sides are tasks of their own. Experts' always are.
bool is_cut(const Meets& meets, const ParallelPlan& plan, Direction direction);
// None where the degree is 1, where the direction has none, and around rounds.
// activation: bytes of a number of the layer.
std::vector<Piece> exchanges(const Meets& meets, const ParallelPlan& plan, Direction direction, Bytes activation);

// What a product asks other ranks for inside the computation that it is a part of (scaled_products.h).
std::vector<Piece> asked_within(const Operator& product, const ParallelPlan& plan, Direction direction, Bytes activation);

// Between these the part runs in rounds: step i computes on the block that hop i - 1 brought; in backward the block's gradients follow it, and go one
// hop further. Nothing is sent after the last use.
bool runs_in_rounds(const Meets& entered, const ParallelPlan& plan);
std::vector<Piece> rounds(const Piece& part, const Meets& entered, const ParallelPlan& plan, Direction direction, Bytes activation);

}  // namespace sim
