#include <gmock/gmock.h>

#include "sim/cluster/hardware_profile.h"
#include "sim/validation/parts.h"

namespace sim {
namespace {

TEST(Parts, EachHasAProfile) {
  for (const char* name : {"V100-SXM2-16GB", "A100-SXM4-40GB", "H100-SXM5-96GB-HBM2e", "B200-SXM-180GB", "RX-7900-XTX-24GB"})
    EXPECT_NO_THROW(load_hardware_profile(profile_of_part(name))) << name;
}

TEST(Parts, UnknownOnesAreEmpty) {
  EXPECT_EQ(profile_of_part("TPU"), "");
  EXPECT_THAT(known_parts(), testing::HasSubstr("A800-80GB"));
}

}  // namespace
}  // namespace sim
