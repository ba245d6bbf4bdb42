// Timelines in Perfetto's format: a process each, in it the ranks, in them their streams and counters. Declared in trace.h.
#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "sim/timeline/perfetto_packets.h"
#include "sim/timeline/rows.h"
#include "sim/timeline/trace.h"
#include "sim/units/at.h"
#include "sim/units/random_bits.h"

namespace sim {
namespace {

struct KeyHash {
  std::size_t operator()(const TaskKey& key) const {
    std::uint64_t hash = 0;
    for (const std::int32_t part :
         {key.stage.value(), key.chunk.value(), key.microbatch.value(), key.slice.value(), key.layer.value(), key.sequence,
          static_cast<std::int32_t>(key.phase), static_cast<std::int32_t>(key.operation), static_cast<std::int32_t>(key.group)})
      hash = mix_bits(hash + static_cast<std::uint32_t>(part) + 1);
    return hash;
  }
};

class PerfettoWriter {
 public:
  explicit PerfettoWriter(OutputFile& file) : packets_(file) {}

  void write(const NamedTimeline& named, Counted& counted) {
    const PerfettoTrack process = packets_.process(named.name);
    const Timeline& timeline = named.timeline;
    const std::vector<PipelineLine> lines = pipeline_lines(timeline.devices);
    const std::vector<DeviceRow> rows = device_rows(timeline);
    auto memory = timeline.memory.begin();
    auto load = named.link_load.begin();
    for (DeviceId device(0); device.position() < rows.size(); ++device) {
      const PerfettoTrack rank = packets_.group(process, track_name(timeline.devices[device.position()]));
      write_spans(rank, rows[device.position()].spans, lines[device.position()]);
      const auto of_others = [device](const auto& sample) { return sample.device != device; };
      const auto memory_end = std::find_if(memory, timeline.memory.end(), of_others);
      write_memory(rank, {memory, memory_end});
      const auto load_end = std::find_if(load, named.link_load.end(), of_others);
      write_load(rank, {load, load_end});
      memory = memory_end;
      load = load_end;
      counted.one();
    }
    ++written_;
  }

 private:
  struct KnownKey {
    PerfettoText name, category, key;
  };
  const KnownKey& known(const TaskKey& key) {
    const auto [entry, is_new] = keys_.try_emplace(key);
    if (is_new)
      entry->second = {
          packets_.text(PerfettoTextKind::Name, kind_text(key)),
          packets_.text(PerfettoTextKind::Category, is_communication(key.operation) ? "communication" : sim::at(kPhaseNames, key.phase)),
          packets_.text(PerfettoTextKind::Argument, to_text(key))};
    return entry->second;
  }

  // Tracks in the order of the streams; a second lane has the name of the first.
  std::map<std::pair<Stream, std::int32_t>, PerfettoTrack> tracks_of(PerfettoTrack rank, std::span<const Span> spans,
                                                                     const std::vector<std::int32_t>& lanes) {
    std::map<std::pair<Stream, std::int32_t>, PerfettoTrack> tracks;
    for (std::size_t at = 0; at < spans.size(); ++at) tracks[{spans[at].stream, lanes[at]}];
    for (auto& [row, track] : tracks) track = packets_.row(rank, sim::at(kStreamNames, row.first));
    return tracks;
  }

  void write_spans(PerfettoTrack rank, std::span<const Span> spans, PipelineLine line) {
    const std::vector<std::int32_t> lanes = lanes_of(spans);
    const auto tracks = tracks_of(rank, spans, lanes);
    for (std::size_t at = 0; at < spans.size(); ++at) {
      const Span& span = spans[at];
      const KnownKey& text = known(span.key);
      PerfettoSlice slice{.track = tracks.at({span.stream, lanes[at]}),
                          .start = to_nanoseconds(span.start),
                          .end = to_nanoseconds(span.end),
                          .name = text.name,
                          .category = text.category,
                          .key = text.key};
      if (span.key.microbatch != MicrobatchIndex::none()) slice.correlation = static_cast<std::uint64_t>(span.key.microbatch.value()) + 1;
      const std::uint64_t flow = flow_id(span.key, written_, line);  // of this timeline, not of the others in the file
      (span.key.operation == Operation::Send ? slice.flow_out : slice.flow_in) = flow;
      packets_.slice(slice);
    }
  }

  void write_memory(PerfettoTrack rank, std::span<const MemorySample> samples) {
    if (samples.empty()) return;
    const PerfettoTrack all = packets_.bytes_counter(rank, "memory");
    for (const MemorySample& sample : samples) packets_.count(all, to_nanoseconds(sample.time), total(sample.alive));
    for (std::size_t category = 0; category < kNumMemoryCategories; ++category) write_category(all, samples, category);
  }

  void write_category(PerfettoTrack memory, std::span<const MemorySample> samples, std::size_t category) {
    const auto is_used = [category](const MemorySample& sample) { return sample.alive[category] != Bytes(0); };
    if (std::none_of(samples.begin(), samples.end(), is_used)) return;
    const PerfettoTrack track = packets_.bytes_counter(memory, kMemoryCategoryNames[category]);
    Bytes before{-1};
    for (const MemorySample& sample : samples)
      if (std::exchange(before, sample.alive[category]) != sample.alive[category])
        packets_.count(track, to_nanoseconds(sample.time), sample.alive[category]);
  }

  void write_load(PerfettoTrack rank, std::span<const LoadSample> samples) {
    if (samples.empty()) return;
    const PerfettoTrack track = packets_.percent_counter(rank, "link load");
    for (const LoadSample& sample : samples) packets_.count(track, to_nanoseconds(sample.time), 100 * sample.load);
  }

  PerfettoPackets packets_;
  std::unordered_map<TaskKey, KnownKey, KeyHash> keys_;  // looked up, never walked
  std::int64_t written_ = 0;
};

}  // namespace

void write_perfetto_trace(const std::vector<NamedTimeline>& timelines, const std::string& path, const Told& told) {
  OutputFile file(path);
  PerfettoWriter writer(file);
  Counted counted{told, num_devices(timelines)};
  for (const NamedTimeline& named : timelines) writer.write(named, counted);
  file.finish();
}

}  // namespace sim
