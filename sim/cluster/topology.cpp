#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/dijkstra_shortest_paths.hpp>
#include <boost/property_map/property_map.hpp>

#include "sim/cluster/cluster.h"
#include "sim/units/at.h"

namespace sim {
namespace {

// The latency of a message between two devices is what the profile says: the links on its way share it.
Seconds port_latency(const HardwareProfile& hardware) { return hardware.intra_node.latency / 2; }
Seconds uplink_latency(const HardwareProfile& hardware) {
  return std::max(Seconds{}, hardware.inter_node.latency - hardware.intra_node.latency) / 2;
}

}  // namespace

Topology::Topology(const Cluster& cluster)
    : num_devices_(cluster.devices), num_nodes_(cluster.nodes()), shares_cores_(cluster.hardware.cores_per_node > 0) {
  const HardwareProfile& hardware = cluster.hardware;
  for (std::int32_t rank = 0; rank < num_devices_; ++rank)
    links_.push_back({fmt::format("port {}", rank), hardware.intra_node.bandwidth, port_latency(hardware)});
  for (std::int32_t node = 0; node < num_nodes_; ++node)
    links_.push_back({fmt::format("uplink {}", node), hardware.inter_node.bandwidth, uplink_latency(hardware)});
  for (std::int32_t node = 0; shares_cores_ && node < num_nodes_; ++node) links_.push_back({fmt::format("cores {}", node), {}, {}});

  graph_ = Graph(fabric() + 1);
  const auto switch_of = [&](NodeIndex node) { return count_of(num_devices_) + node.position(); };
  for (Rank rank(0); rank < Rank(num_devices_); ++rank)
    boost::add_edge(rank.position(), switch_of(cluster.node_of(rank)), Edge{port(rank)}, graph_);
  for (NodeIndex node(0); node < NodeIndex(num_nodes_); ++node) boost::add_edge(switch_of(node), fabric(), Edge{uplink(node)}, graph_);
  find_paths();
}

// Shortest paths from the fabric to everything: the graph is a tree, so a route is two of them up to where they meet.
void Topology::find_paths() {
  const std::size_t count = boost::num_vertices(graph_);
  std::vector<std::int64_t> distance(count);
  up_.resize(count);
  const auto index = boost::get(boost::vertex_index, graph_);
  const auto length = boost::make_static_property_map<Graph::edge_descriptor>(std::int64_t{1});
  boost::dijkstra_shortest_paths(graph_, fabric(),
                                 boost::weight_map(length)
                                     .predecessor_map(boost::make_iterator_property_map(up_.begin(), index))
                                     .distance_map(boost::make_iterator_property_map(distance.begin(), index)));
}

LinkId Topology::port(Rank rank) const { return LinkId(rank.value()); }
LinkId Topology::uplink(NodeIndex node) const { return LinkId(num_devices_ + node.value()); }
LinkId Topology::cores(NodeIndex node) const { return shares_cores_ ? LinkId(num_devices_ + num_nodes_ + node.value()) : LinkId::none(); }

std::vector<LinkId> Topology::route(Rank from, Rank to) const {
  std::vector<LinkId> rising, falling;
  const auto climb = [&](std::size_t& at, std::vector<LinkId>& links) {
    links.push_back(graph_[boost::edge(at, up_[at], graph_).first].link);
    at = up_[at];
  };
  std::size_t a = from.position(), b = to.position();
  while (a != b) {  // both ends of a route are equally far from the fabric
    climb(a, rising);
    climb(b, falling);
  }
  rising.insert(rising.end(), falling.rbegin(), falling.rend());
  return rising;
}

}  // namespace sim
