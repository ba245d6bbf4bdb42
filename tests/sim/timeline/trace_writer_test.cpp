// Writing the trace of a rank (write_rank_trace in trace.h).
#include <gmock/gmock.h>

#include "sim/timeline/trace.h"
#include "sim/timeline/trace_records.h"
#include "sim/units/input_error.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using testing::content_of;
using ::testing::HasSubstr;
using testing::TemporaryFolder;
using testing::trace_of;
using testing::two_stages;
using testing::us;

std::string written(const RankTrace& trace) {
  const TemporaryFolder folder;
  write_rank_trace(trace, folder.file("trace.0.json"));
  return content_of(folder.file("trace.0.json"));
}

TEST(TraceWriter, SaysWhoWroteIt) {
  RankTrace trace = trace_of(two_stages(), DeviceId(1));
  trace.plan_hash = "quote\"backslash\\";
  const std::string text = written(trace);
  EXPECT_THAT(text, HasSubstr("\"distributedInfo\":{\"backend\":\"mpi\",\"rank\":1,\"world_size\":2}"));
  EXPECT_THAT(text, HasSubstr("\"format\":\"meshwright.trace/1\""));
  EXPECT_THAT(text, HasSubstr("quote\\\"backslash\\\\"));
  EXPECT_THAT(text, HasSubstr("\"name\":\"ProfilerStep#2\""));
  EXPECT_THAT(text, HasSubstr("\"name\":\"process_name\",\"pid\":1"));
  EXPECT_THAT(text, HasSubstr("\"key\":\"s1.c0.m0.l1.forward.attention.none.0\""));
}

TEST(TraceWriter, DrawsTimesOnTheClockOfRankZero) {
  RankTrace trace = trace_of(two_stages(), DeviceId(0), 1);
  trace.clock_offset = us(-300);
  EXPECT_THAT(written(trace), HasSubstr("\"tid\":1000,\"ts\":700.000,\"dur\":20.000"));  // step at 1000 us, first span 0 .. 20
}

TEST(TraceWriter, PlacesStepsEndToEndWhereTheirStartIsUnknown) {
  RankTrace trace = trace_of(two_stages(), DeviceId(0), 2);
  for (MeasuredStep& step : trace.steps) step.start = SimTime(0);
  const std::string text = written(trace);
  EXPECT_THAT(text, HasSubstr("\"name\":\"ProfilerStep#0\",\"cat\":\"user_annotation\",\"pid\":0,\"tid\":0,\"ts\":0.000,\"dur\":100.000"));
  EXPECT_THAT(text,
              HasSubstr("\"name\":\"ProfilerStep#1\",\"cat\":\"user_annotation\",\"pid\":0,\"tid\":0,\"ts\":100.000,\"dur\":100.000"));
}

// Two ranks of a pipeline, merged: each flow has one start and one end.
TEST(TraceWriter, FlowsOfSeveralRanksFitTogether) {
  std::multiset<std::string> starts, ends;
  for (const std::int32_t rank : {0, 1})
    read_trace_records(written(trace_of(two_stages(), DeviceId(rank), 2)), "t", [&](const TracePlace&, const TraceRecord& record) {
      if (record.find("ph") == std::string_view("s")) starts.emplace(*record.find("id"));
      if (record.find("ph") == std::string_view("f")) ends.emplace(*record.find("id"));
    });
  EXPECT_EQ(starts.size(), 4u);
  EXPECT_EQ(starts, ends);
  EXPECT_EQ(std::set<std::string>(starts.begin(), starts.end()).size(), 4u);
}

TEST(TraceWriter, ReplacesAFileAsAWhole) {
  const TemporaryFolder folder;
  testing::put(folder.file("trace.0.json"), "older");
  EXPECT_THROW(write_rank_trace(trace_of(two_stages(), DeviceId(0)), folder.file("nowhere/trace.0.json")), InputError);
  EXPECT_EQ(content_of(folder.file("trace.0.json")), "older");
  write_rank_trace(trace_of(two_stages(), DeviceId(0)), folder.file("trace.0.json"));
  EXPECT_THAT(content_of(folder.file("trace.0.json")), HasSubstr("ProfilerStep#0"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);  // nothing left aside
}

}  // namespace
}  // namespace sim
