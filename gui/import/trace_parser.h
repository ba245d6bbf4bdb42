// Events of a Chrome trace in one part of the file, as Kineto and others write them. A part can begin at any event: files are cut into
// parts that are parsed at the same time. What is no event is counted, and reading goes on at the next one.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "gui/core/work_kind.h"
#include "gui/import/text_source.h"

namespace gui {

struct TraceEvent {
  std::int64_t begin = 0;    // nanoseconds
  std::int64_t length = 0;   // kOpened: of a B event, until its E is found; kCloses: the E
  std::uint64_t offset = 0;  // of the event in the file
  std::uint32_t name = 0;    // into the part's names
  std::uint32_t track = 0;   // into the part's tracks
  WorkKind kind{};
};
inline constexpr std::int64_t kOpened = -1, kCloses = -2;

// One end of an arrow: from a launch to its kernel, from a forward operator to its backward.
struct TraceFlow {
  std::uint64_t key = 0;  // of name and id: the same at both ends
  std::int64_t time = 0;  // nanoseconds
  std::uint32_t track = 0;
  bool begins = false;
};

struct TraceTrack {  // as written: numbers or words
  std::string_view process, thread;
  bool operator==(const TraceTrack&) const = default;
};
struct TraceName {  // what a metadata event says of a process or, with `thread`, of a thread
  TraceTrack track;
  std::string_view what, text;  // "process_name", "thread_name", "process_labels"
};

struct TracePart {
  std::vector<TraceEvent> events;
  std::vector<TraceFlow> flows;
  std::vector<std::string_view> names;
  std::vector<TraceTrack> tracks;
  std::vector<TraceName> said;
  std::int64_t malformed = 0;
  std::int64_t not_drawn = 0;  // counters, instants, steps inside a flow
  bool closed = false;         // the array ended here
  std::size_t end = 0;         // where reading stopped
};

struct PartRange {
  std::size_t begin = 0, end = 0;  // an event that begins before `end` belongs to the part
};
TracePart parsePart(std::string_view text, PartRange range, Progress& progress);

// Where an event begins, from `from` on: a quote inside a string is always escaped, so {"ph" can only be an object's beginning.
std::size_t nextEvent(std::string_view text, std::size_t from);

}  // namespace gui
