#include "executor/launch/numa_binding.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace executor {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A machine of two nodes, as /sys tells it.
class Sys : public testing::Test {
 protected:
  Sys() { write("devices/system/node/node1/cpulist", "2-4,9"); }
  ~Sys() override { std::filesystem::remove_all(root_); }
  void write(const std::string& file, const std::string& line) {
    std::filesystem::create_directories(std::filesystem::path(root_ + "/" + file).parent_path());
    std::ofstream(root_ + "/" + file) << line << "\n";
  }
  std::string root_ = std::filesystem::temp_directory_path() / fmt::format("meshwright-sys-{}", getpid());
};

TEST_F(Sys, NamesTheCoresOfTheNode) {
  write("bus/pci/devices/0000:1b:00.0/numa_node", "1");
  EXPECT_THAT(cores_beside("0000:1B:00.0", {0, 1, 2, 3, 4, 9}, root_), ElementsAre(2, 3, 4, 9)) << "CUDA writes the bus in capitals";
  EXPECT_THAT(cores_beside("0000:1b:00.0", {0, 3}, root_), ElementsAre(3)) << "what the launcher left";
  EXPECT_THAT(cores_beside("0000:1b:00.0", {0, 1}, root_), IsEmpty());
}

TEST_F(Sys, BindsNothingWhereNothingIsKnown) {
  write("bus/pci/devices/0000:00:05.0/numa_node", "-1");
  write("bus/pci/devices/0000:00:06.0/numa_node", "7");
  for (const char* bus : {"0000:00:05.0", "0000:00:06.0", "0000:00:07.0", ""})
    EXPECT_THAT(cores_beside(bus, {0, 1, 2}, root_), IsEmpty()) << bus;
}

TEST(NumaBinding, ACpuStaysWhereItsLauncherPutIt) { EXPECT_EQ(bind_beside(c10::kCPU), ""); }

}  // namespace
}  // namespace executor
