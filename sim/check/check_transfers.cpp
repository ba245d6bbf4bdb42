#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "sim/check/graph_rules.h"

namespace sim {
namespace {

// The receive that a send must reach: on the next (backward: the previous) virtual stage, of the same data and tensor rank.
struct Partner {
  Rank rank;
  TaskKey key;
  auto operator<=>(const Partner&) const = default;
};

// What a stage found in a step: on to the next one, and of all of them back.
std::optional<Partner> stage_told(const CheckedGraph& checked, const Task& send) {
  MeshCoordinate at = checked.plan.mesh.coordinate(checked.graph.devices()[send.device.position()].representative);
  at.stage = StageIndex(send.key.stage.value() + (send.key.sequence == 0 ? 1 : -1));
  if (at.stage.value() < 0 || at.stage.value() >= checked.plan.mesh.pipeline) return std::nullopt;
  Partner partner{.rank = checked.plan.mesh.rank_of(at), .key = send.key};
  partner.key.operation = Operation::Receive;
  partner.key.stage = at.stage;
  return partner;
}

// What a source leaves goes to the reader that its number names, and comes back to who holds the encoder's last block.
std::optional<Partner> source_partner(const CheckedGraph& checked, const Task& send) {
  const ParallelPlan& plan = checked.plan;
  if (!plan.direct_source || send.key.sequence >= plan.mesh.pipeline) return std::nullopt;
  const bool forward = send.key.phase == Phase::Forward;
  MeshCoordinate at = plan.mesh.coordinate(checked.graph.devices()[send.device.position()].representative);
  for (StageIndex stage{0}; stage.value() < plan.mesh.pipeline; ++stage)
    if (forward ? stage.value() == send.key.sequence : plan.owns(stage, LayerIndex(static_cast<std::int32_t>(plan.model.encoder->layers))))
      at.stage = stage;
  const LayerRange range = plan.layers(at.stage, ChunkIndex(0));
  Partner partner{.rank = plan.mesh.rank_of(at), .key = send.key};
  partner.key.operation = Operation::Receive;
  partner.key.stage = at.stage;
  partner.key.layer = forward ? range.begin : LayerIndex(range.end.value() - 1);
  return partner;
}

std::optional<Partner> partner_of(const CheckedGraph& checked, const Task& send) {
  const ParallelPlan& plan = checked.plan;
  if (send.key.phase == Phase::Step) return stage_told(checked, send);
  if (send.key.sequence > 0) return source_partner(checked, send);
  const bool forward = send.key.phase == Phase::Forward;
  const std::int32_t next = plan.virtual_stage({send.key.stage, send.key.chunk}) + (forward ? 1 : -1);
  if (next < 0 || next >= plan.num_virtual_stages()) return std::nullopt;
  const ChunkSite owner = plan.site(next);
  if (owner.stage == send.key.stage) return std::nullopt;
  const LayerRange range = plan.layers(owner.stage, owner.chunk);
  Partner partner{.rank = {}, .key = send.key};
  partner.key.operation = Operation::Receive;
  partner.key.stage = owner.stage;
  partner.key.chunk = owner.chunk;
  partner.key.layer = range.begin == range.end ? LayerIndex::none() : forward ? range.begin : LayerIndex(range.end.value() - 1);
  MeshCoordinate at = plan.mesh.coordinate(checked.graph.devices()[send.device.position()].representative);
  at.stage = owner.stage;
  partner.rank = plan.mesh.rank_of(at);
  return partner;
}

Partner place_of(const CheckedGraph& checked, const Task& task) {
  return {checked.graph.devices()[task.device.position()].representative, task.key};
}

bool has_edge(const TaskGraph& graph, std::size_t from, std::size_t to) {
  const auto [begin, end] = boost::adjacent_vertices(from, graph.edges());
  return std::find(begin, end, to) != end;
}

}  // namespace

void check_transfers(const CheckedGraph& checked, Findings& findings) {
  const TaskGraph& graph = checked.graph;
  std::map<Partner, std::size_t> receives;
  for (std::size_t at = 0; at < graph.tasks().size(); ++at)
    if (graph.tasks()[at].key.operation == Operation::Receive) receives.emplace(place_of(checked, graph.tasks()[at]), at);
  for (std::size_t at = 0; at < graph.tasks().size(); ++at) {
    const Task& send = graph.tasks()[at];
    if (send.key.operation != Operation::Send) continue;
    const auto partner = partner_of(checked, send);
    const auto found = partner ? receives.find(*partner) : receives.end();
    if (found == receives.end()) {
      findings.add(fmt::format("nobody receives {}", name_of(graph, send)));
      continue;
    }
    const Task& receive = graph.tasks()[found->second];
    if (receive.payload != send.payload) findings.add(fmt::format("{} and its receive carry different bytes", name_of(graph, send)));
    if (!has_edge(graph, at, found->second)) findings.add(fmt::format("{} does not wait for its send", name_of(graph, receive)));
    if (send.peer != receive.device || receive.peer != send.device)
      findings.add(fmt::format("{} and its receive name other peers", name_of(graph, send)));
    receives.erase(found);
  }
  for (const auto& [place, at] : receives) findings.add(fmt::format("nobody sends what {} awaits", name_of(graph, graph.tasks()[at])));
}

}  // namespace sim
