// What is written and read again: tests/executor/communication/heartbeat_test.cpp.
#include "sim/task_graph/heartbeat_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

namespace sim {
namespace {

void write(const HeartbeatFile& file, const std::string& path) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&file), sizeof file);
}

TEST(HeartbeatFile, ASentenceARank) {
  const std::string folder = ::testing::TempDir();
  HeartbeatFile file{};
  file.process = 4711;
  file.written = 3;
  file.records[1].step = 12;
  file.records[1].key = {.stage = StageIndex(0), .phase = Phase::Backward, .operation = Operation::Mlp};
  write(file, heartbeat_path(folder, Rank(7)));
  EXPECT_EQ(heartbeat_text(folder, Rank(7)), "rank 7: step 12, phase backward, task s0.c-.m-.l-.backward.mlp.none.0 (process 4711)");
  file.wait = {.of = 3, .for_rank = 2, .in = "all_reduce"};
  write(file, heartbeat_path(folder, Rank(7)));
  EXPECT_EQ(heartbeat_text(folder, Rank(7)),
            "rank 7: step 12, phase backward, task s0.c-.m-.l-.backward.mlp.none.0, waits for rank 2 in all_reduce (process 4711)");
  std::filesystem::remove(heartbeat_path(folder, Rank(7)));
  EXPECT_EQ(heartbeat_text(folder, Rank(7)), "rank 7: left no heartbeat");
}

}  // namespace
}  // namespace sim
