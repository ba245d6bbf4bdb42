// Simulated timelines as Chrome traces (write_chrome_trace in trace.h).
#include <gmock/gmock.h>

#include "sim/timeline/trace.h"
#include "sim/timeline/trace_records.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using testing::content_of;
using testing::TemporaryFolder;
using testing::two_stages;
using testing::us;

std::string written(const std::vector<NamedTimeline>& timelines) {
  const TemporaryFolder folder;
  write_chrome_trace(timelines, folder.file("t.json"));
  return content_of(folder.file("t.json"));
}

std::string written(const Timeline& timeline) { return written({{"a \"title\"", timeline}}); }

struct Counts {
  int slices = 0, steps = 0, starts = 0, ends = 0, counters = 0;
};

Counts counts_of(const std::string& text) {
  Counts counts;
  read_trace_records(text, "t.json", [&](const TracePlace& place, const TraceRecord& record) {
    if (place.list != "traceEvents") return;
    const std::string_view phase = record.find("ph").value_or("");
    const bool is_step = record.find("name").value_or("").starts_with("ProfilerStep#");
    counts.slices += phase == "X" && !is_step;
    counts.steps += is_step;
    counts.starts += phase == "s";
    counts.ends += phase == "f" && record.find("bp") == std::string_view("e");
    counts.counters += phase == "C";
  });
  return counts;
}

TEST(ChromeTrace, HasEverySpanItsFlowsAndTheMemory) {
  const Counts counts = counts_of(written(two_stages()));
  EXPECT_EQ(counts.slices, 10);
  EXPECT_EQ(counts.steps, 2);
  EXPECT_EQ(counts.starts, 2);
  EXPECT_EQ(counts.ends, 2);
  EXPECT_EQ(counts.counters, 2);
}

TEST(ChromeTrace, JoinsEachSendWithItsReceive) {
  std::multiset<std::string> starts, ends;
  read_trace_records(written(two_stages()), "t.json", [&](const TracePlace&, const TraceRecord& record) {
    if (record.find("ph") == std::string_view("s")) starts.emplace(*record.find("id"));
    if (record.find("ph") == std::string_view("f")) ends.emplace(*record.find("id"));
  });
  EXPECT_EQ(starts.size(), 2u);
  EXPECT_EQ(starts, ends);
}

TEST(ChromeTrace, TwoTimelinesStandBesideEachOther) {
  const Timeline timeline = two_stages();
  const std::string text = written({{"simulated", timeline, {{DeviceId(1), us(5), 0.25}}}, {"measured", timeline}});
  for (const char* process :
       {R"("pid":0,"tid":0,"args":{"name":"simulated: stage 0, rank 0"})", R"("pid":3,"tid":0,"args":{"name":"measured: stage 1, rank 1"})",
        R"("name":"link load","pid":1,"tid":0,"ts":5.000,"args":{"share":0.25})"})
    EXPECT_THAT(text, ::testing::HasSubstr(process));
  std::multiset<std::string> starts;
  read_trace_records(text, "t.json", [&](const TracePlace&, const TraceRecord& record) {
    if (record.find("ph") == std::string_view("s")) starts.emplace(*record.find("id"));
  });
  EXPECT_EQ(std::set<std::string>(starts.begin(), starts.end()).size(), 4u) << "no flow leads from one to the other";
}

TEST(ChromeTrace, NamesCollectivesAsNcclDoes) {
  Timeline timeline = two_stages();
  timeline.spans.insert(timeline.spans.begin() + 6,
                        testing::span(0, testing::compute_key(StageIndex(0), 0, Phase::Gradients, Operation::ReduceScatter), us(100),
                                      us(120), Stream::Reduce));
  const std::string text = written(timeline);
  EXPECT_THAT(text, ::testing::HasSubstr("\"ncclDevKernel_ReduceScatter\""));
  EXPECT_THAT(text, ::testing::HasSubstr("\"name\":\"stage 0, rank 0\""));
  EXPECT_THAT(text, ::testing::HasSubstr("a \\\"title\\\""));
  EXPECT_THAT(text, ::testing::HasSubstr("\"world_size\":2"));
}

TEST(ChromeTrace, RoundsBothEdgesAndNeverTheLength) {
  Timeline timeline = two_stages();
  timeline.spans = {testing::span(0, testing::compute_key(StageIndex(0), 0, Phase::Forward), SimTime(600), SimTime(1'400)),
                    testing::span(0, testing::compute_key(StageIndex(0), 0, Phase::Backward), SimTime(1'400), SimTime(2'600))};
  const std::string text = written(timeline);
  EXPECT_THAT(text, ::testing::HasSubstr("\"ts\":0.001,\"dur\":0.000"));  // 0.6 .. 1.4 ns
  EXPECT_THAT(text, ::testing::HasSubstr("\"ts\":0.001,\"dur\":0.002"));  // 1.4 .. 2.6 ns
}

}  // namespace
}  // namespace sim
