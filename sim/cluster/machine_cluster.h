// Facts of a machine, from several tools, over a hardware profile that knows the device: the cluster that they describe.
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/cluster/machine_facts.h"

namespace sim {

struct NodeCount {
  std::int32_t value = 1;
};

struct DescribedCluster {
  Cluster cluster;
  std::vector<std::string> taken;  // what is another than in the profile, and who says so
};

// Throws InputError with every contradiction: between the tools, and of them with the profile's device.
//   devices a node, lanes and kind of the links within it, adapters and their speed    as the tools say
//   bandwidth that long messages reach     measured by nccl-tests (busbw of the largest), else the profile's share of the peak
//   latencies                              the profile's: a small collective of NCCL takes another algorithm than its large ones
DescribedCluster describe_cluster(const HardwareProfile& profile, const std::vector<MachineFacts>& facts, NodeCount nodes);

}  // namespace sim
