#include "sim/timeline/perfetto_packets.h"

#include <algorithm>

#include "sim/units/at.h"

namespace sim {
namespace {

// Fields of the messages as in perfetto_trace.proto (v52).
namespace trace_field {
constexpr ProtobufField kPacket{1};
}
namespace packet_field {
constexpr ProtobufField kTimestamp{8}, kSequence{10}, kTrackEvent{11}, kInternedData{12}, kSequenceFlags{13}, kClock{58}, kDefaults{59},
    kTrackDescriptor{60};
}
namespace descriptor_field {
constexpr ProtobufField kUuid{1}, kName{2}, kProcess{3}, kParent{5}, kCounter{8}, kChildOrdering{11}, kOrderRank{12}, kSiblingMerge{15};
constexpr ProtobufField kProcessId{1}, kProcessName{6};            // ProcessDescriptor
constexpr ProtobufField kUnit{3}, kUnitName{6}, kAxisShareKey{7};  // CounterDescriptor
constexpr std::uint64_t kExplicit = 3, kMergeNever = 2, kSizeBytes = 3;
}  // namespace descriptor_field
namespace event_field {
constexpr ProtobufField kCategory{3}, kAnnotation{4}, kType{9}, kName{10}, kTrack{11}, kCounterValue{30}, kCounterReal{44}, kFlow{47},
    kFlowEnd{48}, kCorrelation{52};
constexpr ProtobufField kAnnotationName{1}, kAnnotationText{17};  // DebugAnnotation
constexpr std::uint64_t kBegin = 1, kEnd = 2, kCounter = 4;
}  // namespace event_field
constexpr ProtobufField kInternedKinds[] = {{1}, {2}, {3}, {29}};  // InternedData, by PerfettoTextKind
constexpr ProtobufField kInternedNumber{1}, kInternedText{2};

constexpr std::uint64_t kOneSequence = 1, kStateCleared = 1, kStateNeeded = 2;
constexpr std::uint64_t kBootTime = 6;  // the clock of a trace; here it begins with the timeline

}  // namespace

PerfettoPackets::PerfettoPackets(OutputFile& file) : file_(file) {
  ProtobufMessage defaults;
  defaults.number(packet_field::kClock, kBootTime);
  packet_.message(packet_field::kDefaults, defaults);
  packet_.number(packet_field::kSequenceFlags, kStateCleared);
  put_packet();
  key_name_ = text(PerfettoTextKind::ArgumentName, "key");
}

void PerfettoPackets::put_packet() {
  packet_.number(packet_field::kSequence, kOneSequence);
  trace_.clear();
  trace_.message(trace_field::kPacket, packet_);
  file_.write(trace_.bytes());
  packet_.clear();
}

ProtobufMessage PerfettoPackets::described(PerfettoTrack parent, std::string_view name) {
  ProtobufMessage descriptor;
  descriptor.number(descriptor_field::kUuid, ++tracks_);
  descriptor.number(descriptor_field::kOrderRank, tracks_);
  if (parent.uuid != 0) {
    descriptor.number(descriptor_field::kParent, parent.uuid);
    descriptor.text(descriptor_field::kName, name);
  }
  return descriptor;
}

PerfettoTrack PerfettoPackets::add(const ProtobufMessage& descriptor) {
  packet_.message(packet_field::kTrackDescriptor, descriptor);
  put_packet();
  return {tracks_};
}

PerfettoTrack PerfettoPackets::process(std::string_view name) {
  ProtobufMessage process, descriptor = described({}, name);
  process.number(descriptor_field::kProcessId, ++processes_);
  process.text(descriptor_field::kProcessName, name);
  descriptor.message(descriptor_field::kProcess, process);
  descriptor.number(descriptor_field::kChildOrdering, descriptor_field::kExplicit);
  return add(descriptor);
}

PerfettoTrack PerfettoPackets::group(PerfettoTrack parent, std::string_view name) {
  ProtobufMessage descriptor = described(parent, name);
  descriptor.number(descriptor_field::kChildOrdering, descriptor_field::kExplicit);
  descriptor.number(descriptor_field::kSiblingMerge, descriptor_field::kMergeNever);
  return add(descriptor);
}

PerfettoTrack PerfettoPackets::row(PerfettoTrack parent, std::string_view name) { return add(described(parent, name)); }

PerfettoTrack PerfettoPackets::bytes_counter(PerfettoTrack parent, std::string_view name) {
  ProtobufMessage counter, descriptor = described(parent, name);
  counter.number(descriptor_field::kUnit, descriptor_field::kSizeBytes);
  counter.text(descriptor_field::kAxisShareKey, "memory");
  descriptor.message(descriptor_field::kCounter, counter);
  return add(descriptor);
}

PerfettoTrack PerfettoPackets::percent_counter(PerfettoTrack parent, std::string_view name) {
  ProtobufMessage counter, descriptor = described(parent, name);
  counter.text(descriptor_field::kUnitName, "%");
  descriptor.message(descriptor_field::kCounter, counter);
  return add(descriptor);
}

PerfettoText PerfettoPackets::text(PerfettoTextKind kind, std::string_view text) {
  auto& known = sim::at(texts_, kind);
  if (const auto found = known.find(text); found != known.end()) return {found->second};
  const std::uint64_t number = known.size() + 1;
  known.emplace(text, number);
  ProtobufMessage entry, data;
  entry.number(kInternedNumber, number);
  entry.text(kInternedText, text);
  data.message(sim::at(kInternedKinds, kind), entry);
  packet_.message(packet_field::kInternedData, data);
  packet_.number(packet_field::kSequenceFlags, kStateNeeded);
  put_packet();
  return {number};
}

void PerfettoPackets::put_event(Nanoseconds time) {
  packet_.number(packet_field::kTimestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0)));
  packet_.number(packet_field::kSequenceFlags, kStateNeeded);
  packet_.message(packet_field::kTrackEvent, event_);
  event_.clear();
  put_packet();
}

void PerfettoPackets::begin(const PerfettoSlice& slice) {
  event_.number(event_field::kType, event_field::kBegin);
  event_.number(event_field::kTrack, slice.track.uuid);
  event_.number(event_field::kName, slice.name.number);
  if (slice.category.number != 0) event_.number(event_field::kCategory, slice.category.number);
  if (slice.correlation != 0) event_.number(event_field::kCorrelation, slice.correlation);
  if (slice.flow_out != 0) event_.fixed(event_field::kFlow, slice.flow_out);
  if (slice.key.number != 0) {
    part_.clear();
    part_.number(event_field::kAnnotationName, key_name_.number);
    part_.number(event_field::kAnnotationText, slice.key.number);
    event_.message(event_field::kAnnotation, part_);
  }
  put_event(slice.start);
}

// A receive may wait from before its send began: what ends a flow stands at its end.
void PerfettoPackets::end(const PerfettoSlice& slice) {
  event_.number(event_field::kType, event_field::kEnd);
  event_.number(event_field::kTrack, slice.track.uuid);
  if (slice.flow_in != 0) event_.fixed(event_field::kFlowEnd, slice.flow_in);
  put_event(slice.end);
}

void PerfettoPackets::slice(const PerfettoSlice& slice) {
  begin(slice);
  end(slice);
}

void PerfettoPackets::count(PerfettoTrack track, Nanoseconds time, Bytes value) {
  event_.number(event_field::kType, event_field::kCounter);
  event_.number(event_field::kTrack, track.uuid);
  event_.number(event_field::kCounterValue, static_cast<std::uint64_t>(value.value()));
  put_event(time);
}

void PerfettoPackets::count(PerfettoTrack track, Nanoseconds time, double value) {
  event_.number(event_field::kType, event_field::kCounter);
  event_.number(event_field::kTrack, track.uuid);
  event_.real(event_field::kCounterReal, value);
  put_event(time);
}

}  // namespace sim
