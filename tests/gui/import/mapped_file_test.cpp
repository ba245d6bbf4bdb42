#include "gui/import/mapped_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

using sim::testing::put;
using sim::testing::TemporaryFolder;

constexpr std::size_t kSize = 1 << 20;

struct Opened {
  explicit Opened(const std::string& path) : number(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Opened() { ::close(number); }
  operator FileDescriptor() const { return {number}; }
  int number;
};

// A plain mapping ends the program at the first of these.
TEST(MappedFile, WhatIsCutWhileItIsReadReadsAsZerosAndIsSaid) {
  const TemporaryFolder folder;
  put(folder.file("a"), std::string(kSize, 'x'));
  const MappedFile mapped(Opened(folder.file("a")), kSize);
  ASSERT_EQ(mapped.text().size(), kSize);
  EXPECT_FALSE(mapped.isTorn());
  std::filesystem::resize_file(folder.file("a"), 100);
  EXPECT_EQ(std::count(mapped.text().begin(), mapped.text().end(), 'x'), 100);
  EXPECT_TRUE(mapped.isTorn());
}

TEST(MappedFile, EachMappingIsTornByItself) {
  const TemporaryFolder folder;
  for (const char* name : {"a", "b"}) put(folder.file(name), std::string(kSize, 'x'));
  const MappedFile a(Opened(folder.file("a")), kSize), b(Opened(folder.file("b")), kSize);
  std::filesystem::resize_file(folder.file("a"), 0);
  EXPECT_EQ(a.text()[kSize / 2], '\0');
  EXPECT_EQ(std::count(b.text().begin(), b.text().end(), 'x'), static_cast<std::ptrdiff_t>(kSize));
  EXPECT_TRUE(a.isTorn());
  EXPECT_FALSE(b.isTorn());
}

TEST(MappedFile, ADeletedFileStaysWhole) {
  const TemporaryFolder folder;
  put(folder.file("a"), std::string(kSize, 'x'));
  const MappedFile mapped(Opened(folder.file("a")), kSize);
  std::filesystem::remove(folder.file("a"));
  EXPECT_EQ(mapped.text().back(), 'x');
  EXPECT_FALSE(mapped.isTorn());
}

TEST(MappedFileDeathTest, AnotherBusErrorEndsTheProgramAsEver) {
  const TemporaryFolder folder;
  put(folder.file("a"), std::string(kSize, 'x'));
  const MappedFile mapped(Opened(folder.file("a")), kSize);
  EXPECT_EXIT(std::raise(SIGBUS); std::raise(SIGBUS), testing::KilledBySignal(SIGBUS), "");
}

}  // namespace
}  // namespace gui
