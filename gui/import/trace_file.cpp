#include "gui/import/trace_file.h"

#include <algorithm>
#include <charconv>
#include <future>
#include <map>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "gui/import/json_cursor.h"
#include "sim/units/input_error.h"

namespace gui {
namespace {

constexpr std::size_t kHead = 1 << 20;  // what is said about a trace stands near its beginning

// The whole number behind a key of the document's head; 0 where it is not said.
std::int64_t numberAfter(std::string_view text, std::string_view key) {
  const std::size_t at = text.substr(0, kHead).find(key);
  if (at == std::string_view::npos) return 0;
  JsonCursor cursor(text.substr(at + key.size()));
  const std::string_view digits = cursor.take(':') ? cursor.scalar().value_or("") : "";
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return error == std::errc() ? number : 0;
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
TracePart parseAll(std::string_view text, std::size_t begin, Progress& progress) {
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

}  // namespace

ParsedFile parseTraceFile(const std::string& path, Progress& progress) {
  ParsedFile read;
  read.file.path = path;
  read.file.text = std::make_shared<TextSource>(path, progress);
  const std::string_view text = read.file.text->text();
  read.all = parseAll(text, arrayOf(text, path), progress);
  read.file.rank = rankOf(text);
  read.base =
      std::clamp<std::int64_t>(numberAfter(text, "\"baseTimeNanoseconds\""), 0, std::int64_t{1} << 61);  // sums with times stay in range
  read.file.malformed = read.all.malformed;
  read.file.not_drawn = read.all.not_drawn;
  read.file.cut = !read.all.closed || read.file.text->isCut();
  return read;
}

}  // namespace gui
