#include "sim/engine/rank_models.h"

#include "sim/plan/group_shares.h"
#include "sim/units/at.h"

namespace sim {

struct RankModels::Group {
  Group(const ParallelPlan& whole, const DeviceGroup& group, const Fold& fold)
      : plan(as_of_group(whole, group)), model(make_model_graph(plan)), graph(lower(model, plan, fold)), models(model, plan, graph) {}
  ParallelPlan plan;
  ModelGraph model;
  TaskGraph graph;
  RankModel models;
};

RankModels::RankModels(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph) {
  const std::vector<DeviceGroup>& groups = plan.cluster.groups;
  for (const DeviceGroup& group : groups) groups_.push_back(std::make_unique<Group>(plan, group, graph.fold()));
  if (groups.empty()) of_all_ = std::make_unique<RankModel>(model, plan, graph);
  for (const GraphDevice& device : graph.devices())
    of_device_.push_back(of_all_ ? of_all_.get()
                                 : &groups_[static_cast<std::size_t>(&group_of(groups, device.representative) - groups.data())]->models);
}

RankModels::~RankModels() = default;

}  // namespace sim
