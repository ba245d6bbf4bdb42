#include "gui/core/file_stamp.h"

#include <gmock/gmock.h>

#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

using sim::testing::put;

TEST(FileStamp, ChangesWithTheFile) {
  const sim::testing::TemporaryFolder folder;
  const std::string path = folder.file("a");
  EXPECT_FALSE(stampOf(path).exists());
  put(path, "one");
  const FileStamp first = stampOf(path);
  EXPECT_TRUE(first.exists());
  EXPECT_EQ(stampOf(path), first);
  put(path, "longer");
  EXPECT_NE(stampOf(path), first);
  EXPECT_TRUE(stampOf(path).isSameFile(first));
  put(folder.file("b"), "one");
  std::filesystem::rename(folder.file("b"), path);
  EXPECT_FALSE(stampOf(path).isSameFile(first));
}

}  // namespace
}  // namespace gui
