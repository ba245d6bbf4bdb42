// The same question with a little more or less of what it is asked with: memory, network, devices, batch. Searched like the question itself, they say
// what each is worth (shadow prices).
#pragma once

#include <string>
#include <vector>

#include "planner/search.h"

namespace planner {

struct WhatIf {
  std::string words;  // "4 GiB more a device"
  SearchRequest request;
};

// Only those that the question has room for: no other network on one node, no node less than one. Searches of memory and network are
// never slower than that of the question itself.
std::vector<WhatIf> what_ifs(const SearchRequest& request);

// Seconds a token of a step: what answers of different batches are compared by.
sim::Seconds time_per_token(const RankedPlan& plan);

}  // namespace planner
