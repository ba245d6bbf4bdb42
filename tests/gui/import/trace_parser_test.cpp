#include "gui/import/trace_parser.h"

#include <gmock/gmock.h>

#include "tests/gui/import/traces.h"

namespace gui {
namespace {

TracePart parsed(std::string_view text) {
  Progress progress;
  return parsePart(text, {text.find("traceEvents") + 15, text.size()}, progress);
}

TEST(TraceParser, TakesSlicesNamesAndCountsTheRest) {
  const std::string text = test::smallTrace();
  const TracePart part = parsed(text);
  EXPECT_EQ(part.events.size(), 6u);  // four complete, a B and an E
  EXPECT_EQ(part.malformed, 0);
  EXPECT_EQ(part.not_drawn, 0);
  ASSERT_EQ(part.flows.size(), 1u);
  EXPECT_TRUE(part.flows[0].begins);
  EXPECT_EQ(part.flows[0].time, 1002000);
  EXPECT_TRUE(part.closed);
  ASSERT_EQ(part.said.size(), 3u);
  EXPECT_EQ(part.said[1].text, "GPU 0");
  EXPECT_EQ(part.events[0].begin, 1000500);
  EXPECT_EQ(part.events[0].length, 10250);
  EXPECT_EQ(part.names[part.events[0].name], "outer");
  EXPECT_EQ(part.events[2].kind, WorkKind::Product);
  EXPECT_EQ(part.events[3].kind, WorkKind::Data);
  EXPECT_EQ(text.substr(part.events[2].offset, 6), "{\"ph\":");
}

TEST(TraceParser, GoesOnBehindWhatIsNoEvent) {
  const std::string text =
      test::document(test::slice("a", R"("ts": 1, "dur": 1)") + R"(, {"ph": "X", "name": "no times"}, 17, )" + R"({"ph": "X" "name"}, )" +
                     test::slice("negative", R"("ts": 2, "dur": -1)") + ", " + test::slice("b", R"("ts": 3, "dur": 1)"));
  const TracePart part = parsed(text);
  EXPECT_EQ(part.events.size(), 2u);
  EXPECT_EQ(part.malformed, 4);
  EXPECT_TRUE(part.closed);
}

// Cut anywhere, the two parts hold what the whole holds.
TEST(TraceParser, PartsAreTheWhole) {
  const std::string text = test::smallTrace();
  const std::size_t begin = text.find("traceEvents") + 15;
  Progress progress;
  for (std::size_t from = begin; from < text.size(); from += 7) {
    const std::size_t cut = nextEvent(text, from);
    const TracePart first = parsePart(text, {begin, cut}, progress), second = parsePart(text, {cut, text.size()}, progress);
    EXPECT_EQ(first.events.size() + second.events.size(), 6u) << from;
    EXPECT_EQ(first.said.size() + second.said.size(), 3u);
    EXPECT_TRUE(cut == text.size() || first.end == cut) << from;
  }
}

}  // namespace
}  // namespace gui
