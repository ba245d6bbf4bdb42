// Candidates of which one simulation says what the other takes.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/candidates.h"

namespace planner {

// ZeRO 1 and 2 run the same tasks (gradients are reduced after the last microbatch), so they take the same time and differ in memory: the candidate that differs
// from that one in nothing else. None: the candidate has another stage, or the space has no such one.
std::optional<std::int64_t> twin_of(const Candidates& candidates, std::int64_t index);

}  // namespace planner
