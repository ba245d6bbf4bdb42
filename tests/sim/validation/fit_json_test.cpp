#include <gmock/gmock.h>

#include <filesystem>

#include "sim/units/json_reader.h"
#include "sim/validation/fit.h"

namespace sim {
namespace {

TEST(FitJson, RowsAreReadWithUnfittedProfiles) {
  const MeasuredRuns measured = load_measured_runs("profiles/published/rows.json");
  EXPECT_EQ(measured.runs.size(), 430u);
  const Json stated = load_json_file("profiles/hardware/a100-80gb-sxm.json");
  EXPECT_EQ(measured.profiles.parts.at("a100-80gb-sxm").kernels.matrix_share, stated["kernels"]["matrix_share"].get<double>());
}

TEST(FitJson, WhatIsSavedSaysWhereItComesFromAndIsRead) {
  const std::string folder = testing::TempDir() + "/meshwright-fit";
  MeasuredRuns measured = load_measured_runs("profiles/published/rows.json");
  measured.profiles.sources = {{"torchtitan", {"torchtitan-a100"}}, {"h100-80gb-sxm", {"dgxc-bench", "mlperf-3.0"}}};
  measured.profiles.stacks.at("torchtitan").network_share = 0.77;
  measured.profiles.stacks.at("torchtitan").fitted_parts = "a100-80gb-sxm";
  measured.profiles.parts.at("h100-80gb-sxm").kernels.matrix_share = 0.66;
  save_profiles(measured.profiles, folder);
  const std::string software = folder + "/software/torchtitan.json";
  EXPECT_EQ(software_stack_from_json(load_json_file(software), software).network_share, 0.77);
  EXPECT_EQ(software_stack_from_json(load_json_file(software), software).fitted_parts, "a100-80gb-sxm");
  const Device part = load_device(folder + "/hardware/h100-80gb-sxm.json");
  EXPECT_EQ(part.kernels.matrix_share, 0.66);
  EXPECT_GT(part.kernels.fp8_peak.value(), 1e15);  // what is not fitted stays
  EXPECT_THAT(load_json_file(software)["fitted"]["source"].get<std::string>(), testing::HasSubstr("torchtitan-a100"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace sim
