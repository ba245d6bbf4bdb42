#include "sim/cluster/machine_cluster.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"

namespace sim {
namespace {

using testing::HasSubstr;

std::vector<MachineFacts> all_facts() {
  std::vector<MachineFacts> facts;
  for (const char* file : {"topo.txt", "nccl.xml", "all_reduce_perf.txt", "ibstat.txt", "lspci.txt"})
    facts.push_back(read_machine_facts(std::string("tests/sim/cluster/machines/") + file));
  return facts;
}

std::string refusal(const std::string& hardware, const std::vector<MachineFacts>& facts) {
  try {
    describe_cluster(load_hardware_profile(hardware), facts, NodeCount{1});
  } catch (const InputError& error) {
    std::string all;
    for (const Violation& one : error.violations()) all += one.where + ": " + one.problem + "\n";
    return all;
  }
  return "";
}

TEST(MachineCluster, ToolsAddUp) {
  const DescribedCluster described = describe_cluster(load_hardware_profile("a100-80gb-sxm"), all_facts(), NodeCount{8});
  const HardwareProfile& hardware = described.cluster.hardware;
  EXPECT_EQ(described.cluster.devices, 32);
  EXPECT_EQ(hardware.devices_per_node, 4);
  EXPECT_DOUBLE_EQ(hardware.intra_node.bandwidth.value(), 214.46e9);
  EXPECT_EQ(hardware.inter_node.lanes, 2);
  EXPECT_NEAR(hardware.inter_node.bandwidth.value(), 50e9 * hardware.kernels->network_share, 1);  // of two of eight adapters
  EXPECT_NEAR(hardware.inter_node.peak_bandwidth.value(), 50e9, 1);
}

// A bus between nodes says what share of the sold rate is reached, which is what prices it.
TEST(MachineCluster, AMeasuredNetworkIsAShareOfWhatIsSold) {
  MachineFacts facts;
  facts.file = "f", facts.measured = MeasuredBus{.bandwidth = BytesPerSecond(100e9), .ranks = 16, .hosts = 2};
  const HardwareProfile hardware = describe_cluster(load_hardware_profile("a100-80gb-sxm"), {facts}, NodeCount{2}).cluster.hardware;
  EXPECT_DOUBLE_EQ(hardware.kernels->network_share, 0.5);
  EXPECT_EQ(hardware_profile_from_json(to_json(hardware), "f").inter_node.bandwidth, BytesPerSecond(100e9));
}

TEST(MachineCluster, WhatIsAsTheProfileSaysChangesNothing) {
  MachineFacts facts;
  facts.file = "f", facts.devices = 8, facts.nvlinks = 12, facts.most_nvlinks = 12;
  EXPECT_TRUE(describe_cluster(load_hardware_profile("a100-80gb-sxm"), {facts}, NodeCount{1}).taken.empty());
}

TEST(MachineCluster, EveryContradictionIsNamed) {
  std::vector<MachineFacts> facts = all_facts();
  facts[1].devices = 8;
  facts[3].adapter_speed = BytesPerSecond(50e9);
  const std::string said = refusal("h100-80gb-sxm", facts);
  EXPECT_THAT(said, HasSubstr("devices a node: tests/sim/cluster/machines/topo.txt says 4, tests/sim/cluster/machines/nccl.xml says 8"));
  EXPECT_THAT(said, HasSubstr("speed of an adapter"));
  EXPECT_THAT(said, HasSubstr("A100-SXM4-80GB, the hardware profile is h100-80gb-sxm"));
}

TEST(MachineCluster, UnevenLinksAreRefused) {
  MachineFacts facts;
  facts.file = "f", facts.devices = 8, facts.nvlinks = 1, facts.most_nvlinks = 2;
  EXPECT_THAT(refusal("v100-32gb-sxm2", {facts}), HasSubstr("some devices have 1 links to another and some 2"));
}

TEST(MachineCluster, NoNvlinkIsNoSxm) {
  MachineFacts facts;
  facts.file = "f", facts.devices = 8, facts.nvlinks = 0, facts.most_nvlinks = 0;
  EXPECT_THAT(refusal("a100-80gb-sxm", {facts}), HasSubstr("shows no NVLink"));
}

}  // namespace
}  // namespace sim
