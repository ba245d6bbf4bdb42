#include "sim/timeline/chrome_events.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <set>

namespace sim {
namespace {

constexpr std::int32_t kLanesAStream = 1000;  // thread = (stream + 1) * this + lane; more lanes than any run has
constexpr std::string_view kComma = ",\n";

struct Microseconds {
  Nanoseconds time;
};

}  // namespace
}  // namespace sim

template <>
struct fmt::formatter<sim::Microseconds> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(const sim::Microseconds& value, Context& context) const {
    const std::int64_t count = value.time.count();
    const std::uint64_t size = count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    return fmt::format_to(context.out(), "{}{}.{:03}", count < 0 ? "-" : "", size / 1000, size % 1000);
  }
};

namespace sim {
namespace {

template <class... Arguments>
void append(fmt::memory_buffer& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

}  // namespace

Nanoseconds to_nanoseconds(SimTime time) {
  const std::int64_t count = time.count();
  const std::int64_t down = count / 1000 - (count % 1000 < 0 ? 1 : 0);  // floor
  return Nanoseconds(down + (count - down * 1000 >= 500 ? 1 : 0));
}

std::string escape_json(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      escaped += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      escaped += c;
  }
  return escaped;
}

std::vector<std::int32_t> lanes_of(const std::vector<Span>& spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return spans[a].start < spans[b].start; });
  std::array<std::vector<SimTime>, kNumStreams> free_at;
  std::vector<std::int32_t> lanes(spans.size());
  for (const std::size_t at : order) {
    auto& stream = free_at[static_cast<std::size_t>(spans[at].stream)];
    std::size_t lane = 0;
    while (lane < stream.size() && stream[lane] > spans[at].start) ++lane;
    if (lane == stream.size()) stream.emplace_back();
    stream[lane] = spans[at].end;
    lanes[at] = static_cast<std::int32_t>(lane);
  }
  return lanes;
}

ChromeRow row_of(std::int32_t process, const Span& span, std::int32_t lane) {
  return {.process = process, .thread = (static_cast<std::int32_t>(span.stream) + 1) * kLanesAStream + lane};
}

ChromeEvents::ChromeEvents(std::string_view head) { append(text_, "{{{}\"traceEvents\":[\n", head); }

void ChromeEvents::name_process(std::int32_t process, std::string_view name) {
  append(text_, R"({{"ph":"M","name":"process_name","pid":{0},"tid":0,"args":{{"name":"{1}"}}}},
{{"ph":"M","name":"process_sort_index","pid":{0},"tid":0,"args":{{"sort_index":{0}}}}})",
         process, escape_json(name));
  append(text_, "{}", kComma);
  append(text_, R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"steps"}}}})", process, kStepThread);
  append(text_, "{}", kComma);
}

void ChromeEvents::name_rows(std::int32_t process, const std::vector<Span>& spans, const std::vector<std::int32_t>& lanes) {
  std::set<std::pair<Stream, std::int32_t>> rows;
  for (std::size_t at = 0; at < spans.size(); ++at) rows.emplace(spans[at].stream, lanes[at]);
  for (const auto& [stream, lane] : rows) {
    const ChromeRow row = row_of(process, Span{.device = {}, .stream = stream, .key = {}, .start = {}, .end = {}}, lane);
    append(text_, R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", process, row.thread,
           kStreamNames[static_cast<std::size_t>(stream)]);
    append(text_, "{}", kComma);
    append(text_, R"({{"ph":"M","name":"thread_sort_index","pid":{0},"tid":{1},"args":{{"sort_index":{1}}}}})", process, row.thread);
    append(text_, "{}", kComma);
  }
}

void ChromeEvents::slice(const ChromeSlice& slice, std::string_view name, std::string_view category, std::string_view arguments) {
  append(text_, R"({{"ph":"X","name":"{}","cat":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", name, category,
         slice.row.process, slice.row.thread, Microseconds{slice.start}, Microseconds{slice.end - slice.start}, arguments);
  append(text_, "{}", kComma);
}

void ChromeEvents::flow_start(const ChromeSlice& from, std::uint64_t id) {
  append(text_, R"({{"ph":"s","name":"transfer","cat":"transfer","id":{},"pid":{},"tid":{},"ts":{}}})", id, from.row.process,
         from.row.thread, Microseconds{from.start});
  append(text_, "{}", kComma);
}

void ChromeEvents::flow_end(const ChromeSlice& to, std::uint64_t id) {  // its last nanosecond: an edge is outside of a slice
  append(text_, R"({{"ph":"f","bp":"e","name":"transfer","cat":"transfer","id":{},"pid":{},"tid":{},"ts":{}}})", id, to.row.process,
         to.row.thread, Microseconds{std::max(to.start, to.end - Nanoseconds(1))});
  append(text_, "{}", kComma);
}

void ChromeEvents::counter(const ChromeRow& row, Nanoseconds time, std::string_view name, std::string_view arguments) {
  append(text_, R"({{"ph":"C","name":"{}","pid":{},"tid":{},"ts":{},"args":{{{}}}}})", name, row.process, row.thread, Microseconds{time},
         arguments);
  append(text_, "{}", kComma);
}

std::string ChromeEvents::finish(std::string_view tail) && {
  if (std::string_view(text_.data(), text_.size()).ends_with(kComma)) text_.resize(text_.size() - kComma.size());
  append(text_, "\n]{}}}\n", tail);
  return fmt::to_string(text_);
}

std::uint64_t flow_id(const TaskKey& key, std::int64_t step, PipelineLine line) {
  if (key.operation != Operation::Send && key.operation != Operation::Receive) return 0;
  // Both ends name the boundary by the layer in front of it.
  const bool behind = (key.phase == Phase::Forward) == (key.operation == Operation::Receive);
  const std::int32_t boundary = key.layer.value() - (behind ? 1 : 0);
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const std::int64_t part : {step, std::int64_t{boundary}, std::int64_t{key.microbatch.value()},
                                  std::int64_t{key.phase == Phase::Forward}, std::int64_t{line.value}})
    for (int shift = 0; shift < 64; shift += 8) hash = (hash ^ ((static_cast<std::uint64_t>(part) >> shift) & 0xff)) * 0x100000001b3;
  return (hash >> 12) | 1;  // exact as a double, never zero
}

}  // namespace sim
