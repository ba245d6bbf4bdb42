#include "cli/restart.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "cli/exit_code.h"

namespace cli {
namespace {

TEST(Restart, GoesOnFromTheNewestCompleteCheckpoint) {
  const std::string folder = testing::TempDir() + "restart";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/checkpoints/step_00000002");
  std::filesystem::create_directories(folder + "/checkpoints/step_00000004");
  std::ofstream(folder + "/checkpoints/step_00000002/index.json") << "{}";
  std::filesystem::create_directories(folder + "/checkpoints/step_00000006.kept");
  std::ofstream(folder + "/checkpoints/step_00000006.kept/index.json") << "{}";
  std::ofstream(folder + "/metrics.ndjson") << "{\"step\":4,\"loss\":1}\n{\"step\":5,\"loss\":1}\n";
  const RestartPoint point = restart_point(folder);
  EXPECT_EQ(point.from, 2);
  EXPECT_EQ(point.reached, 5);
  EXPECT_EQ(restart_text(point, {.number = 1, .of = 3}), "restart 1 of 3: goes on from the checkpoint of step 2; 3 steps are done again");
  EXPECT_THAT(restart_text({}, {}), testing::HasSubstr("the beginning"));
}

TEST(Restart, RefusedInputIsNotTriedAgain) {
  EXPECT_FALSE(may_restart(kInputError));
  EXPECT_FALSE(may_restart(kInterrupted));
  EXPECT_FALSE(may_restart(kSuccess));
  EXPECT_TRUE(may_restart(137));
  EXPECT_TRUE(may_restart(kRankFailed));
}

}  // namespace
}  // namespace cli
