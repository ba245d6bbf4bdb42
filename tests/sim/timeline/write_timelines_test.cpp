// Which format a file gets (write_timelines in trace.h).
#include <gtest/gtest.h>

#include <filesystem>

#include "sim/timeline/trace.h"
#include "sim/units/input_error.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

TEST(WriteTimelines, TheEndingChoosesTheFormat) {
  const testing::TemporaryFolder folder;
  const Timeline timeline = testing::two_stages();
  const auto first = [&](const char* name) {
    write_timelines({{"a", timeline}}, folder.file(name));
    return testing::content_of(folder.file(name)).at(0);
  };
  EXPECT_EQ(first("t.json"), '{');
  EXPECT_EQ(first("t"), '{');
  EXPECT_EQ(first("t.perfetto-trace"), '\n') << "field 1 with a length: a packet";
  EXPECT_EQ(first("t.pftrace"), '\n');
}

TEST(WriteTimelines, EachDeviceIsToldAndTheTellingCanEndIt) {
  const testing::TemporaryFolder folder;
  const Timeline timeline = testing::two_stages();
  for (const char* name : {"t.json", "t.perfetto-trace"}) {
    std::vector<std::int64_t> told;
    write_timelines({{"a", timeline}, {"b", timeline}}, folder.file(name), [&](const HowFar& far) {
      told.push_back(far.done);
      EXPECT_EQ(far.all, 4);
    });
    EXPECT_EQ(told, (std::vector<std::int64_t>{1, 2, 3, 4})) << name;
    std::filesystem::remove(folder.file(name));
    const Told stop = [](const HowFar&) { throw InputError("", {{"", "was cancelled", ""}}); };
    EXPECT_THROW(write_timelines({{"a", timeline}}, folder.file(name), stop), InputError);
    EXPECT_FALSE(std::filesystem::exists(folder.file(name))) << "nothing is left of it";
  }
}

}  // namespace
}  // namespace sim
