#include "gui/import/trace_rows.h"

#include <algorithm>

namespace gui {
namespace {

constexpr std::int64_t kLongest = (std::int64_t{1} << 62) / 1000;  // nanoseconds that are picoseconds of the clock

struct Piece {
  std::int64_t begin = 0, end = 0;  // nanoseconds since the start
  std::uint32_t event = 0;
};

// Events in order of time; those with begin and end apart are put together.
std::vector<Piece> piecesOf(const std::vector<TraceEvent>& events, std::vector<std::uint32_t>& of_track, TraceStart start,
                            std::int64_t& malformed) {
  const auto earlier = [&](std::uint32_t a, std::uint32_t b) { return events[a].begin < events[b].begin; };
  if (!std::is_sorted(of_track.begin(), of_track.end(), earlier)) std::stable_sort(of_track.begin(), of_track.end(), earlier);
  std::vector<Piece> pieces;
  pieces.reserve(of_track.size());
  std::vector<std::size_t> open;
  for (const std::uint32_t at : of_track) {
    const TraceEvent& event = events[at];
    std::int64_t begin = 0;
    if (__builtin_sub_overflow(event.begin, start.nanoseconds, &begin)) {
      ++malformed;
    } else if (event.length == kCloses) {
      if (open.empty()) {
        ++malformed;
      } else {
        pieces[open.back()].end = begin;
        open.pop_back();
      }
    } else if (begin < 0 || begin > kLongest || event.length > kLongest - begin) {
      ++malformed;
    } else {
      if (event.length == kOpened) open.push_back(pieces.size());
      pieces.push_back({begin, begin + event.length, at});
    }
  }
  malformed += static_cast<std::int64_t>(open.size());
  std::erase_if(pieces, [](const Piece& piece) { return piece.end < piece.begin; });  // never closed
  return pieces;
}

}  // namespace

TrackRows rowsOfTrack(const std::vector<TraceEvent>& events, std::vector<std::uint32_t> of_track, TraceStart start,
                      std::uint32_t first_span) {
  TrackRows made;
  std::vector<Piece> pieces = piecesOf(events, of_track, start, made.malformed);
  const auto outer_first = [](const Piece& a, const Piece& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; };
  if (!std::is_sorted(pieces.begin(), pieces.end(), outer_first)) std::stable_sort(pieces.begin(), pieces.end(), outer_first);
  std::vector<std::int64_t> open;  // ends of the slices around the current moment, by depth
  made.event.reserve(pieces.size());
  for (const Piece& piece : pieces) {
    while (!open.empty() && open.back() <= piece.begin) open.pop_back();
    if (open.size() == made.rows.size()) made.rows.emplace_back();
    SliceRow& row = made.rows[open.size()];
    row.slices->start.push_back(piece.begin * 1000);
    row.slices->end.push_back(piece.end * 1000);
    row.slices->kind.push_back(events[piece.event].kind);
    row.slices->span.push_back(first_span + static_cast<std::uint32_t>(made.event.size()));
    made.event.push_back(piece.event);
    open.push_back(piece.end);
  }
  for (SliceRow& row : made.rows) {
    row.slices->start.shrink_to_fit();
    row.slices->end.shrink_to_fit();
    row.slices->kind.shrink_to_fit();
    row.slices->span.shrink_to_fit();
  }
  return made;
}

}  // namespace gui
