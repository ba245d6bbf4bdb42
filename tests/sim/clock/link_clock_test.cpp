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
  Machine machine = a100_machine();
  machine.gpus = 64;
  const double whole_nodes = links(machine).collective(CollectiveKind::AllReduce, 1e9, {64, 1});
  const double one_a_node = links(machine).collective(CollectiveKind::AllReduce, 1e9, {8, 8});
  EXPECT_GT(one_a_node, 4 * whole_nodes);
}

TEST(LinkClock, SaysWhatCarriesACollective) {
  Machine machine = a100_machine();
  machine.gpus = 64;
  EXPECT_EQ(links(machine).algorithm(CollectiveKind::AllGather, {64, 1}), "ring");
  EXPECT_EQ(links(machine).algorithm(CollectiveKind::AllReduce, {8, 1}), "ring");
  EXPECT_EQ(links(machine).algorithm(CollectiveKind::AllReduce, {64, 1}), "ring in a node, tree between nodes");
  EXPECT_EQ(links(machine).algorithm(CollectiveKind::AllToAll, {64, 1}), "direct");
  EXPECT_EQ(LinkClock(load_device("h100-80gb-sxm"), plain_stack(), machine).algorithm(CollectiveKind::AllReduce, {8, 1}),
            "summed in the switch");
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
  Machine machine = a100_machine();
  machine.gpus = 64;
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

TEST(LinkClock, OversubscriptionHalvesTheNetwork) {
  Machine machine = a100_machine();
  machine.gpus = 64;
  const double rate = links(machine).node_rate();
  machine.oversubscription = 2;
  machine.oversubscribed_above = 32;
  EXPECT_DOUBLE_EQ(links(machine).node_rate(), rate / 2);
}

}  // namespace
}  // namespace sim
