// The machines a plan runs on: equal nodes of equal devices, or groups of such, and the links between them.
//
//   device --port--> node switch --uplink--> fabric --uplink--> node switch --port--> device
#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <string>
#include <vector>

#include "sim/cluster/device_groups.h"
#include "sim/cluster/hardware_profile.h"
#include "sim/cluster/software_stack.h"
#include "sim/units/at.h"
#include "sim/units/index.h"

namespace sim {

struct Cluster {
  HardwareProfile hardware;
  std::int32_t devices = 1;               // = ranks
  SoftwareStack software = {};            // what runs on it; without a name: plain
  std::vector<DeviceGroup> groups = {};   // of devices that are not alike, with shares; `hardware` is the least of them. Else none
  std::int32_t devices_per_node() const;  // at most `devices`
  std::int32_t nodes() const;
  std::int32_t devices_per_host() const;  // of one machine, which a launcher calls a node
  std::int32_t hosts() const;
  NodeIndex node_of(Rank rank) const;
};

// Where links join several machines (NVL72), devices take as few such domains as hold them, and whole machines of each, evenly: 256 of 72 are four
// times 64. The network of a domain shrinks with it.
void deal_out(HardwareProfile& hardware, std::int32_t devices);

// What its program keeps in memory: as `software` says, or the worker.
const SoftwareStack& habits_of(const Cluster& cluster);
bool is_worker_on_gpu(const Cluster& cluster);  // whose memory is the worker's, with kernels of a GPU

// Of a GPU whose software is named: what a process may have, the driver keeps the rest; and what tensors may take of that, beside its context and libraries.
Bytes process_memory(const Cluster& cluster);
Bytes usable_memory(const Cluster& cluster);

// --cluster: a cluster file ("format": "meshwright.cluster/1": hardware + devices, software), or a hardware profile with --devices N. GPUs of
// which the file does not say what runs on them: profile "meshwright".
struct DeviceCount {
  std::int32_t value = 0;
};  // 0: not given
Cluster load_cluster(const std::string& path_or_name, DeviceCount devices);
bool says_devices(const std::string& path_or_name);  // likewise: whether it is a cluster file
Json to_json(const Cluster& cluster);
Cluster cluster_from_json(const Json& json, const std::string& file);

// Links of the cluster as a graph (Boost.Graph); routes by shortest path. Link ids are dense and in a fixed order:
// port of device r is r; uplink of node n is devices + n; cores of node n (CPU) are devices + nodes + n.
// The latencies along a route add up to that of a message in the profile.
struct Link {
  std::string name;            // "port 3", "uplink 0", "cores 0"
  BytesPerSecond bandwidth{};  // unused for cores
  Seconds latency{};
};

class Topology {
 public:
  explicit Topology(const Cluster& cluster);
  const std::vector<Link>& links() const { return links_; }
  LinkId port(Rank rank) const;
  LinkId uplink(NodeIndex node) const;
  LinkId cores(NodeIndex node) const;                   // none() unless the devices share cores
  std::vector<LinkId> route(Rank from, Rank to) const;  // in the order of travel; empty to oneself

 private:
  struct Edge {
    LinkId link;
  };
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property, Edge>;
  std::size_t fabric() const { return count_of(num_devices_ + num_nodes_); }
  void find_paths();

  std::int32_t num_devices_, num_nodes_;
  bool shares_cores_;
  Graph graph_;                  // vertices: devices, then node switches, then the fabric
  std::vector<std::size_t> up_;  // next vertex on the way to the fabric
  std::vector<Link> links_;
};

}  // namespace sim
