// A simulated timeline as a Chrome trace. Declared in trace.h. Collectives carry NCCL's kernel names, so that tools for real traces
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
    case Operation::AllToAll:
    case Operation::RingHop:
    case Operation::Send:
    case Operation::Receive: return "ncclDevKernel_SendRecv";
    default: return kind_text(key);
  }
}

std::string process_name(const GraphDevice& device) {
  std::string name = fmt::format("stage {}, rank {}", device.stage.value(), device.representative.value());
  if (device.multiplicity > 1) name += fmt::format(" and {} like it", device.multiplicity - 1);
  return name;
}

// Unfolded, several pipelines run side by side: the position of a rank inside its stage names its own.
PipelineLine line_of(const std::vector<GraphDevice>& devices, DeviceId device) {
  std::int32_t line = 0;
  for (std::size_t at = 0; at < device.position(); ++at) line += devices[at].stage == devices[device.position()].stage;
  return {line};
}

void write_device(ChromeEvents& events, const Timeline& timeline, DeviceId device, std::span<const Span> row, SimTime end) {
  const GraphDevice& known = timeline.devices[device.position()];
  const std::int32_t process = known.representative.value();
  const std::vector<Span> spans(row.begin(), row.end());
  const std::vector<std::int32_t> lanes = lanes_of(spans);
  const PipelineLine line = line_of(timeline.devices, device);
  events.name_process(process, process_name(known));
  events.name_rows(process, spans, lanes);
  events.slice({{process, kStepThread}, Nanoseconds(0), to_nanoseconds(end)}, "ProfilerStep#0", "user_annotation", R"("step":0)");
  for (std::size_t at = 0; at < spans.size(); ++at) {
    const ChromeSlice slice{row_of(process, spans[at], lanes[at]), to_nanoseconds(spans[at].start), to_nanoseconds(spans[at].end)};
    const TaskKey& key = spans[at].key;
    events.slice(slice, name_of(key), "kernel",
                 fmt::format(R"("key":"{}","kind":"{}","step":0,"stream":{},"device":{})", to_text(key), kind_text(key),
                             static_cast<int>(spans[at].stream), process));
    const std::uint64_t flow = flow_id(key, 0, line);
    if (key.operation == Operation::Send) events.flow_start(slice, flow);
    if (key.operation == Operation::Receive) events.flow_end(slice, flow);
  }
}

void write_memory(ChromeEvents& events, const Timeline& timeline) {
  for (const MemorySample& sample : timeline.memory) {
    std::string arguments;
    for (std::size_t at = 0; at < kNumMemoryCategories; ++at)
      arguments += fmt::format(R"({}"{}":{})", at > 0 ? "," : "", kMemoryCategoryNames[at], sample.alive[at].value());
    const std::int32_t process = timeline.devices[sample.device.position()].representative.value();
    events.counter({process, kStepThread}, to_nanoseconds(sample.time), "memory", arguments);
  }
}

}  // namespace

void write_chrome_trace(const Timeline& timeline, const std::string& title, const std::string& path) {
  SimTime end{};
  std::int32_t ranks = 0;
  for (const Span& span : timeline.spans) end = std::max(end, span.end);
  for (const GraphDevice& device : timeline.devices) ranks += device.multiplicity;
  ChromeEvents events(fmt::format(R"("schemaVersion":1,"displayTimeUnit":"ms","traceName":"{}",
"distributedInfo":{{"backend":"simulated","rank":0,"world_size":{}}},
"meshwright":{{"format":"meshwright.timeline/1"}},
)",
                                  escape_json(title), ranks));
  const std::vector<DeviceRow> rows = device_rows(timeline);
  for (DeviceId device(0); device.position() < rows.size(); ++device)
    write_device(events, timeline, device, rows[device.position()].spans, end);
  write_memory(events, timeline);
  save_text_file(std::move(events).finish(""), path);
}

}  // namespace sim
