#include "gui/import/imported_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "gui/import/json_cursor.h"
#include "gui/import/kernel_kind.h"
#include "gui/import/trace_file.h"
#include "gui/import/trace_rows.h"
#include "sim/units/at.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

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
  TraceBuilder(std::vector<ParsedFile> files, Progress& progress) : files_(std::move(files)), progress_(progress) {
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
    takeOperators(read);
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

  static void takeOperators(ParsedFile& read) {
    std::vector<TraceEvent>& events = read.all.events;
    read.file.on_host = std::all_of(events.begin(), events.end(), [](const TraceEvent& event) { return event.kind == WorkKind::Host; });
    if (!read.file.on_host) return;
    std::vector<WorkKind> kinds;
    for (const std::string_view name : read.all.names) kinds.push_back(kindOfOperator(name));
    for (TraceEvent& event : events) event.kind = kinds[event.name];
  }

  struct RowsOfTrack {
    std::size_t begin = 0, end = 0;
  };

  // The innermost slice of a track at a moment of the file's clock.
  std::optional<std::uint32_t> spanAt(RowsOfTrack rows, std::int64_t nanoseconds) const {
    if (nanoseconds < 0 || nanoseconds > std::numeric_limits<std::int64_t>::max() / 1000) return std::nullopt;
    const std::int64_t time = nanoseconds * 1000;
    for (std::size_t at = rows.end; at-- > rows.begin;) {
      const std::vector<std::int64_t>& starts = rows_[at].slices->start;
      const auto behind = sim::position_in(starts, std::upper_bound(starts.begin(), starts.end(), time));
      if (behind > 0 && rows_[at].slices->end[behind - 1] >= time) return rows_[at].spanOf(behind - 1);
    }
    return std::nullopt;
  }

  // Ends of the same key, in order of time: one that begins and the next that ends.
  void addFlows(ParsedFile& read, const std::vector<RowsOfTrack>& rows) {
    std::vector<TraceFlow>& ends = read.all.flows;
    std::sort(ends.begin(), ends.end(), [](const TraceFlow& a, const TraceFlow& b) {
      return std::tuple(a.key, a.time, !a.begins) < std::tuple(b.key, b.time, !b.begins);
    });
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
  Progress& progress_;
  std::int64_t first_;
  std::map<std::string, std::uint32_t> names_;
  std::vector<SliceRow> rows_;
  std::shared_ptr<ImportedTrace> trace_ = std::make_shared<ImportedTrace>();
};

}  // namespace

SharedTrace importTrace(const std::vector<std::string>& paths, Progress& progress) {
  std::vector<ParsedFile> files;
  for (const std::string& path : paths) files.push_back(parseTraceFile(path, progress));
  for (std::size_t at = 0; at < files.size(); ++at)
    if (files[at].file.rank < 0) files[at].file.rank = static_cast<std::int64_t>(at);
  std::stable_sort(files.begin(), files.end(), [](const ParsedFile& a, const ParsedFile& b) { return a.file.rank < b.file.rank; });
  const std::int64_t malformed = files.front().file.malformed;
  SharedTrace trace = TraceBuilder(std::move(files), progress).build();
  if (trace->name.empty())
    throw sim::InputError(paths.front(), {{"", fmt::format("holds no slice that can be drawn (malformed events: {})", malformed),
                                           "record it again; complete events (\"ph\": \"X\") are needed"}});
  return trace;
}

std::vector<std::pair<std::string, std::string>> membersOf(const ImportedTrace& trace, std::uint32_t span) {
  const auto behind = std::find_if(trace.files.begin(), trace.files.end(), [&](const TraceFile& file) { return file.first_span > span; });
  const TraceFile& file = *std::prev(behind);
  std::vector<std::pair<std::string, std::string>> members;
  if (!file.text->isAsOpened())
    throw sim::InputError(file.path, {{"", "was written to since it was opened: the arguments of its events are no longer there",
                                       "open it again; names and times stay as they were read"}});
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
