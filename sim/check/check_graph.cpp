// check_graph of checkers.h: all rules, those that need an order only where there is one.
#include <fmt/format.h>

#include <set>

#include "sim/check/checkers.h"
#include "sim/check/graph_rules.h"
#include "sim/units/at.h"

namespace sim {

void check_devices(const CheckedGraph& checked, Findings& findings) {
  const DeviceMesh& mesh = checked.plan.mesh;
  std::set<Rank> ranks;
  std::vector<std::int32_t> represented(count_of(mesh.pipeline), 0);
  for (const GraphDevice& device : checked.graph.devices()) {
    const bool exists = device.representative.exists() && device.representative.value() < mesh.ranks();
    if (!exists || mesh.coordinate(device.representative).stage != device.stage || !ranks.insert(device.representative).second)
      findings.add(fmt::format("rank {} stands on stage {}, or twice", device.representative.value(), device.stage.value()));
    else
      represented[device.stage.position()] += device.multiplicity;
  }
  for (std::size_t stage = 0; stage < represented.size(); ++stage)
    if (represented[stage] != mesh.copies() * mesh.tensor)
      findings.add(
          fmt::format("the devices of stage {} stand for {} ranks instead of {}", stage, represented[stage], mesh.copies() * mesh.tensor));
  if (static_cast<std::int32_t>(checked.graph.buckets().size()) != mesh.pipeline)
    findings.add(fmt::format("buckets of {} stages instead of {}", checked.graph.buckets().size(), mesh.pipeline));
}

std::vector<std::string> check_graph(const ModelGraph& model, const ParallelPlan& plan, const TaskGraph& graph) {
  const CheckedGraph checked{model, plan, graph};
  Findings findings;
  check_devices(checked, findings);
  if (!findings.none()) return std::move(findings).take();
  check_work(checked, findings);
  check_buckets(checked, findings);
  check_transfers(checked, findings);
  check_collectives(checked, findings);
  const TaskOrder order(graph, stream_order(plan));
  if (!order.circle().empty()) {
    findings.add(order.circle());
  } else {
    check_needs(checked, order, findings);
    check_needs_between_steps(checked, findings);
    check_gathers(checked, order, findings);
  }
  return std::move(findings).take();
}

}  // namespace sim
