#include "sim/timeline/pickle_writer.h"

#include <gtest/gtest.h>

#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

template <class Write>
std::string pickled(const Write& write) {
  const testing::TemporaryFolder folder;
  OutputFile file(folder.file("p"));
  PickleWriter pickle(file);
  write(pickle);
  pickle.finish();
  file.finish();
  return testing::content_of(folder.file("p"));
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// The opcodes of pickletools; that Python agrees is asked of what `simulate --memory-snapshot` writes.
TEST(PickleWriter, NumbersAreAsShortAsTheyCanBe) {
  EXPECT_EQ(pickled([](PickleWriter& to) { to.number(-2); }), std::string("\x80\x02J\xfe\xff\xff\xff.", 8));
  EXPECT_EQ(pickled([](PickleWriter& to) { to.number(std::int64_t{1} << 33); }), std::string("\x80\x02\x8a\x08\0\0\0\0\x02\0\0\0.", 13));
}

TEST(PickleWriter, ATextIsWrittenOnce) {
  const std::string text = pickled([](PickleWriter& to) { to.list(3, [&](std::size_t) { to.text("same"); }); });
  EXPECT_EQ(times(text, "same"), 1u);
  EXPECT_EQ(times(text, std::string("h\0", 2)), 2u);
}

TEST(PickleWriter, LongListsComeInBatches) {
  const std::string text = pickled([](PickleWriter& to) { to.list(2500, [&](std::size_t) { to.boolean(true); }); });
  EXPECT_EQ(times(text, "("), 3u);
  EXPECT_EQ(times(text, "e"), 3u);
  EXPECT_EQ(pickled([](PickleWriter& to) { to.list(0, [](std::size_t) {}); }), "\x80\x02].");
}

}  // namespace
}  // namespace sim
