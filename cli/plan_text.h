// What `plan` prints: the ranking, the Pareto front, and what was left out with its reasons.
#pragma once

#include <string>
#include <vector>

#include "cli/console.h"
#include "planner/search.h"

namespace cli {

std::string search_text(const planner::SearchRequest& request, const planner::SearchResult& result, const Console& console);

std::vector<std::vector<std::string>> ranking_rows(const std::vector<planner::RankedPlan>& plans);  // the reason last
// With what they are ranked by in front of the step, where that is neither the step nor its price.
std::vector<std::vector<std::string>> measured_rows(const std::vector<planner::RankedPlan>& plans, planner::Objective objective);
std::vector<std::vector<std::string>> exclusion_rows(const std::vector<planner::Exclusion>& excluded);  // alike but for numbers: one row
std::string margin_text(double gap);                                   // "more than 1.2 % ", before "faster"; empty: at all
std::string nothing_better(planner::Objective objective, double gap);  // "no plan takes more than 1.2 % less energy"
std::string proof_in_short(const planner::SearchResult& result, planner::Objective objective = planner::Objective::Step);

// "sequence 4096, global batch 64, bf16", and what else of the workload is not as usual: adapters, frozen parts, documents, the optimizer.
std::string workload_summary(const sim::ParallelPlan& plan);
// "data 2 x tensor 1 x pipeline 2, 1f1b, 4 microbatches of 1, zero 0, recompute none"
std::string plan_summary(const sim::ParallelPlan& plan);

}  // namespace cli
