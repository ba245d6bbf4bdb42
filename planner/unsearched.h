// Words of a plan that change its time or memory and that no search chooses of its own accord, with the reason: each word of the layout is an axis with several
// values or stands here; axes that are asked for (--fix) have one. What other values would gain: docs/figures/planner.md, "What is not searched"; `check` tries those that programs have
// (planner/improvements.h).
#pragma once

#include <span>
#include <string_view>

namespace planner {

struct Unsearched {
  std::string_view field;  // as in sim::plan_fields()
  std::string_view because;
};
std::span<const Unsearched> unsearched();
bool is_searched(std::string_view field);

}  // namespace planner
