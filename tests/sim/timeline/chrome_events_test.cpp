#include "sim/timeline/chrome_events.h"

#include <gmock/gmock.h>

#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using ::testing::HasSubstr;
using testing::span;
using testing::transfer_key;
using testing::us;

TEST(ChromeEvents, RoundsPicosecondsToTheNearestNanosecond) {
  EXPECT_EQ(to_nanoseconds(SimTime(1499)), Nanoseconds(1));
  EXPECT_EQ(to_nanoseconds(SimTime(1500)), Nanoseconds(2));
  EXPECT_EQ(to_nanoseconds(SimTime(-1499)), Nanoseconds(-1));
  EXPECT_EQ(to_nanoseconds(SimTime(-1501)), Nanoseconds(-2));
  EXPECT_EQ(to_nanoseconds(SimTime(0)), Nanoseconds(0));
}

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

TEST(ChromeEvents, OverlappingSpansOfAStreamTakeLanes) {
  const TaskKey key{};
  const std::vector<Span> spans{span(0, key, us(10), us(20), Stream::Reduce), span(0, key, us(0), us(15), Stream::Reduce),
                                span(0, key, us(12), us(14), Stream::Compute), span(0, key, us(15), us(16), Stream::Reduce)};
  EXPECT_EQ(lanes_of(spans), (std::vector<std::int32_t>{1, 0, 0, 0}));
  EXPECT_NE(row_of(0, spans[0], 1).thread, row_of(0, spans[1], 0).thread);
  EXPECT_NE(row_of(0, spans[2], 0).thread, row_of(0, spans[1], 0).thread);
  EXPECT_NE(row_of(0, spans[2], 0).thread, kStepThread);
}

TEST(ChromeEvents, BothEndsOfATransferHaveOneFlow) {
  const StageIndex first(0), second(1);
  const auto id = [](const TaskKey& key, std::int32_t line = 0) { return flow_id(key, 7, {line}); };
  // Stage 0 ends with layer 1, stage 1 begins with layer 2.
  EXPECT_EQ(id(transfer_key(first, 1, Phase::Forward, Operation::Send)), id(transfer_key(second, 2, Phase::Forward, Operation::Receive)));
  EXPECT_EQ(id(transfer_key(second, 2, Phase::Backward, Operation::Send)), id(transfer_key(first, 1, Phase::Backward, Operation::Receive)));
  EXPECT_NE(id(transfer_key(first, 1, Phase::Forward, Operation::Send)), id(transfer_key(first, 1, Phase::Backward, Operation::Receive)));
  EXPECT_NE(id(transfer_key(first, 1, Phase::Forward, Operation::Send)), id(transfer_key(first, 1, Phase::Forward, Operation::Send), 1));
  EXPECT_EQ(id(testing::compute_key(first, 0, Phase::Forward)), 0u);
}

}  // namespace
}  // namespace sim
