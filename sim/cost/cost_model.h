// The time of a task: a measured point if the profile has one of that shape, else a model fitted to the measured
// points, else the roofline of the data sheet. Collectives: the cheapest algorithm of the table, priced on its links.
// Concrete: there is one cost model.
#pragma once

#include <array>
#include <memory>

#include "sim/plan/parallel_plan.h"
#include "sim/task_graph/task_graph.h"
#include "sim/units/sim_time.h"

namespace sim {

// A share is a whole number of 2^-20, so that the shares of equal ranks add up exactly, folded or not.
constexpr double quantized_share(double share) {
  constexpr double kUnits = 1 << 20;
  return static_cast<double>(static_cast<std::int64_t>(share * kUnits)) / kUnits;
}

struct LinkUse {
  LinkId link;
  double share = 0;  // of the link's capacity that the task takes while it runs at full speed: of one rank in (0, 1],
                     // times the ranks on this link that the task stands for
};
struct TaskCost {
  SimTime duration{};  // when it has its links for itself
  SimTime issue{};     // of the host, which issues the tasks of a device one after another
  std::array<LinkUse, 4> uses{};
  std::uint8_t num_uses = 0;
  bool drains = false;  // the host waits for its end before it issues what follows
};

class CostModel {
 public:
  CostModel(const ModelGraph& model, const ParallelPlan& plan);  // both must outlive it
  ~CostModel();
  // Equal tasks are priced once and then looked up; the reference stays valid. One model a thread, and one graph a model.
  const TaskCost& cost(const Task& task, const TaskGraph& graph) const;
  TaskCost price(const Task& task, const TaskGraph& graph) const;  // the same, kept nowhere: for who asks once
  std::int32_t num_links() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sim
