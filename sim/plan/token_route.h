// How tokens travel to the ranks of their experts: a copy for each expert, or once to each node that holds one. Of prices, the host, and programs' words.
#pragma once

#include "sim/plan/parallel_plan.h"

namespace sim {

inline bool reaches_nodes_once(const ParallelPlan& plan) {
  const bool of_program = plan.token_dispatcher == TokenDispatcher::AsTheProgram && plan.cluster.software.dispatch_share > 0;
  return of_program || plan.token_dispatcher == TokenDispatcher::Hierarchical;
}

}  // namespace sim
