// What `plan` prints first: one screen with the question in words, the best plans in the columns in which they differ, why the others are behind, and what
// to do next. --why adds what was left out; --all is plan_text's search_text().
#pragma once

#include <string>

#include "cli/options.h"
#include "cli/plan_text.h"

namespace cli {

std::string plan_screen(const PlanOptions& options, const planner::SearchRequest& request, const planner::SearchResult& result,
                        const Console& console);

}  // namespace cli
