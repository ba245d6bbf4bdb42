// Timelines in Perfetto's format (write_perfetto_trace in trace.h).
#include <gmock/gmock.h>

#include <set>

#include "sim/timeline/trace.h"
#include "tests/sim/timeline/protobuf_fields.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using testing::field;
using testing::protobuf_fields;
using testing::ProtobufFields;
using testing::two_stages;
using testing::us;

struct ReadBack {
  int begins = 0, ends = 0;
  std::uint64_t length = 0;  // of all slices, in nanoseconds
  std::multiset<std::uint64_t> flows, ended_flows, correlations, counts;
  std::multiset<std::string> tracks, texts;
};

ReadBack read_back(const std::vector<NamedTimeline>& timelines) {
  const testing::TemporaryFolder folder;
  write_perfetto_trace(timelines, folder.file("t.perfetto-trace"));
  const std::string bytes = testing::content_of(folder.file("t.perfetto-trace"));
  ReadBack read;
  for (const ProtobufFields& packet : testing::perfetto_packets(bytes)) {
    const ProtobufFields event = protobuf_fields(field(packet, 11).text), track = protobuf_fields(field(packet, 60).text);
    for (const auto& [kind, entry] : protobuf_fields(field(packet, 12).text))
      read.texts.emplace(field(protobuf_fields(entry.text), 2).text);
    if (packet.count(60)) read.tracks.emplace(track.count(3) ? field(protobuf_fields(field(track, 3).text), 6).text : field(track, 2).text);
    const std::uint64_t type = field(event, 9).number, time = field(packet, 8).number;
    read.begins += type == 1;
    read.ends += type == 2;
    read.length += type == 1 ? 0 - time : type == 2 ? time : 0;
    if (event.count(47)) read.flows.insert(field(event, 47).number);
    if (event.count(48)) read.ended_flows.insert(field(event, 48).number);
    if (event.count(52)) read.correlations.insert(field(event, 52).number);
    if (type == 4) read.counts.insert(field(event, 30).number);
  }
  return read;
}

TEST(PerfettoTrace, HasEverySpanItsFlowsAndTheMemory) {
  const Timeline timeline = two_stages();
  const ReadBack read = read_back({{"simulated", timeline}});
  EXPECT_EQ(read.begins, 10);
  EXPECT_EQ(read.ends, 10);
  std::uint64_t length = 0;
  for (const Span& span : timeline.spans) length += static_cast<std::uint64_t>((span.end - span.start).count()) / 1000;
  EXPECT_EQ(read.length, length);
  EXPECT_EQ(read.flows.size(), 2u);
  EXPECT_EQ(read.flows, read.ended_flows);
  EXPECT_EQ(read.counts, (std::multiset<std::uint64_t>{100, 150, 100, 0, 50})) << "all, parameters, activations";
  for (const char* track : {"simulated", "stage 0, rank 0", "stage 1, rank 1", "compute", "send", "receive", "memory", "activations"})
    EXPECT_TRUE(read.tracks.count(track)) << track;
  EXPECT_EQ(read.texts.count("forward.attention"), 1u);
  EXPECT_EQ(read.texts.count(to_text(timeline.spans[0].key)), 1u);
  EXPECT_EQ(read.correlations.count(1), 9u) << "all but the update are of microbatch 0";
}

TEST(PerfettoTrace, TwoTimelinesAreTwoProcessesWithFlowsOfTheirOwn) {
  const Timeline timeline = two_stages();
  const ReadBack read = read_back({{"simulated", timeline}, {"measured", timeline, {{DeviceId(1), us(5), 0.25}}}});
  EXPECT_EQ(read.begins, 20);
  EXPECT_EQ(std::set<std::uint64_t>(read.flows.begin(), read.flows.end()).size(), 4u);
  EXPECT_EQ(read.flows, read.ended_flows);
  EXPECT_EQ(read.tracks.count("stage 1, rank 1"), 2u);
  EXPECT_EQ(read.tracks.count("link load"), 1u);
  EXPECT_EQ(read.texts.count("forward.attention"), 1u) << "texts are shared";
}

}  // namespace
}  // namespace sim
