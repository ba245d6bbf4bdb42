// What people call a value of a plan's field where the file has a number for it. Files, --fix and --json keep the number.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/plan/plan_fields.h"

namespace sim {

inline constexpr Bytes kOneBucket{std::int64_t{1} << 50};  // of gradients that are reduced at once, when all are there

std::string said_of(const PlanField& field, const ParallelPlan& plan);  // "one bucket"; else as text_of()

// "accumulation reduce_each, prefetch 0": what of a role is not at its default and has a use, beside the fields that are `told` elsewhere; empty: nothing.
std::string unusual_text(const ParallelPlan& plan, std::span<const std::string_view> told, FieldRole role = FieldRole::Layout);

}  // namespace sim
