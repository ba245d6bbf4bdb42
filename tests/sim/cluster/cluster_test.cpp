#include "sim/cluster/cluster.h"

#include <gtest/gtest.h>

#include "profiles.h"

namespace sim {
namespace {

TEST(Cluster, FillsNodesOneAfterAnother) {
  const Cluster cluster{two_per_node(), 5};
  EXPECT_EQ(cluster.nodes(), 3);
  EXPECT_EQ(cluster.devices_per_node(), 2);
  EXPECT_EQ(cluster.node_of(Rank(0)), NodeIndex(0));
  EXPECT_EQ(cluster.node_of(Rank(1)), NodeIndex(0));
  EXPECT_EQ(cluster.node_of(Rank(4)), NodeIndex(2));
}

TEST(Cluster, OneDeviceIsOneNode) {
  const Cluster cluster{two_per_node(), 1};
  EXPECT_EQ(cluster.nodes(), 1);
  EXPECT_EQ(cluster.devices_per_node(), 1);
}

TEST(Cluster, LinksMayJoinMachines) {
  const Cluster one = load_cluster("gb200-186gb", {72}), four = load_cluster("gb200-186gb", {256});
  EXPECT_EQ(one.nodes(), 1);
  EXPECT_EQ(one.hosts(), 18);
  EXPECT_EQ(four.nodes(), 4);
  EXPECT_EQ(four.devices_per_node(), 64);
  EXPECT_EQ(four.hosts(), 64);
  EXPECT_EQ(four.devices_per_host(), 4);
  EXPECT_DOUBLE_EQ(four.hardware.inter_node.bandwidth.value(), one.hardware.inter_node.bandwidth.value() * 64 / 72);
  EXPECT_EQ(load_cluster("gb200-186gb", {76}).devices_per_node(), 40);
}

TEST(Cluster, AProgramOnAGpuHasAContextBesideItsTensors) {
  Cluster cluster = load_cluster("a100-80gb-sxm", {8});
  EXPECT_EQ(cluster.software.name, "meshwright");
  cluster.software.context_gib = 2.5;
  EXPECT_EQ(process_memory(cluster), scaled(cluster.hardware.memory, 0.985)) << "the driver keeps the rest";
  EXPECT_EQ(usable_memory(cluster), Bytes(process_memory(cluster).value() - 5 * (std::int64_t{1} << 29)));
  cluster.software.context_gib = 0.3;  // a program that counts its tensors alone: driver and libraries are there all the same
  EXPECT_EQ(usable_memory(cluster), Bytes(process_memory(cluster).value() - (std::int64_t{2} << 30)));
  cluster.software.context_gib = 1000;
  EXPECT_EQ(usable_memory(cluster), Bytes(0));
  cluster.software = {};
  EXPECT_EQ(usable_memory(cluster), cluster.hardware.memory);
  EXPECT_EQ(process_memory(cluster), cluster.hardware.memory);
}

}  // namespace
}  // namespace sim
