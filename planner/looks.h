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
// Of a shape; smallest: microbatch of those of its mesh.
bool is_first(const PlanCandidate& shape, std::int32_t smallest);

constexpr Look look_of(bool is_plain, bool is_first) {
  if (is_plain) return is_first ? Look::First : Look::Plain;
  return is_first ? Look::Words : Look::Others;
}
inline Look look_of(const PlanCandidate& candidate, std::int32_t smallest) {
  return look_of(is_plain(candidate), is_first(candidate, smallest));
}

}  // namespace planner
