#include "sim/timeline/perfetto_packets.h"

#include <gtest/gtest.h>

#include "tests/sim/timeline/protobuf_fields.h"
#include "tests/sim/timeline/timelines.h"

namespace sim {
namespace {

using testing::field;
using testing::protobuf_fields;
using testing::ProtobufFields;

// Fields as numbered in perfetto_trace.proto; packets of 1: what `write` made.
template <class Write>
std::vector<ProtobufFields> packets_of(const Write& write) {
  static std::string bytes;  // packets point into it
  const testing::TemporaryFolder folder;
  OutputFile file(folder.file("t"));
  PerfettoPackets packets(file);
  write(packets);
  file.finish();
  bytes = testing::content_of(folder.file("t"));
  return testing::perfetto_packets(bytes);
}

TEST(PerfettoPackets, EachTextIsWrittenOnceBeforeItIsUsed) {
  const auto packets = packets_of([](PerfettoPackets& to) {
    const PerfettoTrack row = to.row(to.process("p"), "row");
    for (int i = 0; i < 3; ++i)
      to.slice({.track = row, .start = Nanoseconds(i), .end = Nanoseconds(i), .name = to.text(PerfettoTextKind::Name, "a")});
  });
  int texts = 0;
  for (std::size_t at = 0; at < packets.size(); ++at) {
    EXPECT_EQ(field(packets[at], 10).number, 1u) << "one sequence";
    EXPECT_EQ(field(packets[at], 13).number, at == 0 ? 1u : packets[at].count(60) ? 0u : 2u) << "the state is cleared once, then needed";
    const ProtobufFields names = protobuf_fields(field(protobuf_fields(field(packets[at], 12).text), 2).text);
    texts += field(names, 2).text == "a";
    EXPECT_TRUE(texts == 1 || !packets[at].count(11));
  }
  EXPECT_EQ(texts, 1);
}

TEST(PerfettoPackets, TracksStandInTheirOrderBelowTheirParent) {
  const auto packets = packets_of([](PerfettoPackets& to) {
    const PerfettoTrack process = to.process("simulated");
    to.row(to.group(process, "rank 10"), "compute");
    to.group(process, "rank 9");
  });
  std::map<std::string, ProtobufFields> tracks;
  for (const ProtobufFields& packet : packets)
    if (packet.count(60)) {
      const ProtobufFields track = protobuf_fields(field(packet, 60).text);
      const std::string_view name = track.count(3) ? field(protobuf_fields(field(track, 3).text), 6).text : field(track, 2).text;
      tracks.emplace(name, track);
    }
  EXPECT_EQ(field(tracks["rank 10"], 5).number, field(tracks["simulated"], 1).number);
  EXPECT_EQ(field(tracks["compute"], 5).number, field(tracks["rank 10"], 1).number);
  EXPECT_EQ(field(tracks["simulated"], 11).number, 3u) << "explicit order";
  EXPECT_LT(field(tracks["rank 10"], 12).number, field(tracks["rank 9"], 12).number);
  EXPECT_EQ(field(tracks["rank 9"], 15).number, 2u) << "never merged";
}

TEST(PerfettoPackets, CountersHaveTheirUnit) {
  const auto packets = packets_of([](PerfettoPackets& to) {
    const PerfettoTrack process = to.process("p");
    to.count(to.bytes_counter(process, "memory"), Nanoseconds(7), Bytes(3'000'000'000));
    to.count(to.percent_counter(process, "load"), Nanoseconds(8), 50.0);
  });
  const ProtobufFields bytes = packets[packets.size() - 3], load = packets.back();
  EXPECT_EQ(field(bytes, 8).number, 7u);
  EXPECT_EQ(field(protobuf_fields(field(bytes, 11).text), 30).number, 3'000'000'000u);
  EXPECT_EQ(field(protobuf_fields(field(load, 11).text), 44).number, std::bit_cast<std::uint64_t>(50.0));
}

}  // namespace
}  // namespace sim
