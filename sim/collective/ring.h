// Ring: each rank sends one chunk of ceil(payload / n) to its neighbor in every phase. Few bytes, many phases.
// Patarasuk and Yuan, "Bandwidth Optimal All-reduce Algorithms for Clusters of Workstations", JPDC 2009.
//
//   reduce-scatter  n-1 phases, each sums what arrived with the own chunk      all-gather  n-1 phases
//   all-reduce      both: 2(n-1) phases, 2(n-1)/n of the payload on the wire
#pragma once

#include "sim/collective/collective.h"

namespace sim {
extern const CollectiveAlgorithm kRingAlgorithm;
}
