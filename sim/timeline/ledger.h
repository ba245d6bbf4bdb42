// The collective ledger: what a rank should communicate in a step, from the graph, against what it did. Exact.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/timeline/trace.h"

namespace sim {

// The communication tasks of the rank, in issue order. A send or a receive is between two.
std::vector<LedgerEntry> predicted_ledger(const TaskGraph& graph, const ParallelPlan& plan, Rank rank);

std::string to_text(const LedgerEntry& entry);
// The first difference of any rank and step, in words.
std::optional<std::string> why_ledgers_differ(const TaskGraph& graph, const ParallelPlan& plan, const std::vector<RankTrace>& measured);

}  // namespace sim
