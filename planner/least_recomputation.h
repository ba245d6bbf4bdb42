// The least that each pipeline stage computes again: so many of the first blocks of its parts that it fits, and no more.
#pragma once

#include <atomic>
#include <vector>

#include "planner/search.h"
#include "sim/cost/memory_interval.h"

namespace planner {

// Of a plan that computes all blocks again as a whole and fits so: a number for each stage, and the largest of them for all, which more programs can say.
// Empty where every stage needs all of its blocks. Simulates the plan as often as a number of blocks can be halved, and a few times more.
std::vector<sim::ParallelPlan> with_least_recomputed(const sim::ModelGraph& model, const sim::ParallelPlan& plan, const sim::Risk& risk);

// Of the ranks the first few with several stages that compute all blocks, or feed-forwards, again; what is fixed of it stays (changed_ranks.h).
void recompute_least(const SearchRequest& request, SearchResult& result, const std::atomic<bool>* cancel = nullptr);

}  // namespace planner
