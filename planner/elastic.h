// The same training on fewer and fewer nodes: the best plan of each number, for a run that goes on with what is left of a cluster. Model, global batch,
// sequence, numbers and optimizer are the request's in all of them, so that one takes over from another: sim::differences() has nothing of the training.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "planner/search.h"

namespace planner {

struct NodeRange {
  std::int32_t most = 1, least = 1;
};
// "16..8", of at most what the cluster has; a violation and nothing else.
std::optional<NodeRange> node_range(const std::string& text, const sim::Cluster& cluster, std::vector<sim::Violation>& violations);

struct ElasticPlan {
  std::int32_t nodes = 1;
  std::optional<RankedPlan> best;        // none: no plan is feasible, or none was found before the end
  std::optional<double> gap;             // as of SearchResult
  std::string proof;                     // likewise
  std::optional<std::int32_t> rather{};  // on so many nodes, which are fewer, the step is shorter: the others had better idle
};

// Answers the question of one number of nodes, as search(); how many numbers are left, this one among them, is what a budget is shared by.
using AskNodes = std::function<SearchResult(const SearchRequest&, std::int32_t left)>;
// One for each number, the most nodes first. Those that `cancel` kept from being asked are left out.
std::vector<ElasticPlan> search_elastic(const SearchRequest& request, NodeRange nodes, const AskNodes& ask,
                                        const std::atomic<bool>* cancel = nullptr);

}  // namespace planner
