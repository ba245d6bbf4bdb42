// File -> RankTrace. Declared in trace.h. Reads what the writer wrote among whatever other events a tool has added.
#include <fmt/format.h>

#include <charconv>
#include <map>

#include "sim/timeline/trace.h"
#include "sim/timeline/trace_records.h"
#include "sim/timeline/tracks.h"
#include "sim/units/input_error.h"
#include "sim/units/text_file.h"

namespace sim {
namespace {

constexpr std::size_t kMostViolations = 20;
constexpr std::int64_t kLatest = 9'000'000'000'000'000;  // nanoseconds: SimTime counts picoseconds
constexpr std::int64_t kMostRows = std::int64_t{1} << 53;
constexpr std::int32_t kMostRanks = 1 << 20;

bool read_integer(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// "-12.345" microseconds; digits after the third are dropped. No exponents: nobody writes times so.
bool read_microseconds(std::string_view text, Nanoseconds& time) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, dot));
  const std::string_view fraction = text.substr(std::min(dot + 1, text.size()));
  for (std::size_t at = 0; at < 3; ++at) digits += at < fraction.size() ? fraction[at] : '0';
  std::int64_t value = 0;
  if (digits.find_first_not_of("0123456789") != std::string::npos || fraction.find_first_not_of("0123456789") != std::string_view::npos ||
      !read_integer(digits, value) || value > kLatest)
    return false;
  time = Nanoseconds(negative ? -value : value);
  return true;
}

struct Draft {             // of a step, with times as in the file
  bool is_closed = false;  // its ProfilerStep slice was seen
  Nanoseconds start{}, end{};
  Bytes peak_memory{};
  ExpertRows expert_rows{};
  struct Drawn {
    Span span;
    Nanoseconds start{}, end{};
  };
  std::vector<Drawn> spans;
  std::vector<LedgerEntry> ledger;
};

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}
  RankTrace read(std::string_view text);

 private:
  void take(const TracePlace& place, const TraceRecord& record);
  void take_header(const TraceRecord& record);
  void take_event(const TraceRecord& record);
  void take_ledger(const TraceRecord& record);
  void take_step(const TraceRecord& record);
  void take_span(const TraceRecord& record);
  std::int64_t integer(const TraceRecord& record, std::string_view name, std::int64_t low, std::int64_t high);
  TaskKey task_key(const TraceRecord& record, std::string_view name);
  std::pair<Nanoseconds, Nanoseconds> slice(const TraceRecord& record);
  void violate(std::string_view field, std::string problem, std::string remedy);
  MeasuredStep finished(std::int64_t number, Draft& draft) const;

  std::string file_;
  TracePlace place_;
  RankTrace trace_;
  bool has_header_ = false;
  std::map<std::int64_t, Draft> steps_;
  std::vector<Violation> violations_;
  std::size_t num_violations_ = 0;
};

void Reader::violate(std::string_view field, std::string problem, std::string remedy) {
  if (++num_violations_ > kMostViolations) return;
  const std::string at = place_.list == "meshwright" ? std::string("/meshwright") : fmt::format("/{}/{}", place_.list, place_.position);
  violations_.push_back({field.empty() ? at : fmt::format("{}/{}", at, field), std::move(problem), std::move(remedy)});
}

std::int64_t Reader::integer(const TraceRecord& record, std::string_view name, std::int64_t low, std::int64_t high) {
  const auto text = record.find(name);
  std::int64_t value = 0;
  if (text && read_integer(*text, value) && value >= low && value <= high) return value;
  violate(name, text ? fmt::format("is {}, expected a whole number from {} to {}", *text, low, high) : "is missing",
          "write the trace again");
  return low;
}

TaskKey Reader::task_key(const TraceRecord& record, std::string_view name) {
  TaskKey key;
  const auto text = record.find(name);
  if (!text || !parse_task_key(*text, key))
    violate(name, fmt::format("'{}' is no task key", text.value_or("")), "read it with the version that wrote it");
  return key;
}

std::pair<Nanoseconds, Nanoseconds> Reader::slice(const TraceRecord& record) {
  Nanoseconds start{}, duration{};
  if (!read_microseconds(record.find("ts").value_or("?"), start)) violate("ts", "is no number of microseconds", "write the trace again");
  if (!read_microseconds(record.find("dur").value_or("?"), duration) || duration < Nanoseconds(0))
    violate("dur", "is no positive number of microseconds", "write the trace again");
  return {start, start + duration};
}

void Reader::take_header(const TraceRecord& record) {
  has_header_ = record.find("format") == std::string_view("meshwright.trace/1");
  if (!has_header_) return;
  trace_.rank = Rank(static_cast<std::int32_t>(integer(record, "rank", 0, kMostRanks)));
  trace_.plan_hash = record.find("plan_hash").value_or("");
  trace_.clock_offset = Nanoseconds(integer(record, "clock_offset_ns", -kLatest, kLatest));
  const auto degree = [&](std::string_view name) { return static_cast<std::int32_t>(integer(record, name, 1, kMostRanks)); };
  trace_.mesh = {.data = degree("data"), .pipeline = degree("pipeline"), .tensor = degree("tensor")};
}

void Reader::take_step(const TraceRecord& record) {
  Draft& draft = steps_[integer(record, "args.step", 0, kLatest)];
  if (draft.is_closed) violate("args.step", "is there twice", "write the trace again");
  draft.is_closed = true;
  std::tie(draft.start, draft.end) = slice(record);
  draft.peak_memory = Bytes(integer(record, "args.peak_memory", 0, kLatest));
  const auto number = [&](std::string_view name) { return static_cast<double>(integer(record, name, 0, kMostRows)); };
  if (record.find("args.expert_times"))
    draft.expert_rows = {
        .times = number("args.expert_times"), .rows = number("args.expert_rows"), .squares = number("args.expert_squares")};
}

void Reader::take_span(const TraceRecord& record) {
  Draft::Drawn drawn;
  std::tie(drawn.start, drawn.end) = slice(record);
  drawn.span.device = DeviceId(0);
  drawn.span.key = task_key(record, "args.key");
  drawn.span.stream = static_cast<Stream>(integer(record, "args.stream", 0, kNumStreams - 1));
  steps_[integer(record, "args.step", 0, kLatest)].spans.push_back(drawn);
}

void Reader::take_event(const TraceRecord& record) {
  if (record.find("ph") != std::string_view("X")) return;
  if (record.find("name").value_or("").starts_with("ProfilerStep#"))
    take_step(record);
  else if (record.find("args.key"))
    take_span(record);
}

void Reader::take_ledger(const TraceRecord& record) {
  Draft& draft = steps_[integer(record, "step", 0, kLatest)];
  draft.ledger.push_back({.key = task_key(record, "key"),
                          .group_size = static_cast<std::int32_t>(integer(record, "group_size", 1, kMostRanks)),
                          .payload = Bytes(integer(record, "payload", 0, kLatest))});
}

void Reader::take(const TracePlace& place, const TraceRecord& record) {
  place_ = place;
  if (place.list == "meshwright") take_header(record);
  if (place.list == "traceEvents") take_event(record);
  if (place.list == "ledger") take_ledger(record);
}

MeasuredStep Reader::finished(std::int64_t number, Draft& draft) const {
  MeasuredStep step;
  step.step = number;
  step.ledger = std::move(draft.ledger);
  step.peak_memory = draft.peak_memory;
  step.expert_rows = draft.expert_rows;
  step.duration = draft.end - draft.start;
  step.start = SimTime(draft.start) - trace_.clock_offset;
  for (Draft::Drawn& drawn : draft.spans) {
    drawn.span.start = drawn.start - draft.start;
    drawn.span.end = drawn.end - draft.start;
    step.spans.push_back(drawn.span);
  }
  return step;
}

RankTrace Reader::read(std::string_view text) {
  read_trace_records(text, file_, [this](const TracePlace& place, const TraceRecord& record) { take(place, record); });
  if (!has_header_)
    throw InputError(file_, {{"/meshwright/format", "is not \"meshwright.trace/1\"", "give a trace that meshwright-worker wrote"}});
  for (auto& [number, draft] : steps_) {
    if (!draft.is_closed) {
      place_ = {"traceEvents", 0};
      violate("", fmt::format("step {} has tasks, but no slice ProfilerStep#{}", number, number), "write the trace again");
    }
    trace_.steps.push_back(finished(number, draft));
  }
  if (num_violations_ > kMostViolations)
    violations_.push_back({"", fmt::format("and {} more", num_violations_ - kMostViolations), "write the trace again"});
  if (!violations_.empty()) throw InputError(file_, std::move(violations_));
  return std::move(trace_);
}

}  // namespace

RankTrace read_rank_trace(const std::string& path) { return Reader(path).read(load_text_file(path)); }

}  // namespace sim
