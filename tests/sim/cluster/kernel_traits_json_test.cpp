#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sim/cluster/hardware_profile.h"
#include "sim/units/input_error.h"
#include "sim/units/json_reader.h"

namespace sim {
namespace {

TEST(KernelTraitsJson, EveryPartOfPublishedRunsHasThemAndKeepsThem) {
  for (const char* name : {"p40-24gb",      "v100-16gb-sxm2",   "v100-32gb-sxm2", "v100-32gb-sxm3", "v100-32gb-sxm3-450w",
                           "a30-24gb-pcie", "a100-40gb-sxm",    "a100-80gb-sxm",  "a800-80gb-sxm",  "l40s-48gb",
                           "rtx-4090-24gb", "rx-7900-xtx-24gb", "mi300x-192gb",   "mi355x-288gb",   "h20-96gb-sxm",
                           "h100-80gb-sxm", "h100-96gb-hbm2e",  "h200-141gb-sxm", "b200-180gb-sxm", "b200-180gb-sxm-750w"}) {
    const HardwareProfile profile = load_hardware_profile(name);
    ASSERT_TRUE(profile.kernels) << name;
    const Json written = to_json(profile);
    EXPECT_EQ(to_json(hardware_profile_from_json(written, name)).dump(), written.dump()) << name;
  }
}

// PCIe 3, 4, 5, or NVLink to a Grace: no part is left at the default, which none of them has.
TEST(KernelTraitsJson, EachPartSaysWhatTheLinkToItsHostCarries) {
  for (const auto& file : std::filesystem::directory_iterator("profiles/hardware")) {
    const HardwareProfile profile = load_hardware_profile(file.path().string());
    if (profile.kind != DeviceKind::Gpu) continue;
    EXPECT_NE(profile.kernels->host_link, KernelTraits{}.host_link) << profile.name;
    EXPECT_EQ(profile.kernels->host_link > BytesPerSecond(100e9), profile.devices_per_host > 0) << profile.name;
  }
}

// What export rules changed are links: an A800 is an A100's chip, an H800 an H100's.
TEST(KernelTraitsJson, AChipSoldUnderTwoNamesHasOneSpeed) {
  const std::pair<const char*, const char*> pairs[] = {{"a800-80gb-sxm", "a100-80gb-sxm"}, {"h800-80gb-sxm", "h100-80gb-sxm"}};
  for (const auto& [one, other] : pairs) {
    const HardwareProfile sold = load_hardware_profile(one), known = load_hardware_profile(other);
    EXPECT_EQ(sold.kernel_overhead.count(), known.kernel_overhead.count()) << one;
    EXPECT_NEAR(sold.kernels->matrix_share, known.kernels->matrix_share, 0.005) << one;
    EXPECT_NEAR(sold.kernels->convolution_share, known.kernels->convolution_share, 0.005) << one;
    EXPECT_NEAR(sold.kernels->network_share, known.kernels->network_share, 0.005) << one;
  }
}

TEST(KernelTraitsJson, NumbersNeedASource) {
  EXPECT_THROW(kernel_traits_from_json(Json::parse(R"({"kernels": {"matrix_share": 0.7}})"), "f"), InputError);
  EXPECT_THROW(kernel_traits_from_json(Json::parse(R"({"kernels": {"source": "x", "matrix_share": -1}})"), "f"), InputError);
}

TEST(KernelTraitsJson, WhatRowsSayComesLastAndNeedsASource) {
  Json json =
      Json::parse(R"({"kernels": {"source": "x", "matrix_share": 0.7, "fp8_peak": "1979 TFLOP/s"}, "fitted": {"matrix_share": 0.6}})");
  EXPECT_THROW(kernel_traits_from_json(json, "f"), InputError);
  json["fitted"]["source"] = "rows of a";
  EXPECT_EQ(kernel_traits_from_json(json, "f").matrix_share, 0.6);
  EXPECT_EQ(kernel_traits_from_json(json, "f").fp8_peak.value(), 1979e12);
}

TEST(KernelTraitsJson, WithoutTheBlockDefaults) {
  EXPECT_EQ(kernel_traits_from_json(Json::object(), "f").interval, KernelTraits{}.interval);
}

// A share of nearly nothing is a step that never ends.
TEST(KernelTraitsJson, SharesAreNotNearlyNothing) {
  for (const char* name : {"newer_matrix_share", "fp4_share", "rowwise_share", "matrix_share"}) {
    const Json json = {{"kernels", {{"source", "x"}, {name, 1e-320}}}};
    EXPECT_THAT([&] { kernel_traits_from_json(json, "f"); }, ::testing::ThrowsMessage<InputError>(::testing::HasSubstr(name)));
  }
}

}  // namespace
}  // namespace sim
