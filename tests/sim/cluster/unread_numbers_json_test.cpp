#include "sim/cluster/unread_numbers_json.h"

#include <gmock/gmock.h>

#include "sim/cluster/hardware_profile.h"
#include "sim/cluster/software_stack.h"
#include "sim/units/input_error.h"

namespace sim {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Json h100() {
  Json json = load_json_file("profiles/hardware/h100-80gb-sxm.json");
  json.erase("sources");
  return json;
}

template <class Read>
std::string told(const Json& json, Read read) {
  try {
    read(json, "f");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string told_of_hardware(const Json& json) { return told(json, hardware_profile_from_json); }
std::string told_of_software(const Json& json) { return told(json, software_stack_from_json); }

TEST(UnreadNumbers, AreRefusedBesideDescribedKernels) {
  Json json = h100();
  EXPECT_EQ(told_of_hardware(json), "");
  json["matrix_efficiency"] = 0.7;
  json["attention_efficiency"] = 0.3;
  json["inter_node"].update({{"latency", "1.5 us"}, {"bandwidth", "330 GB/s"}});
  json["kernels"]["fp4_share"] = 0.4;
  EXPECT_THAT(
      told_of_hardware(json),
      AllOf(HasSubstr("/matrix_efficiency: prices nothing"), HasSubstr("/attention_efficiency"), HasSubstr("/inter_node/latency"),
            HasSubstr("/inter_node/bandwidth: prices nothing beside block kernels, whose network_share of peak_bandwidth does; remove it"),
            HasSubstr("/kernels/fp4_share: prices nothing without fp4_peak")));
  json["format"] = "meshwright.hardware/1";
  EXPECT_EQ(told_of_hardware(json), "") << "plans from before hold such profiles";
}

TEST(UnreadNumbers, OfEightBitsNeedTheirPeak) {
  Json json = load_json_file("profiles/hardware/a100-80gb-sxm.json");
  json["fitted"]["fp8_share"] = 0.6;
  EXPECT_THAT(told_of_hardware(json), HasSubstr("/fitted/fp8_share: prices nothing without fp8_peak"));
}

TEST(UnreadNumbers, ADataSheetNeedsThem) {
  Json json = h100();
  for (const char* key : {"kernels", "fitted"}) json.erase(key);
  EXPECT_FALSE(describes_kernels(json));
  EXPECT_THAT(told_of_hardware(json), AllOf(HasSubstr("/inter_node/latency: is missing"), HasSubstr("/inter_node/bandwidth: is missing")));
  json["inter_node"].update({{"latency", "1.5 us"}, {"bandwidth", "330 GB/s"}});
  json["matrix_efficiency"] = 0.7;
  EXPECT_EQ(told_of_hardware(json), "");
}

TEST(UnreadNumbers, AreNotWritten) {
  const HardwareProfile profile = hardware_profile_from_json(h100(), "f");
  const Json written = to_json(profile);
  EXPECT_FALSE(written.contains("matrix_efficiency"));
  EXPECT_FALSE(written["inter_node"].contains("bandwidth"));
  EXPECT_FALSE(written["kernels"].contains("drive"));
  Json with_drives = h100();
  with_drives["kernels"]["drive"] = "2 GB/s";
  EXPECT_EQ(to_json(hardware_profile_from_json(with_drives, "f"))["kernels"]["drive"], "2 GB/s");
  EXPECT_EQ(to_json(hardware_profile_from_json(written, "f")).dump(), written.dump());
  EXPECT_DOUBLE_EQ(profile.inter_node.bandwidth.value(), 400e9 * profile.kernels->network_share) << "of what is sold";
  EXPECT_EQ(profile.inter_node.latency, profile.intra_node.latency);
}

TEST(UnreadNumbers, OfProgramsThatNoPublishedRunNames) {
  Json json = {
      {"format", "meshwright.software/2"}, {"name", "x"}, {"source", "its documentation"}, {"from_year", 2024}, {"reduce_bytes", 4}};
  EXPECT_THAT(told_of_software(json), AllOf(HasSubstr("/from_year: chooses nothing without frameworks"), HasSubstr("/reduce_bytes")));
  json["frameworks"] = {"x"};
  EXPECT_EQ(told_of_software(json), "");
  json["accumulate_bytes"] = 3;
  EXPECT_THAT(told_of_software(json), HasSubstr("/accumulate_bytes: is 3, expected 2 or 4"));
  json["format"] = "meshwright.software/1";
  EXPECT_EQ(told_of_software(json), "");
}

}  // namespace
}  // namespace sim
