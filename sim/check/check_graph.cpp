// check_graph of checkers.h: all rules, those that need an order only where there is one.
#include <fmt/format.h>

#include <set>

#include "sim/check/checkers.h"
#include "sim/check/graph_rules.h"

namespace sim {

void check_devices(const CheckedGraph& checked, Findings& findings) {
  const DeviceMesh& mesh = checked.plan.mesh;
  const auto devices = checked.graph.devices();
  const bool right_number = checked.is_unfolded() || static_cast<std::int32_t>(devices.size()) == mesh.pipeline;
  if (!right_number)
    findings.add(fmt::format("{} devices are neither the {} ranks nor the {} stages", devices.size(), mesh.ranks(), mesh.pipeline));
  std::set<Rank> ranks;
  for (const GraphDevice& device : devices) {
    const bool exists = device.representative.exists() && device.representative.value() < mesh.ranks();
    if (!exists || mesh.coordinate(device.representative).stage != device.stage || !ranks.insert(device.representative).second)
      findings.add(fmt::format("rank {} stands on stage {}, or twice", device.representative.value(), device.stage.value()));
    const std::int32_t expected = checked.is_unfolded() ? 1 : mesh.data * mesh.tensor;
    if (device.multiplicity != expected)
      findings.add(fmt::format("rank {} stands for {} ranks instead of {}", device.representative.value(), device.multiplicity, expected));
  }
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
  const TaskOrder order(graph,
                        plan.cluster.hardware.overlaps_communication ? TaskOrder::Streams::Overlapping : TaskOrder::Streams::InOrder);
  if (!order.circle().empty()) {
    findings.add(order.circle());
  } else {
    check_needs(checked, order, findings);
    check_gathers(checked, order, findings);
  }
  return std::move(findings).take();
}

}  // namespace sim
