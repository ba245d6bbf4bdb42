// What is not as the profile says on some day: a rank that computes slowly, a link that carries less. Plain data; simulate() takes it.
// A disturbed step is simulated with only those ranks unfolded that can notice a difference.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"

namespace sim {

struct SlowRank {
  Rank rank;
  double factor = 1;  // its computation takes that many times as long
};
struct SlowLink {
  LinkId link;          // as Topology numbers them
  double capacity = 1;  // share of the bandwidth that is left, above 0
};
struct Disturbances {
  std::vector<SlowRank> ranks;
  std::vector<SlowLink> links;
  bool none() const { return ranks.empty() && links.empty(); }
};

// "rank 5 computes 1.5 times as long (stage 0, node 0)", "uplink 3 carries 50 % of its bandwidth"
std::vector<std::string> to_text(const Disturbances& disturbances, const ParallelPlan& plan);

// The coarsest fold under which a step, disturbed or not, is what it is with every rank by itself: the data and tensor indices that share a
// node with what is disturbed stand apart, and replicas whose devices are not those of most (Cluster::groups).
Fold fold_of(const Disturbances& disturbances, const ParallelPlan& plan);

// The costs of computation on slow ranks.
class Slowdown {
 public:
  Slowdown(const TaskGraph& graph, const Disturbances& disturbances);
  // `cost` itself, unless the task computes on a slow rank; the reference stays valid.
  const TaskCost& cost(const Task& task, const TaskCost& cost);

 private:
  std::vector<double> factors_;                           // by device; empty: none is slow
  std::unordered_map<const TaskCost*, TaskCost> slowed_;  // looked up, never walked through; costs are kept by device, so one factor each
};

}  // namespace sim
