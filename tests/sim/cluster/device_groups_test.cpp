#include "sim/cluster/device_groups.h"

#include <gmock/gmock.h>

namespace sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

std::vector<DeviceGroup> groups(std::vector<std::pair<std::string, std::int32_t>> named) {
  std::vector<DeviceGroup> all;
  for (const auto& [name, devices] : named) all.push_back({load_hardware_profile(name), devices});
  return all;
}

TEST(DeviceGroups, AlikeTheyAreWhatTheyWere) {
  const HardwareProfile alone = load_hardware_profile("h100-80gb-sxm");
  HardwareProfile twice = least_of(groups({{"h100-80gb-sxm", 8}, {"h100-80gb-sxm", 16}}));
  EXPECT_THAT(twice.source, HasSubstr("8 x h100-80gb-sxm, 16 x h100-80gb-sxm"));
  twice.name = alone.name, twice.source = alone.source, twice.sources = alone.sources;
  EXPECT_EQ(to_json(twice), to_json(alone));
}

// In whatever order they stand: products of an A100, memory of the smaller part, and no 8 bit, which the A100 has not.
TEST(DeviceGroups, TheSlowestDecidesAndTheSmallest) {
  const HardwareProfile a100 = load_hardware_profile("a100-40gb-sxm"), h100 = load_hardware_profile("h100-80gb-sxm");
  for (const auto& order :
       {groups({{"a100-40gb-sxm", 64}, {"h100-80gb-sxm", 64}}), groups({{"h100-80gb-sxm", 64}, {"a100-40gb-sxm", 64}})}) {
    const HardwareProfile least = least_of(order);
    EXPECT_EQ(least.memory, a100.memory);
    EXPECT_EQ(least.memory_bandwidth, std::min(a100.memory_bandwidth, h100.memory_bandwidth));
    EXPECT_EQ(least.peak, a100.peak);
    EXPECT_EQ(least.kernels->matrix_share, a100.kernels->matrix_share);
    EXPECT_EQ(least.kernels->fp8_peak, FlopsPerSecond{});
    EXPECT_EQ(least.intra_node.bandwidth, std::min(a100.intra_node.bandwidth, h100.intra_node.bandwidth));
    EXPECT_EQ(least.inter_node.peak_bandwidth, std::min(a100.inter_node.peak_bandwidth, h100.inter_node.peak_bandwidth));
    EXPECT_THAT(least.name, HasSubstr(" beside "));
  }
}

TEST(DeviceGroups, NumbersAreTheLeastWhoeverIsSlowest) {
  std::vector<DeviceGroup> two = groups({{"a100-80gb-sxm", 8}, {"h100-80gb-sxm", 8}});
  two[1].hardware.memory = Bytes(1'000'000);
  two[1].hardware.kernel_overhead = Seconds(1);
  two[1].hardware.handle_workspace = Bytes(std::int64_t{32} << 20);
  two[1].hardware.inter_node.peak_bandwidth = BytesPerSecond(1e9);
  const HardwareProfile least = least_of(two);
  EXPECT_EQ(least.memory, Bytes(1'000'000));
  EXPECT_EQ(least.kernel_overhead, Seconds(1));
  EXPECT_EQ(least.handle_workspace, Bytes(std::int64_t{32} << 20)) << "each has its own, and the larger fills first";
  EXPECT_EQ(least.inter_node.peak_bandwidth, BytesPerSecond(1e9));
  two[0].hardware.inter_node.switch_sums = true;
  EXPECT_FALSE(least_of(two).inter_node.switch_sums) << "a network sums where all of it does";
}

TEST(DeviceGroups, NodesAreWholeAndOfOneSize) {
  EXPECT_EQ(why_not_together(groups({{"a100-80gb-sxm", 8}, {"h100-80gb-sxm", 16}})), std::nullopt);
  EXPECT_THAT(why_not_together(groups({{"a100-80gb-sxm", 8}, {"h100-80gb-sxm", 12}})), Optional(HasSubstr("no whole nodes of 8")));
  EXPECT_THAT(why_not_together(groups({{"h100-80gb-sxm", 8}, {"gb200-186gb", 72}})), Optional(HasSubstr("devices a node")));
}

}  // namespace
}  // namespace sim
