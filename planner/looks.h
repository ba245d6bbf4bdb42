// In which order a search looks at a space. Plans of the smallest microbatches with few chunks and the usual words are enough to know about how fast the fastest is;
// what they reach spares most of the others even a first bound.
#pragma once

#include <cstdint>

#include "planner/plan_candidate.h"

namespace planner {

enum class Look : std::uint8_t {
  First,   // the usual words of a first shape
  Words,   // its other words
  Plain,   // the usual words of the other shapes
  Others,  // the rest
};

// The words that most people say.
bool is_plain(const PlanCandidate& candidate);

// `smallest`: microbatch of the candidates of its mesh.
Look look_of(const PlanCandidate& candidate, std::int32_t smallest);

}  // namespace planner
