#include "executor/launch/run_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/units/json_reader.h"

namespace executor {
namespace {

TEST(RunVersions, NamesTheLibraries) {
  const sim::Json versions = sim::parse_json(run_versions({.why = "the plan is for CPU ranks"}), "versions");
  EXPECT_EQ(versions["libtorch"].get<std::string>().substr(0, 5), "2.11.");
  EXPECT_EQ(versions["device"].get<std::string>(), "cpu");
  EXPECT_EQ(versions["why"].get<std::string>(), "the plan is for CPU ranks");
  EXPECT_THAT(versions["mpi"].get<std::string>(), testing::StartsWith("Open MPI v"));
}

TEST(RunVersions, TellsCudaAsItIsWritten) {
  EXPECT_EQ(cuda_version_text(13000), "13.0");
  EXPECT_EQ(cuda_version_text(12080), "12.8");
  EXPECT_EQ(cuda_version_text(0), "");
}

}  // namespace
}  // namespace executor
