// The same question on fewer devices, too: how many is then a choice like any other. One search for each number, the largest first; what those before it
// reach spares most of the next.
#pragma once

#include <vector>

#include "planner/search.h"

namespace planner {

// As many as asked for; those that spare nodes leave; where fewer are asked for 3/4, 1/2, 3/8, ... of them in whole nodes, down to one; within a node
// 1/2, 1/4, ... Descending.
std::vector<std::int32_t> device_counts(const SearchRequest& request);

// As search() of each number, ranked together: ranks and gap hold for all of them, the front is that of the plans shown. The certificates follow each
// other in the order of device_counts().
SearchResult search_fewer(const SearchRequest& request, const Progress& progress = {}, const std::atomic<bool>* cancel = nullptr);

// search(), or search_fewer() where the request asks for fewer devices or for spare nodes; then search_orders().
SearchResult search_as_asked(const SearchRequest& request, const Progress& progress = {}, const std::atomic<bool>* cancel = nullptr);

}  // namespace planner
