#include "sim/cost/collective_prices.h"

#include <gtest/gtest.h>

#include "tests/sim/cost/random_plans.h"

namespace sim {
namespace {

constexpr GroupPlacement on_one_node(std::int32_t ranks) { return {ranks, ranks}; }

HardwareProfile round_numbers() {
  HardwareProfile hardware = testing::small_gpu();
  hardware.intra_node = {.type = "port", .latency = Seconds(1e-6), .bandwidth = BytesPerSecond(1e9)};
  hardware.inter_node = {.type = "uplink", .latency = Seconds(4e-6), .bandwidth = BytesPerSecond(1e9)};
  return hardware;
}

class Prices {
 public:
  explicit Prices(HardwareProfile profile, std::int32_t busy = 1)
      : cluster_{std::move(profile), 1, {}},
        kernels_(cluster_.hardware, Precision::Fp32, {busy}),
        collectives_(cluster_, kernels_, Precision::Fp32, {busy}) {}
  CollectivePrice price(CollectiveKind kind, std::int64_t payload, const GroupPlacement& group) {
    return collectives_.price({kind, group.ranks, Bytes(payload)}, group);
  }

 private:
  Cluster cluster_;
  KernelPrices kernels_;
  CollectivePrices collectives_;
};

TEST(ClosedForm, RingAllReduceInWholePhasesIsExact) {
  Prices prices(round_numbers());
  for (const std::int32_t n : {2, 3, 4, 8}) {
    const SimTime phase = to_sim_time(Seconds(1e-6)) + to_sim_time(Seconds(1e-3));  // latency, and 1 MB at 1 GB/s
    EXPECT_EQ(to_sim_time(prices.price(CollectiveKind::AllReduce, n * 1'000'000, on_one_node(n)).time), 2 * (n - 1) * phase);
    EXPECT_EQ(to_sim_time(prices.price(CollectiveKind::AllGather, n * 1'000'000, on_one_node(n)).time), (n - 1) * phase);
    EXPECT_EQ(to_sim_time(prices.price(CollectiveKind::ReduceScatter, n * 1'000'000, on_one_node(n)).time), (n - 1) * phase);
  }
}

// Four members on four nodes of a device each, two nodes a pod, four of whose bytes share a way out.
TEST(ClosedForm, WhatLeavesAPodSharesItsWay) {
  HardwareProfile hardware = round_numbers();
  hardware.devices_per_node = 1;
  hardware.inter_node.pods = {{.nodes = 2, .oversubscription = 4}};
  Prices prices(hardware);
  const GroupPlacement near{4, 1}, apart{4, 1, {2}};
  const auto slower = [&](CollectiveKind kind) {
    return prices.price(kind, 400'000'000, apart).time.count() / prices.price(kind, 400'000'000, near).time.count();
  };
  EXPECT_NEAR(slower(CollectiveKind::AllGather), 4.0 / 2, 1e-3);     // a ring: one member of two leaves
  EXPECT_NEAR(slower(CollectiveKind::AllToAll), 4 * 2.0 / 3, 1e-3);  // two of three others are away
  EXPECT_NEAR(slower(CollectiveKind::AllReduce), 4.0 / 2, 1e-3);
}

TEST(CollectivePrices, OneRankAloneSaysNothing) {
  Prices prices(round_numbers());
  EXPECT_EQ(prices.price(CollectiveKind::AllReduce, 1000, on_one_node(1)).time, Seconds(0));
}

TEST(CollectivePrices, AGroupAcrossNodesPaysTheLongWay) {
  Prices prices(round_numbers());
  const CollectivePrice near = prices.price(CollectiveKind::AllReduce, 4'000'000, on_one_node(4));
  const CollectivePrice far = prices.price(CollectiveKind::AllReduce, 4'000'000, {4, 2});
  EXPECT_EQ(near.uplink_time, Seconds(0));
  EXPECT_GT(far.uplink_time, Seconds(0));
  EXPECT_NEAR((far.time - near.time).count(), 6 * 3e-6, 1e-12);  // latency of six phases; the ring's edge is as fast as a port
}

TEST(CollectivePrices, OnlyCpusPayForTheSum) {
  HardwareProfile cpu = round_numbers();
  cpu.kind = DeviceKind::Cpu;
  cpu.memory_bandwidth = BytesPerSecond(1e9);
  Prices gpu_prices(round_numbers()), cpu_prices(cpu);
  const double gpu = gpu_prices.price(CollectiveKind::AllReduce, 2'000'000, on_one_node(2)).time.count();
  const double with_sum = cpu_prices.price(CollectiveKind::AllReduce, 2'000'000, on_one_node(2)).time.count();
  EXPECT_NEAR(with_sum - gpu, 2e-3, 1e-9);  // two pieces of 1 MB are read
  EXPECT_DOUBLE_EQ(cpu_prices.price(CollectiveKind::AllGather, 2'000'000, on_one_node(2)).time.count(),
                   gpu_prices.price(CollectiveKind::AllGather, 2'000'000, on_one_node(2)).time.count());
}

TEST(CollectivePrices, MeasuredPointsOfTheSameGroupSizeDecide) {
  HardwareProfile hardware = round_numbers();
  hardware.measured = {{.kernel = Kernel::AllReduce, .concurrent_ranks = 2, .shape = {1'000'000, 2}, .time = Seconds(5e-3)},
                       {.kernel = Kernel::AllReduce, .concurrent_ranks = 2, .shape = {4'000'000, 2}, .time = Seconds(18e-3)}};
  Prices prices(hardware, 2);
  EXPECT_NEAR(prices.price(CollectiveKind::AllReduce, 1'000'000, on_one_node(2)).time.count(), 5e-3, 1e-12);
  EXPECT_NEAR(prices.price(CollectiveKind::AllReduce, 4'000'000, on_one_node(2)).time.count(), 18e-3, 1e-12);
  const double between = prices.price(CollectiveKind::AllReduce, 2'000'000, on_one_node(2)).time.count();
  EXPECT_GT(between, 5e-3);
  EXPECT_LT(between, 18e-3);
  Prices unmeasured(round_numbers());
  EXPECT_EQ(prices.price(CollectiveKind::AllReduce, 1'000'000, on_one_node(4)).time,
            unmeasured.price(CollectiveKind::AllReduce, 1'000'000, on_one_node(4)).time);
}

}  // namespace
}  // namespace sim
