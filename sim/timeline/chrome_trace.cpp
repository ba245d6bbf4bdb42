// Timelines as a Chrome trace. Declared in trace.h. Collectives carry NCCL's kernel names, so that tools for real traces
// know them.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "sim/timeline/chrome_events.h"
#include "sim/timeline/rows.h"
#include "sim/timeline/trace.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

std::string name_of(const TaskKey& key) {
  switch (key.operation) {
    case Operation::AllReduce: return "ncclDevKernel_AllReduce";
    case Operation::ReduceScatter: return "ncclDevKernel_ReduceScatter";
    case Operation::AllGather: return "ncclDevKernel_AllGather";
    case Operation::Broadcast: return "ncclDevKernel_Broadcast";
    case Operation::AllToAll:
    case Operation::RingHop:
    case Operation::Send:
    case Operation::Receive: return "ncclDevKernel_SendRecv";
    default: return kind_text(key);
  }
}

// One timeline among those of a file: its ranks are processes behind those of the ones before.
struct ChromeTimeline {
  const NamedTimeline& named;
  std::string prefix;  // "simulated: " where there are several
  std::int32_t first_process = 0;
  std::int64_t number = 0;
  std::int32_t process(DeviceId device) const { return first_process + named.timeline.devices[device.position()].representative.value(); }
};

void write_device(ChromeEvents& events, const ChromeTimeline& written, DeviceId device, std::span<const Span> spans, PipelineLine line) {
  const std::int32_t process = written.process(device);
  const std::vector<std::int32_t> lanes = lanes_of(spans);
  events.name_process(process, written.prefix + track_name(written.named.timeline.devices[device.position()]));
  events.name_rows(process, spans, lanes);
  for (std::size_t at = 0; at < spans.size(); ++at) {
    const ChromeSlice slice{row_of(process, spans[at], lanes[at]), to_nanoseconds(spans[at].start), to_nanoseconds(spans[at].end)};
    const TaskKey& key = spans[at].key;
    events.slice(slice, name_of(key), "kernel",
                 fmt::format(R"("key":"{}","kind":"{}","step":0,"stream":{},"device":{})", to_text(key), kind_text(key),
                             static_cast<int>(spans[at].stream), process));
    const std::uint64_t flow = flow_id(key, written.number, line);
    if (key.operation == Operation::Send) events.flow_start(slice, flow);
    if (key.operation == Operation::Receive) events.flow_end(slice, flow);
  }
}

void write_counters(ChromeEvents& events, const ChromeTimeline& written) {
  for (const MemorySample& sample : written.named.timeline.memory) {
    std::string arguments;
    for (std::size_t at = 0; at < kNumMemoryCategories; ++at)
      arguments += fmt::format(R"({}"{}":{})", at > 0 ? "," : "", kMemoryCategoryNames[at], sample.alive[at].value());
    events.counter({written.process(sample.device), kStepThread}, to_nanoseconds(sample.time), "memory", arguments);
  }
  for (const LoadSample& sample : written.named.link_load)
    events.counter({written.process(sample.device), kStepThread}, to_nanoseconds(sample.time), "link load",
                   fmt::format(R"("share":{})", sample.load));
}

std::int32_t ranks_of(const Timeline& timeline) {
  std::int32_t ranks = 0;
  for (const GraphDevice& device : timeline.devices) ranks += device.multiplicity;
  return ranks;
}

void write_timeline(ChromeEvents& events, const ChromeTimeline& written, Counted& counted) {
  const Timeline& timeline = written.named.timeline;
  SimTime end{};
  for (const Span& span : timeline.spans) end = std::max(end, span.end);
  const std::vector<DeviceRow> rows = device_rows(timeline);
  const std::vector<PipelineLine> lines = pipeline_lines(timeline.devices);
  for (DeviceId device(0); device.position() < rows.size(); ++device) {
    write_device(events, written, device, rows[device.position()].spans, lines[device.position()]);
    events.slice({{written.process(device), kStepThread}, Nanoseconds(0), to_nanoseconds(end)}, "ProfilerStep#0", "user_annotation",
                 R"("step":0)");
    counted.one();
  }
  write_counters(events, written);
}

}  // namespace

void write_chrome_trace(const std::vector<NamedTimeline>& timelines, const std::string& path, const Told& told) {
  std::int32_t ranks = 0;
  std::string title;
  for (const NamedTimeline& named : timelines) {
    ranks += ranks_of(named.timeline);
    title += (title.empty() ? "" : ", ") + named.name;
  }
  ChromeEvents events(fmt::format(R"("schemaVersion":1,"displayTimeUnit":"ms","traceName":"{}",
"distributedInfo":{{"backend":"simulated","rank":0,"world_size":{}}},
"meshwright":{{"format":"meshwright.timeline/1"}},
)",
                                  escape_json(title), ranks));
  std::int32_t first_process = 0;
  std::int64_t number = 0;
  Counted counted{told, num_devices(timelines)};
  for (const NamedTimeline& named : timelines) {
    write_timeline(events, {named, timelines.size() > 1 ? named.name + ": " : "", first_process, number++}, counted);
    first_process += ranks_of(named.timeline);
  }
  save_text_file(std::move(events).finish(""), path);
}

}  // namespace sim
