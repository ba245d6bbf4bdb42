// Makes rows of one track's events: nested ones go a row deeper, an E closes the latest B.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/core/timeline_core.h"
#include "gui/import/trace_parser.h"

namespace gui {

struct TrackRows {
  std::vector<SliceRow> rows;        // by depth; spans are numbered from `first_span` on, in order of begin
  std::vector<std::uint32_t> event;  // by span - first_span: which of the events
  std::int64_t malformed = 0;        // an E without a B, a B without an E, a time beyond what the clock can hold
};
struct TraceStart {
  std::int64_t nanoseconds = 0;  // of the clock of the events: where the timeline begins
};
// `of_track`: positions of the track's events.
TrackRows rowsOfTrack(const std::vector<TraceEvent>& events, std::vector<std::uint32_t> of_track, TraceStart start,
                      std::uint32_t first_span);

}  // namespace gui
