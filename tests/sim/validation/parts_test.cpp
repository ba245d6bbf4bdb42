#include <gmock/gmock.h>

#include <sstream>
#include <string>

#include "sim/cluster/hardware_profile.h"
#include "sim/validation/parts.h"

namespace sim {
namespace {

TEST(Parts, EachHasAProfile) {
  std::istringstream names(known_parts());
  for (std::string name; std::getline(names >> std::ws, name, ',');) EXPECT_NO_THROW(load_hardware_profile(profile_of_part(name))) << name;
}

TEST(Parts, UnknownOnesAreEmpty) {
  EXPECT_EQ(profile_of_part("TPU"), "");
  EXPECT_THAT(known_parts(), testing::HasSubstr("A800-80GB"));
}

}  // namespace
}  // namespace sim
