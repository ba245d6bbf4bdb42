// A timeline as rows of sorted columns, and what of it is visible at a zoom: the searching half of the timeline view, without any GUI type.
// A row is a stream of a device, or one of several lanes where its spans overlap. Cost of a picture: rows x pixels x log(slices), and a
// look at one of 16 slices.
//
//   slices   |F0|F1|..|| ||    |B0 |            x0           x1
//   pixels    . . . . . . . . . . .    a run is [x0, x1): one slice, or several below a pixel that are folded, the longest showing
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gui/core/slice_blocks.h"
#include "gui/core/time_axis.h"
#include "gui/core/work_kind.h"
#include "sim/timeline/timeline.h"

namespace gui {

struct SliceColumns {
  std::vector<std::int64_t> start{}, end{};  // picoseconds, ascending, not overlapping
  std::vector<WorkKind> kind{};
  std::vector<std::uint32_t> span{};  // into the timeline's, ascending
};
struct SliceRow {
  std::string device{};  // "stage 0 x 8", "rank 3"; the same for all rows of a device
  std::string stream{};  // "compute"
  bool opens_device = false;
  bool repeats = false;                                                     // its slices stand in other rows too
  std::shared_ptr<SliceColumns> slices = std::make_shared<SliceColumns>();  // a copy of the row shares them: ranks that do the same
  std::uint32_t first = 0;                                                  // what its spans are numbered from

  std::size_t size() const { return slices->start.size(); }
  std::uint32_t spanOf(std::size_t at) const { return first + slices->span[at]; }
};

struct Run {
  std::int32_t left = 0, right = 0;    // pixels, right excluded
  std::uint32_t slice = 0, count = 0;  // the one that shows, of its row; how many are folded into the run
  WorkKind kind{};
};
using RunSink = std::function<void(const Run&)>;

struct RowIndex {
  std::size_t value = 0;
  bool operator==(const RowIndex&) const = default;
};
struct Slice {  // one of a row
  RowIndex row;
  std::uint32_t position = 0;
  bool operator==(const Slice&) const = default;
};

class TimelineCore {
 public:
  TimelineCore() = default;
  explicit TimelineCore(const sim::Timeline& timeline);  // copies what it needs
  explicit TimelineCore(std::vector<SliceRow> rows);     // of spans elsewhere
  void setTopRow(SliceRow row);                          // above all others

  std::span<const SliceRow> rows() const { return rows_; }
  const SliceRow& row(RowIndex index) const { return rows_[index.value]; }
  TimeRange range() const { return range_; }
  std::size_t numSlices() const;

  // Runs of the row from left to right, not overlapping. Slices of no length are left out.
  void visit(RowIndex row, const TimeAxis& axis, const RunSink& sink) const;
  // The same as one color a pixel: line[x] is written where a run is.
  void paint(RowIndex row, const TimeAxis& axis, std::span<std::uint32_t> line) const;

  std::optional<Run> under(RowIndex row, double x, const TimeAxis& axis) const;    // what paint shows there
  std::optional<Slice> at(RowIndex row, double x, const TimeAxis& axis) const;     // its slice
  std::optional<sim::SimTime> nearestEdge(RowIndex row, sim::SimTime time) const;  // where a slice begins or ends; none: an empty row
  std::optional<Slice> find(std::uint32_t span) const;                             // in the row of its device
  TimeRange extent(const Slice& slice) const;
  std::optional<Slice> neighbor(const Slice& slice, std::int32_t step) const;  // of the same row

 private:
  template <class Sink>
  void walk(RowIndex index, const TimeAxis& axis, Sink&& sink) const;
  struct Fold {
    std::size_t next = 0;     // the first slice behind the pixel
    std::uint32_t shows = 0;  // the one that stands for those before
  };
  Fold fold(RowIndex index, std::size_t at, sim::SimTime until) const;
  void measure();

  using SharedBlocks = std::shared_ptr<const SliceBlocks>;
  std::vector<SliceRow> rows_;
  std::vector<SharedBlocks> blocks_;  // by row
  TimeRange range_;
};
using SharedCore = std::shared_ptr<const TimelineCore>;

}  // namespace gui
