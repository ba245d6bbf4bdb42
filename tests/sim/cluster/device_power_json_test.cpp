#include <gmock/gmock.h>

#include "sim/cluster/hardware_profile.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

TEST(DevicePowerJson, ProfilesKeepIt) {
  const HardwareProfile profile = load_hardware_profile("h100-80gb-sxm");
  ASSERT_TRUE(profile.power);
  EXPECT_EQ(profile.power->load, Watts(700));
  EXPECT_EQ(hardware_profile_from_json(to_json(profile), "again").power->idle, profile.power->idle);
  EXPECT_EQ(to_json(*profile.power).dump(), to_json(*hardware_profile_from_json(to_json(profile), "again").power).dump());
}

TEST(DevicePowerJson, NeedsBothNumbersAndTheirSource) {
  const auto refused = [](const char* text) { EXPECT_THROW(device_power_from_json(Json::parse(text), "f"), InputError) << text; };
  refused(R"({"power": {"load": "700 W", "source": "x"}})");
  refused(R"({"power": {"load": "700 W", "idle": "145 W"}})");
  refused(R"({"power": {"load": "145 W", "idle": "700 W", "source": "x"}})");
  refused(R"({"power": {"load": 700, "idle": "145 W", "source": "x"}})");
  EXPECT_EQ(device_power_from_json(Json::parse(R"({"power": {"load": "1 kW", "idle": "145 W", "source": "x"}})"), "f").load, Watts(1000));
}

TEST(DevicePowerJson, EnergyIsOfBothTimes) {
  const DevicePower power{.load = Watts(700), .idle = Watts(100), .source = "x"};
  EXPECT_DOUBLE_EQ(energy(power, Seconds(10), Seconds(4)).value(), 4 * 700 + 6 * 100);
}

}  // namespace
}  // namespace sim
