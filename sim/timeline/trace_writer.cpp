// RankTrace -> file. Declared in trace.h. On the worker's path: text is formatted straight into one buffer.
#include <fmt/format.h>

#include <algorithm>

#include "sim/timeline/chrome_events.h"
#include "sim/timeline/trace.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

std::string_view category_of(const TaskKey& key) { return is_communication(key.operation) ? "collective_comm" : "cpu_op"; }

std::string head_of(const RankTrace& trace) {
  return fmt::format(R"("schemaVersion":1,"displayTimeUnit":"ms","traceName":"{}",
"distributedInfo":{{"backend":"mpi","rank":{},"world_size":{}}},
"meshwright":{{"format":"meshwright.trace/1","rank":{},"plan_hash":"{}","clock_offset_ns":{},"data":{},"pipeline":{},"tensor":{}}},
)",
                     trace_file_name(trace.rank), trace.rank.value(), std::max(trace.mesh.ranks(), trace.rank.value() + 1),
                     trace.rank.value(), escape_json(trace.plan_hash), to_nanoseconds(trace.clock_offset).count(), trace.mesh.data,
                     trace.mesh.pipeline, trace.mesh.tensor);
}

PipelineLine line_of(const RankTrace& trace) { return {trace.rank.value() % std::max(trace.mesh.data * trace.mesh.tensor, 1)}; }

std::string text_of(const ExpertRows& counted) {
  if (counted == ExpertRows{}) return {};
  return fmt::format(R"(,"expert_times":{:.0f},"expert_rows":{:.0f},"expert_squares":{:.0f})", counted.times, counted.rows,
                     counted.squares);
}

void write_step(ChromeEvents& events, const RankTrace& trace, const MeasuredStep& step, SimTime start) {
  const std::int32_t process = trace.rank.value();
  const Nanoseconds offset = to_nanoseconds(trace.clock_offset);
  const auto at = [&](SimTime since_start) { return offset + to_nanoseconds(start + since_start); };
  events.slice({{process, kStepThread}, at(SimTime(0)), at(step.duration)}, fmt::format("ProfilerStep#{}", step.step), "user_annotation",
               fmt::format(R"("step":{},"peak_memory":{}{})", step.step, step.peak_memory.value(), text_of(step.expert_rows)));
  const std::vector<std::int32_t> lanes = lanes_of(step.spans);
  for (std::size_t number = 0; number < step.spans.size(); ++number) {
    const Span& span = step.spans[number];
    const ChromeSlice slice{row_of(process, span, lanes[number]), at(span.start), at(span.end)};
    events.slice(slice, kind_text(span.key), category_of(span.key),
                 fmt::format(R"("key":"{}","step":{},"stream":{})", to_text(span.key), step.step, static_cast<int>(span.stream)));
    const std::uint64_t flow = trace.mesh.pipeline > 1 ? flow_id(span.key, step.step, line_of(trace)) : 0;
    if (flow != 0 && span.key.operation == Operation::Send) events.flow_start(slice, flow);
    if (flow != 0 && span.key.operation == Operation::Receive) events.flow_end(slice, flow);
  }
  events.counter({process, kStepThread}, at(step.duration), "peak memory", fmt::format(R"("bytes":{})", step.peak_memory.value()));
}

std::string ledger_of(const RankTrace& trace) {
  fmt::memory_buffer text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, ",\n\"ledger\":[");
  std::string_view comma = "\n";
  for (const MeasuredStep& step : trace.steps)
    for (const LedgerEntry& entry : step.ledger) {
      fmt::format_to(out, R"({}{{"step":{},"key":"{}","group_size":{},"payload":{}}})", comma, step.step, to_text(entry.key),
                     entry.group_size, entry.payload.value());
      comma = ",\n";
    }
  fmt::format_to(out, "\n]");
  return fmt::to_string(text);
}

void name_rows(ChromeEvents& events, const RankTrace& trace) {
  events.name_process(trace.rank.value(), fmt::format("rank {}", trace.rank.value()));
  std::vector<Span> spans;
  std::vector<std::int32_t> lanes;
  for (const MeasuredStep& step : trace.steps) {
    const std::vector<std::int32_t> step_lanes = lanes_of(step.spans);
    spans.insert(spans.end(), step.spans.begin(), step.spans.end());
    lanes.insert(lanes.end(), step_lanes.begin(), step_lanes.end());
  }
  events.name_rows(trace.rank.value(), spans, lanes);
}

}  // namespace

std::string trace_file_name(Rank rank) { return fmt::format("trace.{}.json", rank.value()); }

void write_rank_trace(const RankTrace& trace, const std::string& path) {
  ChromeEvents events(head_of(trace));
  name_rows(events, trace);
  SimTime end_of_last{};
  for (const MeasuredStep& step : trace.steps) {
    const SimTime start = std::max(step.start, end_of_last);
    write_step(events, trace, step, start);
    end_of_last = start + step.duration;
  }
  save_text_file(std::move(events).finish(ledger_of(trace)), path);
}

}  // namespace sim
