#include <gmock/gmock.h>

#include "sim/clock/link_clock.h"
#include "tests/sim/clock/devices.h"

namespace sim {
namespace {

LinkClock links(Machine machine = a100_machine()) { return {a100(), plain_stack(), machine}; }

TEST(LinkClock, LongAllReduceReachesItsBandwidth) {
  const double time = links().collective(CollectiveKind::AllReduce, 1e9, {8, 1});
  EXPECT_NEAR(2 * 7.0 / 8 * 1e9 / time / 1e9, a100().profile.intra_node.bandwidth.value() / 1e9, 15);
}

TEST(LinkClock, ShortOnesCostTheirStart) {
  EXPECT_NEAR(links().collective(CollectiveKind::AllReduce, 1024, {8, 1}), a100().kernels.collective_start.count(), 15e-6);
}

TEST(LinkClock, GroupsThatLeaveTheNodeShareItsAdapters) {
  const Machine machine = a100_machine();
  const double whole_nodes = links(machine).collective(CollectiveKind::AllReduce, 1e9, {64, 1});
  const double one_a_node = links(machine).collective(CollectiveKind::AllReduce, 1e9, {8, 8});
  EXPECT_GT(one_a_node, 4 * whole_nodes);
}

// What a node is connected by is taken as it is said, at home over a line of 20 Mbit/s, too.
TEST(LinkClock, SlowNetworksAreAsSlowAsTheyAre) {
  Machine machine = a100_machine();
  const auto time = [&](double gbits) {
    machine.network_gbits = gbits;
    return links(machine).collective(CollectiveKind::AllReduce, 1e10, {64, 1});
  };
  EXPECT_NEAR(time(1) / time(100), 100, 2);
  EXPECT_NEAR(time(0.02) / time(1), 50, 0.1);
}

TEST(LinkClock, SaysWhatCarriesACollective) {
  const Machine machine = a100_machine();
  EXPECT_EQ(links(machine).algorithm(CollectiveKind::AllGather, {64, 1}), "ring");
  EXPECT_EQ(links(machine).algorithm(CollectiveKind::AllReduce, {8, 1}), "ring");
  EXPECT_EQ(links(machine).algorithm(CollectiveKind::AllReduce, {64, 1}), "ring in a node, tree between nodes");
  EXPECT_EQ(links(machine).algorithm(CollectiveKind::AllToAll, {64, 1}), "direct");
  EXPECT_EQ(LinkClock(load_device("h100-80gb-sxm"), plain_stack(), machine).algorithm(CollectiveKind::AllReduce, {8, 1}),
            "summed in the switch");
}

// github.com/NVIDIA/nccl/issues/1455, 8 H100: 365 to 370 GB/s of a ring; in the switch as much with 2 to 4 ranks, then 420, 440, 460, 480.
TEST(LinkClock, FewRanksGainNothingByTheSwitch) {
  const LinkClock h100(load_device("h100-80gb-sxm"), plain_stack(), a100_machine());
  const double ring = h100.link_rate();
  const auto gain = [&](double ranks) {
    return 2 * (ranks - 1) / ranks * 4e9 / h100.collective(CollectiveKind::AllReduce, 4e9, {ranks, 1}) / ring;
  };
  EXPECT_NEAR(gain(2), 1, 0.02);
  EXPECT_NEAR(gain(4), 1, 0.15);
  EXPECT_NEAR(gain(5), 420.0 / 368, 0.09);
  EXPECT_NEAR(gain(6), 440.0 / 368, 0.08);
  EXPECT_NEAR(gain(7), 460.0 / 368, 0.06);
  EXPECT_NEAR(gain(8), 480.0 / 368, 0.06);
  EXPECT_EQ(h100.algorithm(CollectiveKind::AllReduce, {2, 1}), "ring");
}

// DGX A100, 8 adapters of 200 Gbit/s: "limited to ~110 GB/s AlgBw" by the chain inside (github.com/NVIDIA/nccl/issues/320); without, the adapters limit a ring.
TEST(LinkClock, SwitchesBetweenNodesSum) {
  Device device = a100();
  Machine machine = a100_machine();
  machine.network_gbits = 1600;
  const auto bandwidth = [&](double payload) {
    return payload / LinkClock(device, plain_stack(), machine).collective(CollectiveKind::AllReduce, payload, {64, 1}) / 1e9;
  };
  const double rings = bandwidth(8e9);
  device.profile.inter_node.switch_sums = true;
  EXPECT_NEAR(bandwidth(8e9), 110, 10);
  EXPECT_GT(bandwidth(8e9), rings);
  const LinkClock sums(device, plain_stack(), machine);
  EXPECT_EQ(sums.algorithm(CollectiveKind::AllReduce, {64, 1}), "summed in the switches");
  EXPECT_EQ(sums.algorithm(CollectiveKind::AllGather, {64, 1}), "ring") << "nothing is summed";
  EXPECT_EQ(sums.algorithm(CollectiveKind::AllReduce, {8, 1}), "ring") << "inside a node";
}

TEST(LinkClock, NothingToDoCostsNothing) {
  EXPECT_EQ(links().collective(CollectiveKind::AllReduce, 1e9, {1, 1}), 0);
  EXPECT_EQ(links().all_to_all(0, {8, 1}), 0);
}

TEST(LinkClock, TransfersOutOfTheNodeAreSlower) { EXPECT_GT(links().transfer(1e8, {2, 8}), links().transfer(1e8, {2, 1})); }

TEST(LinkClock, GroupsOnACubeMeshHaveTheLinksBetweenThem) {
  Machine machine = a100_machine();
  machine.link_gbytes = 300;
  const Device v100 = load_device("v100-32gb-sxm2");
  const auto bandwidth = [&](double ranks) {
    const double time = LinkClock(v100, plain_stack(), machine).collective(CollectiveKind::AllReduce, 1e9, {ranks, 1});
    return 2 * (ranks - 1) / ranks * 1e9 / time / 1e9;
  };
  EXPECT_NEAR(bandwidth(2), 22.6, 1);
  EXPECT_NEAR(bandwidth(4), 85.4, 4);
  EXPECT_NEAR(bandwidth(8), 134.5, 8);
}

TEST(LinkClock, RanksOnPcieShareTheBridgesOfTheHost) {
  const Device card = load_device("a100-80gb-pcie");
  const auto time = [&](double ranks) {
    return LinkClock(card, plain_stack(), a100_machine()).collective(CollectiveKind::AllGather, 1e9, {ranks, 1});
  };
  EXPECT_NEAR(time(4), 0.75 * 1e9 / 20.5e9, 1e-3);
  EXPECT_NEAR(time(8), 0.875 * 1e9 / 12.4e9, 1e-3);
}

TEST(LinkClock, CopiesBehindTheDoorSaveTheNetwork) {
  const Machine machine = a100_machine();
  const auto time = [&](const LinkClock::Copies& copies) { return links(machine).all_to_all(1e9, {64, 1}, copies); };
  EXPECT_LT(time({32, 0.75}), 0.4 * time({})) << "32 copies meet 8 nodes";
  EXPECT_GT(time({32, 0.3}), time({32, 0.75}));
  EXPECT_LT(time({32, 0.75, 256}), 0.5 * time({32, 0.75})) << "32 neighbors of 256 experts on 8 nodes live on two";
}

// Eight copies to eight ranks by chance meet 8 (1 - (7/8)^8) of them: 5.25.
TEST(LinkClock, CopiesForOneRankCrossItsLinksOnce) {
  const auto time = [](double bytes, const LinkClock::Copies& copies) {
    return links().all_to_all(bytes, {8, 1}, copies) - links().all_to_all(1, {8, 1});
  };
  EXPECT_NEAR(time(1e9, {8, 0.9}) / time(1e9, {}), 5.2512 / 8, 0.01);
  EXPECT_NEAR(time(1e9, {8, 0.9, 64}) / time(1e9, {}), (1 + 7.0 / 8) / 8, 0.01) << "eight neighbors, eight experts a rank";
}

TEST(LinkClock, SlotsTravelEach) {
  SoftwareStack stack = plain_stack();
  ExpertForm form{.experts = 64, .topk = 4, .forced_balance = true};
  EXPECT_EQ(token_copies(form, stack, 0.9).each, 4);
  EXPECT_EQ(token_copies(form, stack, 0.9).in_turn, 0);
  stack.balances_in_turn = true;
  EXPECT_EQ(token_copies(form, stack, 0.9).in_turn, 64);
  form.dispatch = ExpertDispatch::Padded;
  EXPECT_EQ(token_copies(form, stack, 0.9).once, 0);
}

// Four nodes of eight a pod, seven of whose bytes share a way out of it.
class OversubscribedPods : public ::testing::Test {
 protected:
  OversubscribedPods() {
    Device device = a100();
    device.profile.inter_node.pods = {{.nodes = 4, .oversubscription = 7}, {.nodes = 64, .oversubscription = 21}};
    clock_.emplace(device, plain_stack(), a100_machine());
  }
  double ring(double in_pod, double in_outer = 0) const {
    return clock_->collective(CollectiveKind::AllGather, 1e9, {.ranks = 8, .stride = 8, .in_pods = {in_pod, in_outer}});
  }
  std::optional<LinkClock> clock_;
};

TEST_F(OversubscribedPods, ARingLeavesEachPodOnce) {
  EXPECT_DOUBLE_EQ(ring(8), ring(0));                             // within one
  EXPECT_NEAR((ring(4) - ring(0)) / ring(0), 7.0 / 4 - 1, 0.02);  // four members share what seven times fewer adapters carry
  EXPECT_NEAR((ring(1) - ring(0)) / ring(0), 7.0 - 1, 0.05);
}

TEST_F(OversubscribedPods, TheSlowestLevelCounts) {
  EXPECT_DOUBLE_EQ(ring(1, 8), ring(1));  // all in one of the larger pods
  EXPECT_NEAR((ring(4, 4) - ring(0)) / ring(0), 21.0 / 4 - 1, 0.05);
  EXPECT_DOUBLE_EQ(ring(1, 4), ring(1)) << "a ring that leaves small pods seven times slower, and large ones 21 / 4 times";
  const RankGroup ring_of_keys{.ranks = 8, .stride = 8, .in_pods = {4, 4}};
  EXPECT_NEAR(clock_->hop_between_pods(1e9, ring_of_keys) / clock_->transfer(1e9, {.ranks = 2, .stride = 8}), 21.0 / 4, 0.1);
}

TEST_F(OversubscribedPods, TransfersAndAllToAllsTakeTheirShare) {
  const RankGroup inside{.ranks = 2, .stride = 8, .in_pods = {2}}, across{.ranks = 2, .stride = 32, .in_pods = {1}};
  EXPECT_NEAR(clock_->transfer(1e9, across) / clock_->transfer(1e9, inside), 7, 0.1);
  const RankGroup near{.ranks = 8, .stride = 8}, apart{.ranks = 8, .stride = 8, .in_pods = {4}};
  EXPECT_NEAR(clock_->all_to_all(1e9, apart) / clock_->all_to_all(1e9, near), 7 * 4.0 / 7,
              0.1);  // four of seven others are in the other pod
}

}  // namespace
}  // namespace sim
