#include "sim/timeline/chrome_events.h"

#include <gmock/gmock.h>

#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using testing::span;
using testing::us;

TEST(ChromeEvents, WritesMicrosecondsWithThreeDecimals) {
  ChromeEvents events("");
  events.slice({{1, 2}, Nanoseconds(9'007'199'254'740'993), Nanoseconds(9'007'199'254'742'000)}, "a", "b", "");
  events.slice({{1, 2}, Nanoseconds(-5), Nanoseconds(1'000)}, "a", "b", "");
  const std::string text = std::move(events).finish("");
  EXPECT_THAT(text, HasSubstr("\"ts\":9007199254740.993,\"dur\":1.007"));
  EXPECT_THAT(text, HasSubstr("\"ts\":-0.005,\"dur\":1.005"));
}

TEST(ChromeEvents, EscapesWhatJsonForbids) {
  EXPECT_EQ(escape_json("a\"b\\c\nd\x01"), "a\\\"b\\\\c\\u000ad\\u0001");
  EXPECT_EQ(escape_json("ä"), "ä");
}

TEST(ChromeEvents, AnEmptyTraceIsADocument) { EXPECT_EQ(ChromeEvents("").finish(""), "{\"traceEvents\":[\n\n]}\n"); }

TEST(ChromeEvents, StreamsAndLanesAreRowsOfTheirOwn) {
  const Span reduce = span(0, {}, us(0), us(1), Stream::Reduce), compute = span(0, {}, us(0), us(1), Stream::Compute);
  EXPECT_NE(row_of(0, reduce, 1).thread, row_of(0, reduce, 0).thread);
  EXPECT_NE(row_of(0, compute, 0).thread, row_of(0, reduce, 0).thread);
  EXPECT_NE(row_of(0, compute, 0).thread, kStepThread);
}

}  // namespace
}  // namespace sim
