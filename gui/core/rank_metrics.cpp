#include "gui/core/rank_metrics.h"

#include "gui/core/simulated_plan.h"
#include "sim/timeline/bubble.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

double shareOfStep(const SimulatedPlan& simulated, sim::SimTime time) {
  return static_cast<double>(time.count()) / static_cast<double>(simulated.result.step_time.count());
}
const sim::IdleTime& idleOf(const SimulatedPlan& simulated, sim::Rank rank) { return simulated.idle[deviceOf(simulated, rank).position()]; }

template <sim::IdleCause cause>
double shareOfCause(const SimulatedPlan& simulated, const ClusterLoad&, sim::Rank rank) {
  return shareOfStep(simulated, idleOf(simulated, rank).of(cause));
}
double computing(const SimulatedPlan& simulated, const ClusterLoad&, sim::Rank rank) {
  return shareOfStep(simulated, idleOf(simulated, rank).computing);
}
double idle(const SimulatedPlan& simulated, const ClusterLoad&, sim::Rank rank) {
  return shareOfStep(simulated, idleOf(simulated, rank).idle());
}
double peakMemory(const SimulatedPlan& simulated, const ClusterLoad&, sim::Rank rank) {
  return static_cast<double>(simulated.result.devices[deviceOf(simulated, rank).position()].peak_memory.value());
}
double portLoad(const SimulatedPlan&, const ClusterLoad& load, sim::Rank rank) { return load.port[rank.position()]; }
double uplinkLoad(const SimulatedPlan& simulated, const ClusterLoad& load, sim::Rank rank) {
  return load.uplink[simulated.plan.cluster.node_of(rank).position()];
}

std::string percentText(double share) { return sim::percent(share); }
std::string bytesText(double bytes) { return sim::to_text(sim::Bytes(static_cast<std::int64_t>(bytes))); }

constexpr RankMetric kMetrics[] = {
    {"computing", computing, percentText},
    {"idle", idle, percentText},
    {"warm-up", shareOfCause<sim::IdleCause::WarmUp>, percentText},
    {"drain", shareOfCause<sim::IdleCause::Drain>, percentText},
    {"imbalance", shareOfCause<sim::IdleCause::Imbalance>, percentText},
    {"exposed communication", shareOfCause<sim::IdleCause::ExposedCommunication>, percentText},
    {"dependency wait", shareOfCause<sim::IdleCause::DependencyWait>, percentText},
    {"peak memory", peakMemory, bytesText},
    {"load of the port", portLoad, percentText},
    {"load of the node's uplink", uplinkLoad, percentText},
};

}  // namespace

std::span<const RankMetric> allRankMetrics() { return kMetrics; }

std::vector<double> valuesOf(const RankMetric& metric, const SimulatedPlan& simulated, const ClusterLoad& load) {
  std::vector<double> values;
  for (sim::Rank rank(0); rank.value() < simulated.plan.mesh.ranks(); ++rank) values.push_back(metric.value(simulated, load, rank));
  return values;
}

}  // namespace gui
