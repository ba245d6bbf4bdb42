#include "gui/import/trace_file.h"

#include <gmock/gmock.h>

#include "sim/units/input_error.h"
#include "tests/gui/import/traces.h"
#include "tests/sim/timeline/timelines.h"

namespace gui {
namespace {

ParsedFile parsedFile(const std::string& content) {
  const sim::testing::TemporaryFolder folder;
  sim::testing::put(folder.file("t.json"), content);
  Progress progress;
  return parseTraceFile(folder.file("t.json"), progress);
}

TEST(TraceFile, KnowsItsRankAndItsBeginning) {
  std::string text = test::smallTrace();
  text.insert(1, R"("baseTimeNanoseconds": 1700000000000000000, )");
  const ParsedFile parsed = parsedFile(text);
  EXPECT_EQ(parsed.file.rank, 3);
  EXPECT_EQ(parsed.base, 1'700'000'000'000'000'000);
  EXPECT_FALSE(parsed.file.cut);
}

// Large enough to be cut into parts, where there are several processors: nothing is lost at a seam, and names are one.
TEST(TraceFile, PartsGiveWhatOnePieceWould) {
  std::string events;
  constexpr int kEvents = 150'000;
  for (int at = 0; at < kEvents; ++at)
    events +=
        (at > 0 ? ",\n" : "") + test::slice(at % 2 == 0 ? "even {\\\"ph\\\": 1}" : "odd", fmt::format(R"("ts": {}, "dur": 1)", 2 * at));
  ASSERT_GT(events.size(), std::size_t{12} << 20);
  const ParsedFile parsed = parsedFile(test::document(events));
  ASSERT_EQ(parsed.all.events.size(), static_cast<std::size_t>(kEvents));
  for (int at = 0; at < kEvents; at += 997) EXPECT_EQ(parsed.all.events[static_cast<std::size_t>(at)].begin, 2000 * at);
  EXPECT_EQ(parsed.all.names.size(), 2u);
  EXPECT_EQ(parsed.all.tracks.size(), 1u);
  EXPECT_EQ(parsed.all.malformed, 0);
}

TEST(TraceFile, CutInHalfIsSaidAndItsEventsAreThere) {
  const std::string whole = test::smallTrace();
  const ParsedFile parsed = parsedFile(whole.substr(0, whole.find("gemm")));
  EXPECT_TRUE(parsed.file.cut);
  EXPECT_GT(parsed.all.events.size(), 0u);
  EXPECT_THAT([] { parsedFile("{\"a\": 1}"); }, testing::ThrowsMessage<sim::InputError>(testing::HasSubstr("torch.profiler")));
}

}  // namespace
}  // namespace gui
