// One trace file, parsed: cut into parts at event boundaries, which are parsed at the same time and put together again.
#pragma once

#include <cstdint>
#include <string>

#include "gui/import/imported_trace.h"
#include "gui/import/trace_parser.h"

namespace gui {

struct ParsedFile {
  TraceFile file;
  TracePart all;
  std::int64_t base = 0;  // baseTimeNanoseconds: of the times of its events
};
// Throws sim::InputError: not readable, no trace, cancelled.
ParsedFile parseTraceFile(const std::string& path, Progress& progress);

}  // namespace gui
