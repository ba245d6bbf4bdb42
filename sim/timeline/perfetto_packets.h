// Writes Perfetto's trace format: TrackEvent packets, each track named before its events, each text once
// (perfetto.dev/docs/reference/synthetic-track-event). Knows the format, not what is drawn.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "sim/timeline/protobuf.h"
#include "sim/timeline/tracks.h"
#include "sim/units/output_file.h"

namespace sim {

struct PerfettoTrack {
  std::uint64_t uuid = 0;  // 0: none
};
struct PerfettoText {
  std::uint64_t number = 0;  // 0: none
};
enum class PerfettoTextKind : std::uint8_t { Category, Name, ArgumentName, Argument };

struct PerfettoSlice {
  PerfettoTrack track;
  Nanoseconds start{}, end{};
  PerfettoText name, category{};
  PerfettoText key{};                       // argument "key"
  std::uint64_t correlation = 0;            // slices of one number have one color in all tracks; 0: none
  std::uint64_t flow_out = 0, flow_in = 0;  // flow_in ends what flow_out began; 0: none
};

class PerfettoPackets {
 public:
  explicit PerfettoPackets(OutputFile& file);
  PerfettoTrack process(std::string_view name);
  // Tracks stand below their parent in the order in which they are made. `group`: equal names stay apart; else they share a row where there is room.
  PerfettoTrack group(PerfettoTrack parent, std::string_view name);
  PerfettoTrack row(PerfettoTrack parent, std::string_view name);
  PerfettoTrack bytes_counter(PerfettoTrack parent, std::string_view name);
  PerfettoTrack percent_counter(PerfettoTrack parent, std::string_view name);

  PerfettoText text(PerfettoTextKind kind, std::string_view text);
  void slice(const PerfettoSlice& slice);  // of a track: not overlapping, in the order of time
  void count(PerfettoTrack track, Nanoseconds time, Bytes value);
  void count(PerfettoTrack track, Nanoseconds time, double value);

 private:
  ProtobufMessage described(PerfettoTrack parent, std::string_view name);
  PerfettoTrack add(const ProtobufMessage& descriptor);
  void begin(const PerfettoSlice& slice);
  void end(const PerfettoSlice& slice);
  void put_event(Nanoseconds time);
  void put_packet();

  OutputFile& file_;
  std::uint64_t tracks_ = 0, processes_ = 0;
  std::array<std::map<std::string, std::uint64_t, std::less<>>, 4> texts_;  // by kind
  PerfettoText key_name_;
  ProtobufMessage packet_, event_, part_, trace_;  // kept: their memory is used again
};

}  // namespace sim
