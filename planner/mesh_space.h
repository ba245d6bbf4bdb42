// The meshes worth judging for a request: data x context x tensor x pipeline = devices, with expert degrees and HSDP's replicas.
//
// Every divisor of the devices that the model allows (constraints.h), but:
//   C > 1      less than kLeastContextTokens tokens a rank: its kernels are empty, and exchanges are all there is
//   E > 1      divides copies and experts; no replicas then: experts are not cut over them
//   replicas   those whose shards fill a node; others neither spare the links between nodes nor that memory
//   T          beyond a node
// An axis that is fixed is taken at its word.
#pragma once

#include <cstdint>
#include <vector>

#include "planner/exclusion.h"
#include "planner/fixed_axes.h"
#include "planner/search.h"

namespace planner {

inline constexpr std::int64_t kLeastContextTokens = 4096;

struct MeshSpace {
  bool possible = false;
  std::vector<sim::DeviceMesh> meshes;  // if none is possible the one that was asked for: what else is wrong with it is told too
  std::vector<Exclusion> excluded;
};

MeshSpace enumerate_meshes(const SearchRequest& request, const FixedAxes& fixed);

}  // namespace planner
