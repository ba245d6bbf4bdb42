#include <unistd.h>

#include <filesystem>

#include "measure_test.h"
#include "sim/units/told.h"

namespace executor {
namespace {

// What the worker writes is a profile that the planner reads.
TEST(MeasureJson, WritesAProfile) {
  const std::int32_t rank = Transport(start_mpi()).place().rank;
  const std::string path = std::filesystem::temp_directory_path() / ("meshwright_measure_" + std::to_string(getpid()) + ".json");
  measure_to_file(start_mpi(), path, kHasty);
  EXPECT_EQ(std::filesystem::exists(path), rank == 0);
  if (rank != 0) return;
  const sim::HardwareProfile profile = sim::load_hardware_profile(path);
  EXPECT_GT(profile.measured.size(), 100U);
  EXPECT_FALSE(profile.date.empty());
  std::filesystem::remove(path);
  const sim::HowFar far = sim::how_far_beside(path);
  EXPECT_EQ(far.done + 1, far.all) << "what was counted before is what was timed";
  EXPECT_GT(far.all, 50);
  std::filesystem::remove(sim::told_beside(path));
}

}  // namespace
}  // namespace executor
