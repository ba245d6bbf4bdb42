#include <gmock/gmock.h>

#include "profiles.h"
#include "sim/cluster/cluster.h"

namespace sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(const Topology& topology, const std::vector<LinkId>& route) {
  std::vector<std::string> found;
  for (const LinkId link : route) found.push_back(topology.links()[link.position()].name);
  return found;
}

Seconds latency(const Topology& topology, Rank from, Rank to) {
  Seconds sum{};
  for (const LinkId link : topology.route(from, to)) sum += topology.links()[link.position()].latency;
  return sum;
}

TEST(Topology, LinksStandInTheirOrder) {
  const Topology topology(Cluster{two_per_node(), 3});
  ASSERT_EQ(topology.links().size(), 5u);
  EXPECT_EQ(topology.links()[2].name, "port 2");
  EXPECT_EQ(topology.links()[4].name, "uplink 1");
  EXPECT_EQ(topology.port(Rank(2)), LinkId(2));
  EXPECT_EQ(topology.uplink(NodeIndex(1)), LinkId(4));
  EXPECT_EQ(topology.cores(NodeIndex(0)), LinkId::none());
  EXPECT_EQ(topology.links()[0].bandwidth, BytesPerSecond(100e9));
  EXPECT_EQ(topology.links()[3].bandwidth, BytesPerSecond(10e9));
}

TEST(Topology, RoutesGoThroughTheSwitchAndTheFabric) {
  const Topology topology(Cluster{two_per_node(), 6});
  EXPECT_THAT(names(topology, topology.route(Rank(0), Rank(1))), ElementsAre("port 0", "port 1"));
  EXPECT_THAT(names(topology, topology.route(Rank(5), Rank(0))), ElementsAre("port 5", "uplink 2", "uplink 0", "port 0"));
  EXPECT_THAT(topology.route(Rank(3), Rank(3)), IsEmpty());
}

TEST(Topology, LatenciesOfARouteAreThatOfAMessage) {
  const HardwareProfile hardware = two_per_node();
  const Topology topology(Cluster{hardware, 4});
  EXPECT_EQ(latency(topology, Rank(0), Rank(1)), hardware.intra_node.latency);
  EXPECT_NEAR(latency(topology, Rank(0), Rank(2)).count(), hardware.inter_node.latency.count(), 1e-18);
}

TEST(Topology, CpuRanksShareTheirCores) {
  HardwareProfile hardware = two_per_node();
  hardware.kind = DeviceKind::Cpu;
  hardware.cores_per_node = 2;
  const Topology topology(Cluster{hardware, 4});
  ASSERT_EQ(topology.links().size(), 8u);
  EXPECT_EQ(topology.cores(NodeIndex(1)), LinkId(7));
  EXPECT_EQ(topology.links()[7].name, "cores 1");
  EXPECT_THAT(names(topology, topology.route(Rank(0), Rank(1))), ElementsAre("port 0", "port 1"));
}

TEST(Topology, OneDeviceNeedsNoRoute) { EXPECT_THAT(Topology(Cluster{two_per_node(), 1}).route(Rank(0), Rank(0)), IsEmpty()); }

TEST(Topology, HoldsThousands) {
  const Topology topology(Cluster{two_per_node(), 4096});
  EXPECT_THAT(names(topology, topology.route(Rank(17), Rank(4000))), ElementsAre("port 17", "uplink 8", "uplink 2000", "port 4000"));
}

}  // namespace
}  // namespace sim
