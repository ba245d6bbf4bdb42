// What the tasks of each device cost, and what they take: of the plan; where devices are not alike and have shares of the batch, of each group by itself. The
// graph of a group is the plan's, task by task, with what its samples send and compute.
#pragma once

#include <memory>
#include <vector>

#include "sim/cost/cost_model.h"
#include "sim/cost/memory_model.h"

namespace sim {

struct RankModel {
  RankModel(const ModelGraph& model, const ParallelPlan& its_plan, const TaskGraph& its_graph)
      : plan(its_plan), graph(its_graph), costs(model, its_plan), memory(model, its_plan) {}
  const ParallelPlan& plan;
  const TaskGraph& graph;
  CostModel costs;
  MemoryModel memory;
};

class RankModels {
 public:
  RankModels(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph);  // all must outlive it
  ~RankModels();
  const RankModel& of(DeviceId device) const { return *of_device_[device.position()]; }

 private:
  struct Group;
  std::vector<std::unique_ptr<Group>> groups_;
  std::unique_ptr<RankModel> of_all_;
  std::vector<const RankModel*> of_device_;
};

}  // namespace sim
