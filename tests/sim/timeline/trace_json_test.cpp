// Reading the trace of a rank (read_rank_trace in trace.h): what was written comes back; whatever else gives one InputError.
#include <gmock/gmock.h>

#include "sim/timeline/trace.h"
#include "sim/units/input_error.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using testing::content_of;
using ::testing::HasSubstr;
using testing::put;
using testing::TemporaryFolder;
using testing::trace_of;
using testing::two_stages;
using testing::us;

RankTrace full_trace() {
  RankTrace trace = trace_of(two_stages(), DeviceId(0));
  trace.clock_offset = us(-123'456);
  for (MeasuredStep& step : trace.steps) {
    const TaskKey sum{.stage = StageIndex(0), .phase = Phase::Step, .operation = Operation::AllReduce, .group = MeshAxis::World};
    step.ledger = {{testing::transfer_key(StageIndex(0), 1, Phase::Forward, Operation::Send), 2, Bytes(4096)}, {sum, 8, kStepSummary}};
    step.peak_memory = Bytes(step.step + (std::int64_t{1} << 40));
    step.spans.front().start = SimTime(1'001'000);  // odd nanoseconds
    if (step.step == 1) step.expert_rows = {.times = 16, .rows = 4096, .squares = std::int64_t{1} << 50};
  }
  return trace;
}

std::string text_of(const RankTrace& trace) {
  const TemporaryFolder folder;
  write_rank_trace(trace, folder.file("t.json"));
  return content_of(folder.file("t.json"));
}

RankTrace read(const std::string& text) {
  const TemporaryFolder folder;
  put(folder.file("t.json"), text);
  return read_rank_trace(folder.file("t.json"));
}

std::string problem_of(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(TraceJson, WhatWasWrittenComesBack) {
  const RankTrace trace = full_trace();
  const RankTrace again = read(text_of(trace));
  EXPECT_EQ(again.rank, trace.rank);
  EXPECT_EQ(again.plan_hash, trace.plan_hash);
  EXPECT_EQ(again.clock_offset, trace.clock_offset);
  EXPECT_EQ(again.mesh, trace.mesh);
  ASSERT_EQ(again.steps.size(), trace.steps.size());
  for (std::size_t at = 0; at < trace.steps.size(); ++at) {
    EXPECT_EQ(again.steps[at].step, trace.steps[at].step);
    EXPECT_EQ(again.steps[at].start, trace.steps[at].start);
    EXPECT_EQ(again.steps[at].duration, trace.steps[at].duration);
    EXPECT_EQ(again.steps[at].peak_memory, trace.steps[at].peak_memory);
    EXPECT_EQ(again.steps[at].ledger, trace.steps[at].ledger);
    EXPECT_EQ(again.steps[at].expert_rows, trace.steps[at].expert_rows);
    EXPECT_EQ(again.steps[at].spans, trace.steps[at].spans);
  }
  EXPECT_EQ(text_of(again), text_of(trace));
}

TEST(TraceJson, TimesBeyondTheDigitsOfADoubleStayExact) {
  RankTrace trace = trace_of(two_stages(), DeviceId(0), 1);
  trace.steps[0].start = SimTime(8'999'999'123'456'789'000);  // 104 days, to the nanosecond
  EXPECT_EQ(read(text_of(trace)).steps[0].start, trace.steps[0].start);
  EXPECT_EQ(read(text_of(trace)).steps[0].spans, trace.steps[0].spans);
}

TEST(TraceJson, EventsOfOthersAreLeftAside) {
  const std::string text = replaced(text_of(full_trace()), "\"traceEvents\":[",
                                    R"("other":{"traceEvents":[{"ph":"X","ts":"no"}]},"list":[[1,[2]],{"args":{"key":"x"}}],"traceEvents":[
{"ph":"X","name":"cpu work","ts":1e300,"args":{"nested":{"key":"no key"},"list":[{"key":1}]}},{"ph":"i"},7,[],null,"text",{},)");
  EXPECT_EQ(read(text).steps.size(), 3u);
}

TEST(TraceJson, EveryTruncationIsRefused) {
  const std::string text = text_of(trace_of(two_stages(), DeviceId(0), 1));
  for (std::size_t size = 0; size + 2 < text.size(); size += 17) EXPECT_NE(problem_of(text.substr(0, size)), "") << size;
  EXPECT_THAT(problem_of(text.substr(0, text.size() / 2)), HasSubstr("is not JSON"));
}

// No byte may bring the reader down, whatever it turns into.
TEST(TraceJson, EveryFlippedByteIsReadOrRefused) {
  std::string text = text_of(trace_of(two_stages(), DeviceId(1), 1));
  for (std::size_t at = 0; at < text.size(); at += 11)
    for (const char flip : {char(0x01), char(0x90)}) {
      text[at] = static_cast<char>(text[at] ^ flip);
      problem_of(text);
      text[at] = static_cast<char>(text[at] ^ flip);
    }
  EXPECT_EQ(problem_of(text), "");
}

TEST(TraceJson, WrongContentIsNamedWithItsPlace) {
  const std::string text = text_of(full_trace());
  EXPECT_THAT(problem_of(replaced(text, "s0.c0.m0.l1.forward.attention", "s0.c0.m0.l1.forward.attendance")),
              ::testing::AllOf(HasSubstr("/traceEvents/"), HasSubstr("args.key"), HasSubstr("attendance")));
  EXPECT_THAT(problem_of(replaced(text, "\"stream\":0", "\"stream\":10")), HasSubstr("args.stream"));
  EXPECT_THAT(problem_of(replaced(text, "\"stream\":0", "\"stream\":true")), HasSubstr("args.stream"));
  EXPECT_THAT(problem_of(replaced(text, "\"dur\":10.000", "\"dur\":-10.000")), HasSubstr("dur"));
  EXPECT_THAT(problem_of(replaced(text, "\"dur\":18.999", "\"dur\":1e9")), HasSubstr("dur"));
  EXPECT_THAT(problem_of(replaced(text, "\"peak_memory\":", "\"peak\":")), HasSubstr("args.peak_memory: is missing"));
  EXPECT_THAT(problem_of(replaced(text, "\"group_size\":2", "\"group_size\":0")), HasSubstr("/ledger/0/group_size"));
  EXPECT_THAT(problem_of(replaced(text, "\"payload\":4096", "\"payload\":99999999999999999999999")), HasSubstr("payload"));
  EXPECT_THAT(problem_of(replaced(text, "ProfilerStep#1", "Step#1")), HasSubstr("no slice ProfilerStep#1"));
  EXPECT_THAT(problem_of(replaced(text, "meshwright.trace/1", "meshwright.trace/9")), HasSubstr("meshwright.trace/1"));
  EXPECT_THAT(problem_of(replaced(text, "\"rank\":0,\"plan_hash\"", "\"rank\":-1,\"plan_hash\"")), HasSubstr("/meshwright/rank"));
}

TEST(TraceJson, OtherDocumentsAreNoTraces) {
  for (const char* text : {"", " ", "{}", "[]", "null", "7", "{\"traceEvents\":[]}", "{\"meshwright\":1}",
                           "{\"meshwright\":[{\"format\":\"meshwright.trace/1\"}]}"})
    EXPECT_NE(problem_of(text), "") << text;
  EXPECT_NE(problem_of(std::string(200'000, '[')), "");
  EXPECT_NE(problem_of("{\"traceEvents\":" + std::string(200'000, '[') + std::string(200'000, ']') + "}"), "");
}

TEST(TraceJson, ManyFaultsAreCounted) {
  std::string bad = "\"traceEvents\":[";
  for (int i = 0; i < 30; ++i) bad += R"({"ph":"X","ts":1,"dur":1,"args":{"key":"bad","step":0,"stream":0}},)";
  EXPECT_THAT(problem_of(replaced(text_of(full_trace()), "\"traceEvents\":[", bad)), HasSubstr("and 10 more"));
}

TEST(TraceJson, AMissingFileIsSaid) { EXPECT_THROW(read_rank_trace("/nonexistent/trace.0.json"), InputError); }

}  // namespace
}  // namespace sim
