#include "gui/core/cluster_load.h"

#include "gui/core/simulated_plan.h"
#include "sim/cost/cost_model.h"
#include "sim/cost/placement.h"
#include "sim/units/at.h"

namespace gui {
namespace {

struct RankLoad {  // picoseconds of a full link, per rank of a device
  double port = 0, uplink = 0;
};

std::vector<RankLoad> loadsByDevice(const SimulatedPlan& simulated) {
  const sim::CostModel costs(simulated.model, simulated.plan);
  const sim::Placement placement(simulated.plan);
  std::vector<RankLoad> loads(simulated.graph.devices().size());
  for (const sim::Task& task : simulated.graph.tasks()) {
    if (!sim::is_communication(task.key.operation)) continue;
    const sim::GraphDevice& device = simulated.graph.devices()[task.device.position()];
    const sim::TaskCost& cost = costs.cost(task, simulated.graph);
    for (std::size_t at = 0; at < cost.num_uses; ++at) {
      const double full = cost.uses[at].share * static_cast<double>(cost.duration.count());
      RankLoad& load = loads[task.device.position()];
      if (cost.uses[at].link == placement.port(device.representative)) load.port += full;
      if (cost.uses[at].link == placement.uplink(device.representative))
        load.uplink += full / placement.alike_on_node(device, simulated.graph.fold());
    }
  }
  return loads;
}

}  // namespace

sim::DeviceId deviceOf(const SimulatedPlan& simulated, sim::Rank rank) {
  return sim::device_of(simulated.graph.fold(), simulated.plan.mesh, rank);
}

ClusterLoad clusterLoad(const SimulatedPlan& simulated) {
  const std::vector<RankLoad> loads = loadsByDevice(simulated);
  const sim::Cluster& cluster = simulated.plan.cluster;
  const auto step = static_cast<double>(simulated.result.step_time.count());
  ClusterLoad load{{}, std::vector<double>(sim::count_of(cluster.nodes()))};
  for (sim::Rank rank(0); rank.value() < simulated.plan.mesh.ranks(); ++rank) {
    const RankLoad& own = loads[deviceOf(simulated, rank).position()];
    load.port.push_back(own.port / step);
    load.uplink[cluster.node_of(rank).position()] += own.uplink / step;
  }
  return load;
}

}  // namespace gui
