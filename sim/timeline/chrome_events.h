// Writes Chrome trace events, as Kineto does: microseconds with three decimals made from whole nanoseconds, never from a double.
// Knows the format, not what is drawn.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/timeline/tracks.h"

namespace sim {

std::string escape_json(std::string_view text);  // quotes, backslashes, control characters

struct ChromeRow {  // a line of the picture
  std::int32_t process = 0;
  std::int32_t thread = 0;
};
struct ChromeSlice {
  ChromeRow row;
  Nanoseconds start{}, end{};
};

ChromeRow row_of(std::int32_t process, const Span& span, std::int32_t lane);
inline constexpr std::int32_t kStepThread = 0;  // the row of the ProfilerStep slices

class ChromeEvents {
 public:
  // `head`: the members of the document before "traceEvents", with a comma at the end.
  explicit ChromeEvents(std::string_view head);
  void name_process(std::int32_t process, std::string_view name);
  void name_rows(std::int32_t process, std::span<const Span> spans, const std::vector<std::int32_t>& lanes);
  // `arguments`: members of a JSON object.
  void slice(const ChromeSlice& slice, std::string_view name, std::string_view category, std::string_view arguments);
  void flow_start(const ChromeSlice& from, std::uint64_t id);
  void flow_end(const ChromeSlice& to, std::uint64_t id);
  void counter(const ChromeRow& row, Nanoseconds time, std::string_view name, std::string_view arguments);
  // `tail`: further members of the document, with a comma in front; may be empty.
  std::string finish(std::string_view tail) &&;

 private:
  fmt::memory_buffer text_;
};

}  // namespace sim
