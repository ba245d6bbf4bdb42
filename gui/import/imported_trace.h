// A trace of a real program as rows that a timeline shows: a row a thread or GPU stream and a nesting depth. Arguments stay in the file and
// are read when they are asked for. Read on a worker thread, then shared and only read.
//
// Chrome trace-event JSON ("traceEvents", as PyTorch's profiler writes it, or the bare array), plain or gzip; several files, one a rank,
// become one timeline. At most 48 bytes a slice besides the mapped file.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gui/core/flows.h"
#include "gui/core/timeline_core.h"
#include "gui/import/text_source.h"

namespace gui {

struct TraceFile {
  std::string path;
  std::int64_t rank = -1;      // distributedInfo.rank; -1: not said
  std::int64_t malformed = 0;  // events that are none
  std::int64_t not_drawn = 0;  // counters, instants, flows without both ends
  std::int64_t slices = 0;
  bool cut = false;      // the file ends before its array does
  bool on_host = false;  // no device worked: PyTorch's operators stand for kernels, and their slices have the kinds of those
  std::uint32_t first_span = 0;
  SharedText text;
};

struct ImportedTrace {
  std::vector<TraceFile> files;
  TimelineCore core;                  // spans are numbered through all files
  std::vector<std::string> names;     // of slices, each once
  std::vector<std::uint32_t> name;    // by span: into names
  std::vector<std::uint64_t> offset;  // by span: of its event in its file
  std::vector<Flow> flows;            // launches to kernels, forward operators to backward ones: what the file draws as arrows
  const std::string& nameOf(std::uint32_t span) const { return names[name[span]]; }
};
using SharedTrace = std::shared_ptr<const ImportedTrace>;

// Throws sim::InputError: not readable, no trace, no slice in it, cancelled.
SharedTrace importTrace(const std::vector<std::string>& paths, Progress& progress);

// Members of the event as written in the file, those of "args" too. Throws sim::InputError: the file was written to since.
std::vector<std::pair<std::string, std::string>> membersOf(const ImportedTrace& trace, std::uint32_t span);

}  // namespace gui
