// Which format a file gets (write_timelines in trace.h).
#include <gtest/gtest.h>

#include "sim/timeline/trace.h"
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

}  // namespace
}  // namespace sim
