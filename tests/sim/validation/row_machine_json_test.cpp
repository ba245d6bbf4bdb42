#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/sim/validation/rows.h"

namespace sim {
namespace {

HardwareProfile machine(const Json& hardware) { return describe(patched(valid_row(), {{"hardware", hardware}})).plan.cluster.hardware; }

TEST(RowMachine, LinksAreTheRows) {
  const HardwareProfile part = load_hardware_profile("a100-80gb-sxm");
  EXPECT_EQ(machine({{"inter_node", {{"Gbps_per_node", 400}}}}).inter_node.peak_bandwidth.value(), 50e9);
  const double half = machine({{"intra_node", {{"GBps_per_gpu", 300}}}}).intra_node.bandwidth.value();
  EXPECT_NEAR(half / part.intra_node.bandwidth.value(), 0.5, 0.01);
  EXPECT_EQ(machine({{"gpus_per_node", 4}}).devices_per_node, 4);
}

TEST(RowMachine, AnUnknownPartIsNamed) {
  EXPECT_THAT([] { machine({{"gpu", "H800"}}); }, testing::ThrowsMessage<InputError>(testing::HasSubstr("H800")));
}

}  // namespace
}  // namespace sim
