#include "gui/import/imported_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <thread>
#include <tuple>

#include "gui/import/json_cursor.h"
#include "gui/import/trace_parser.h"
#include "gui/import/trace_rows.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

constexpr std::size_t kHead = 1 << 20;  // what is said about a trace stands near its beginning

struct ParsedFile {
  TraceFile file;
  TracePart all;
  std::int64_t base = 0;  // baseTimeNanoseconds
};

// The number behind a key of the document's head; 0 where it is not said.
std::int64_t numberAfter(std::string_view text, std::string_view key) {
  const std::size_t at = text.substr(0, kHead).find(key);
  if (at == std::string_view::npos) return 0;
  JsonCursor cursor(text.substr(at + key.size()));
  const std::optional<std::string_view> value = cursor.take(':') ? cursor.scalar() : std::nullopt;
  const std::optional<std::int64_t> number = value ? nanosecondsOf(*value) : std::nullopt;
  return number ? *number / 1000 : 0;
}

std::int64_t rankOf(std::string_view text) {
  const std::size_t at = text.substr(0, kHead).find("\"distributedInfo\"");
  if (at == std::string_view::npos) return -1;
  const std::string_view information = text.substr(at, text.find('}', at) + 1 - at);
  return information.find("\"rank\"") == std::string_view::npos ? -1 : numberAfter(information, "\"rank\"");
}

// Behind the bracket that opens the events.
std::size_t arrayOf(std::string_view text, const std::string& path) {
  constexpr std::string_view kKey = "\"traceEvents\"";
  JsonCursor cursor(text);
  const std::size_t key = text.find(kKey);
  if (key != std::string_view::npos) {
    cursor.seek(key + kKey.size());
    cursor.take(':');
  }
  if (!cursor.take('['))
    throw sim::InputError(path,
                          {{"", "is no trace: there is no array \"traceEvents\"",
                            "open what torch.profiler wrote (export_chrome_trace), plain or .gz, or another Chrome trace-event file"}});
  return cursor.position();
}

std::vector<PartRange> rangesOf(std::string_view text, std::size_t begin) {
  constexpr std::size_t kWorthAThread = 8 << 20;
  const std::size_t bytes = text.size() - begin;
  const std::size_t parts = std::clamp<std::size_t>(bytes / kWorthAThread, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<PartRange> ranges = {{begin, text.size()}};
  for (std::size_t part = 1; part < parts; ++part) {
    const std::size_t cut = nextEvent(text, begin + bytes * part / parts);
    if (cut <= ranges.back().begin || cut >= text.size()) continue;
    ranges.back().end = cut;
    ranges.push_back({cut, text.size()});
  }
  return ranges;
}

void append(TracePart& all, TracePart part) {
  std::vector<std::uint32_t> names, tracks;
  std::map<std::string_view, std::uint32_t> known;
  for (std::size_t at = 0; at < all.names.size(); ++at) known.emplace(all.names[at], static_cast<std::uint32_t>(at));
  for (const std::string_view name : part.names) {
    const auto [entry, is_new] = known.emplace(name, static_cast<std::uint32_t>(all.names.size()));
    if (is_new) all.names.push_back(name);
    names.push_back(entry->second);
  }
  for (const TraceTrack& track : part.tracks) {
    const auto found = std::find(all.tracks.begin(), all.tracks.end(), track);
    tracks.push_back(static_cast<std::uint32_t>(found - all.tracks.begin()));
    if (found == all.tracks.end()) all.tracks.push_back(track);
  }
  all.events.reserve(all.events.size() + part.events.size());
  for (TraceEvent event : part.events) {
    event.name = names[event.name];
    event.track = tracks[event.track];
    all.events.push_back(event);
  }
  for (TraceFlow flow : part.flows) {
    flow.track = tracks[flow.track];
    all.flows.push_back(flow);
  }
  all.said.insert(all.said.end(), part.said.begin(), part.said.end());
  all.malformed += part.malformed;
  all.not_drawn += part.not_drawn;
  all.closed = part.closed;
  all.end = part.end;
}

// All parts at the same time. A cut that turns out to lie inside an event is given up: then one thread reads all.
TracePart parse(std::string_view text, std::size_t begin, LoadProgress& progress) {
  const std::vector<PartRange> ranges = rangesOf(text, begin);
  std::vector<std::future<TracePart>> running;
  for (const PartRange range : ranges)
    running.push_back(std::async(std::launch::async, [text, range, &progress] { return parsePart(text, range, progress); }));
  std::vector<TracePart> parts;
  for (std::future<TracePart>& part : running) parts.push_back(part.get());
  for (std::size_t at = 0; at + 1 < parts.size(); ++at) {
    if (parts[at].closed)
      parts.resize(at + 1);
    else if (parts[at].end != ranges[at + 1].begin)
      return parsePart(text, {begin, text.size()}, progress);
  }
  TracePart all = std::move(parts.front());
  for (std::size_t at = 1; at < parts.size(); ++at) append(all, std::move(parts[at]));
  return all;
}

ParsedFile readFile(const std::string& path, LoadProgress& progress) {
  ParsedFile read;
  read.file.path = path;
  read.file.text = std::make_shared<TextSource>(path, progress);
  const std::string_view text = read.file.text->text();
  read.all = parse(text, arrayOf(text, path), progress);
  read.file.rank = rankOf(text);
  read.base = numberAfter(text, "\"baseTimeNanoseconds\"");
  read.file.malformed = read.all.malformed;
  read.file.not_drawn = read.all.not_drawn;
  read.file.cut = !read.all.closed || read.file.text->isCut();
  return read;
}

std::string wordsOf(const ParsedFile& read, std::string_view what, const TraceTrack& track) {
  std::string text;
  for (const TraceName& name : read.all.said)
    if (name.what == what && name.track.process == track.process && (what != "thread_name" || name.track.thread == track.thread))
      text = unescaped(name.text);
  return text;
}

std::string processName(const ParsedFile& read, const TraceTrack& track, bool several) {
  std::string name = wordsOf(read, "process_labels", track);
  if (name.empty() || name == "CPU") name = wordsOf(read, "process_name", track);
  if (name.empty()) name = std::string(track.process);
  return several ? fmt::format("{}: {}", read.file.rank, name) : name;
}

// Tracks of a process beside each other, as they first appear.
std::vector<std::size_t> trackOrder(const TracePart& part) {
  std::map<std::string_view, std::size_t> first;
  for (std::size_t at = 0; at < part.tracks.size(); ++at) first.emplace(part.tracks[at].process, at);
  std::vector<std::size_t> order(part.tracks.size());
  for (std::size_t at = 0; at < order.size(); ++at) order[at] = at;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return first.at(part.tracks[a].process) < first.at(part.tracks[b].process); });
  return order;
}

class TraceBuilder {
 public:
  TraceBuilder(std::vector<ParsedFile> files, LoadProgress& progress) : files_(std::move(files)), progress_(progress) {
    first_ = std::numeric_limits<std::int64_t>::max();
    for (const ParsedFile& read : files_)
      for (const TraceEvent& event : read.all.events) first_ = std::min(first_, event.begin + read.base);
  }

  SharedTrace build() && {
    for (ParsedFile& read : files_) add(read);
    trace_->core = TimelineCore(std::move(rows_));
    return trace_;
  }

 private:
  void add(ParsedFile& read) {
    read.file.first_span = static_cast<std::uint32_t>(trace_->name.size());
    std::vector<std::uint32_t> names;
    for (const std::string_view name : read.all.names) names.push_back(number(unescaped(name)));
    std::vector<std::vector<std::uint32_t>> of_track(read.all.tracks.size());
    for (std::size_t at = 0; at < read.all.events.size(); ++at)
      of_track[read.all.events[at].track].push_back(static_cast<std::uint32_t>(at));
    trace_->name.reserve(trace_->name.size() + read.all.events.size());
    trace_->offset.reserve(trace_->offset.size() + read.all.events.size());
    std::string_view process;
    std::vector<RowsOfTrack> rows_of_track(read.all.tracks.size());
    for (const std::size_t track : trackOrder(read.all)) {
      progress_.stopIfCancelled();
      TrackRows made =
          rowsOfTrack(read.all.events, std::move(of_track[track]), {first_ - read.base}, static_cast<std::uint32_t>(trace_->name.size()));
      read.file.malformed += made.malformed;
      for (const std::uint32_t event : made.event) {
        trace_->name.push_back(names[read.all.events[event].name]);
        trace_->offset.push_back(read.all.events[event].offset);
      }
      nameRows(made.rows, read, read.all.tracks[track], process != read.all.tracks[track].process);
      if (!made.rows.empty()) process = read.all.tracks[track].process;
      rows_of_track[track] = {rows_.size(), rows_.size() + made.rows.size()};
      for (SliceRow& row : made.rows) rows_.push_back(std::move(row));
    }
    addFlows(read, rows_of_track);
    read.file.slices = static_cast<std::int64_t>(trace_->name.size()) - read.file.first_span;
    trace_->files.push_back(std::move(read.file));
    read.all = TracePart();
  }

  struct RowsOfTrack {
    std::size_t begin = 0, end = 0;
  };

  // The innermost slice of a track at a moment of the file's clock.
  std::optional<std::uint32_t> spanAt(RowsOfTrack rows, std::int64_t nanoseconds) const {
    if (nanoseconds < 0 || nanoseconds > std::numeric_limits<std::int64_t>::max() / 1000) return std::nullopt;
    const std::int64_t time = nanoseconds * 1000;
    for (std::size_t at = rows.end; at-- > rows.begin;) {
      const SliceRow& row = rows_[at];
      const auto behind = static_cast<std::size_t>(std::upper_bound(row.start.begin(), row.start.end(), time) - row.start.begin());
      if (behind > 0 && row.end[behind - 1] >= time) return row.span[behind - 1];
    }
    return std::nullopt;
  }

  // Ends of the same key, in order of time: one that begins and the next that ends.
  void addFlows(ParsedFile& read, const std::vector<RowsOfTrack>& rows) {
    std::vector<TraceFlow>& ends = read.all.flows;
    std::sort(ends.begin(), ends.end(), [](const TraceFlow& a, const TraceFlow& b) { return std::tuple(a.key, a.time, !a.begins) < std::tuple(b.key, b.time, !b.begins); });
    const auto to_span = [&](const TraceFlow& flow) { return spanAt(rows[flow.track], flow.time - (first_ - read.base)); };
    const std::size_t before = trace_->flows.size();
    for (std::size_t at = 0; at + 1 < ends.size(); ++at) {
      if (!ends[at].begins || ends[at + 1].begins || ends[at].key != ends[at + 1].key) continue;
      const std::optional<std::uint32_t> from = to_span(ends[at]), to = to_span(ends[at + 1]);
      if (from && to && *from != *to) trace_->flows.push_back({*from, *to});
    }
    trace_->flows.shrink_to_fit();
    read.file.not_drawn += static_cast<std::int64_t>(ends.size()) - 2 * static_cast<std::int64_t>(trace_->flows.size() - before);
  }

  void nameRows(std::vector<SliceRow>& rows, const ParsedFile& read, const TraceTrack& track, bool opens) const {
    const std::string device = processName(read, track, files_.size() > 1), thread = wordsOf(read, "thread_name", track);
    for (std::size_t depth = 0; depth < rows.size(); ++depth) {
      rows[depth].device = device;
      rows[depth].stream = depth > 0 ? std::string() : thread.empty() ? std::string(track.thread) : thread;
      rows[depth].opens_device = opens && depth == 0;
    }
  }

  std::uint32_t number(std::string name) {
    const auto [entry, is_new] = names_.try_emplace(std::move(name), static_cast<std::uint32_t>(trace_->names.size()));
    if (is_new) trace_->names.push_back(entry->first);
    return entry->second;
  }

  std::vector<ParsedFile> files_;
  LoadProgress& progress_;
  std::int64_t first_;
  std::map<std::string, std::uint32_t> names_;
  std::vector<SliceRow> rows_;
  std::shared_ptr<ImportedTrace> trace_ = std::make_shared<ImportedTrace>();
};

}  // namespace

SharedTrace importTrace(const std::vector<std::string>& paths, LoadProgress& progress) {
  std::vector<ParsedFile> files;
  for (const std::string& path : paths) files.push_back(readFile(path, progress));
  for (std::size_t at = 0; at < files.size(); ++at)
    if (files[at].file.rank < 0) files[at].file.rank = static_cast<std::int64_t>(at);
  std::stable_sort(files.begin(), files.end(), [](const ParsedFile& a, const ParsedFile& b) { return a.file.rank < b.file.rank; });
  const std::int64_t malformed = files.front().file.malformed;
  SharedTrace trace = TraceBuilder(std::move(files), progress).build();
  if (trace->name.empty())
    throw sim::InputError(paths.front(), {{"", fmt::format("holds no slice that can be drawn ({} events are malformed)", malformed),
                                           "record it again; complete events (\"ph\": \"X\") are needed"}});
  return trace;
}

std::vector<std::pair<std::string, std::string>> membersOf(const ImportedTrace& trace, std::uint32_t span) {
  const auto behind = std::find_if(trace.files.begin(), trace.files.end(), [&](const TraceFile& file) { return file.first_span > span; });
  const TraceFile& file = *std::prev(behind);
  std::vector<std::pair<std::string, std::string>> members;
  JsonCursor cursor(file.text->text());
  cursor.seek(trace.offset[span]);
  int depth = cursor.take('{') ? 1 : 0;
  while (depth > 0) {
    if (cursor.take('}')) {
      --depth;
      cursor.take(',');
      continue;
    }
    const std::optional<std::string_view> key = cursor.string();
    if (!key || !cursor.take(':')) break;
    if (*key == "args" && cursor.take('{')) {
      depth = 2;
      continue;
    }
    const bool quoted = cursor.peek() == '"';
    const std::optional<std::string_view> value = quoted ? cursor.string() : cursor.value();
    if (!value) break;
    members.emplace_back(unescaped(*key), quoted ? unescaped(*value) : std::string(*value));
    cursor.take(',');
  }
  return members;
}

}  // namespace gui
