#include "sim/timeline/chrome_events.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "sim/units/at.h"

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

void ChromeEvents::name_rows(std::int32_t process, std::span<const Span> spans, const std::vector<std::int32_t>& lanes) {
  std::set<std::pair<Stream, std::int32_t>> rows;
  for (std::size_t at = 0; at < spans.size(); ++at) rows.emplace(spans[at].stream, lanes[at]);
  for (const auto& [stream, lane] : rows) {
    const ChromeRow row = row_of(process, Span{.device = {}, .stream = stream, .key = {}, .start = {}, .end = {}}, lane);
    append(text_, R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", process, row.thread,
           sim::at(kStreamNames, stream));
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

}  // namespace sim
