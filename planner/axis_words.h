// What people call the axes of a plan: "tp=8", "dp_shard=16", "1F1B", "zero3".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planner/search.h"

namespace planner {

// Axes with their values, as read_fixed_axes() takes them: {"tensor", "8"}. A name of our own goes through as it is; none: nobody says this.
std::vector<Argument> axes_said(std::string_view text);

// What people say together, "tp=8", "1F1B", as axes with their values. Throws sim::InputError: of --fix, what nobody says, what is said twice.
Fixed fixed_as_said(const std::vector<std::string>& said);

// dp_replicate=4 and dp_shard=16 together: 64 data ranks, of which 4 replicas. Adds "data" where it follows from them.
void settle_shards(std::vector<Argument>& axes);

}  // namespace planner
