// Spans over time, a row a stream of a device, through TimelineCore: its cost depends on pixels, not on slices. Slices are written into
// an image line by line; on a vector device (SVG, PDF) the same runs are painted as rectangles.
//
//   | label column | ruler            |
//   | stage 0      | slices, a row a stream; wheel zooms, over the labels it scrolls
#pragma once

#include <QImage>
#include <functional>
#include <optional>
#include <vector>

#include "gui/core/counter.h"
#include "gui/core/flows.h"
#include "gui/core/timeline_core.h"
#include "gui/core/view_state.h"
#include "gui/views/device_line.h"
#include "gui/views/theme.h"
#include "gui/views/view.h"

class QLineEdit;
class QScrollBar;

namespace gui {

using SliceNames = std::function<std::string(std::uint32_t span)>;
using SliceColors = std::function<Rgb(std::uint32_t span)>;
// Slices that belong together, beside each other in a row: equal numbers; 0: to no others. Named where each is too narrow for a name of its own.
struct SliceGroups {
  std::function<std::uint64_t(std::uint32_t span)> of{};
  SliceNames names{};
};
std::uint64_t groupOf(const sim::TaskKey& key);             // the pass of a microbatch through the layers of a stage
SliceNames taskNames(const std::vector<sim::Span>& spans);  // which must outlive them

class TimelineView : public View {
  Q_OBJECT
 public:
  static constexpr int kLabels = 180, kRuler = 26, kRow = 22, kGap = 8, kLeastLine = 4, kMostLine = 8;

  explicit TimelineView(QWidget* parent = nullptr);
  void setTimeline(SharedCore core, SliceNames names);
  void setGroups(SliceGroups groups) { groups_ = std::move(groups); }  // of the timeline that was set
  void setColors(SliceColors colors);                                  // of the timeline that was set; null: by kind of work
  Rgb colorOf(const SliceRow& row, std::uint32_t slice) const;
  using Counters = std::shared_ptr<const std::vector<CounterRow>>;
  using Flows = std::shared_ptr<const std::vector<Flow>>;
  void setExtras(Counters counters, Flows flows = nullptr);       // of the timeline that was set; counters by device
  void setEmptyText(const QString& text) { empty_text_ = text; }  // what stands where there is no timeline yet
  void showAllFlows(bool all);                                    // else those of the selected slice
  const TimelineCore& core() const { return *core_; }
  void setDense(bool dense);  // a device is one line of 4 to 8 pixels: what it does at each moment
  bool isDense() const { return dense_; }
  int rowHeight() const { return dense_ ? line_height_ : kRow; }
  QStringList lineNames() const;  // of devices that are one line, alone or together

  struct Summary {  // devices that are one line together: what they do in the mean
    QString name;
    std::vector<std::size_t> devices;
  };
  // Top to bottom; of the timeline that was set; the others hide. A summary stands where its first device does.
  void setDeviceOrder(std::vector<std::size_t> order, std::size_t num_pinned, std::vector<Summary> summaries = {});
  bool isAllInSight() const;  // without scrolling
  const std::vector<std::size_t>& deviceOrder() const { return order_; }
  void setMarks(std::vector<Mark> marks);
  const std::vector<Mark>& marks() const { return marks_; }

  void setShown(TimeRange range);
  void keepIn(ViewState& state) const;     // what is shown, and the marks
  void lookAgain(const ViewState& state);  // at what was kept
  TimeRange shown() const { return shown_; }
  TimeRange whole() const { return whole_; }
  void setWhole(TimeRange whole);                  // what "fit" shows: two views may share one
  void setGhost(std::optional<sim::SimTime> end);  // where the step ended before the last edit
  void select(std::optional<Slice> slice);
  std::optional<Slice> selected() const { return selected_; }
  void setMatches(std::optional<std::vector<std::uint32_t>> spans);  // ascending; others fade
  static QString deviceText(const SliceRow& row);                    // as its name stands beside the rows
  static QString streamText(const SliceRow& row);
  QPointF centerOf(const Slice& slice) const;
  std::optional<TimeRange> measured() const { return measured_; }
  QString tipAt(const QPointF& position) const;  // what lies there
  QString current() const override { return selected_ ? sentenceOf(*selected_) : QString(); }
  void paintPicture(QPainter& painter, const QSize& size) override;

 Q_SIGNALS:
  void sliceSelected(int span);  // -1: none
  void timelineChanged();
  void rangeChanged(gui::TimeRange range);
  void marksChanged();
  void pinWanted(std::size_t device);
  void groupWanted(std::size_t device);      // as one line, or each by itself again
  void rangeMeasured(gui::TimeRange range);  // by dragging, from edge to edge where they are near; the whole: a click let go of it

 protected:
  bool event(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  friend class TimelinePainter;
  TimeAxis axis(const QSize& size) const;
  int topOf(RowIndex row) const;                 // without scrolling
  std::vector<RowIndex> rowsAt(double y) const;  // several where a device is one line
  std::optional<RowIndex> rowAt(double y) const;
  std::optional<Slice> sliceAt(const QPointF& position) const;
  void step(int by);     // to the next slice of the row; where none is selected, the first that is seen
  void stepRow(int by);  // to what the row below does at that time
  void selectFirst();
  void hop(bool forward);  // along a flow
  void fit();
  void pan(double share);  // of what is shown
  void measure(std::optional<TimeRange> range);
  sim::SimTime momentAt(const QPointF& position) const;
  QString sentenceOf(const Slice& slice) const;
  void addOwnActions();  // what its keys do, for the context menu
  void layoutRows();
  struct Line {  // of one device or several
    std::vector<std::size_t> devices;
    QString name;  // empty: the device's
    int top = 0;   // without scrolling
  };
  std::vector<Line> linesInOrder() const;
  bool isJoined(const Line& line) const { return dense_ || !line.name.isEmpty(); }  // its rows are one
  bool isJoined(RowIndex row) const { return joined_[row.value]; }
  std::size_t deviceOf(RowIndex row) const;  // counted from the top of the core; the critical path is none
  bool isPinned(RowIndex row) const;
  void note(sim::SimTime time);  // asks for the words of a mark; none take it away
  std::optional<std::size_t> markAt(const QPointF& position) const;
  std::span<const CounterRow> counters() const {
    return counters_ ? std::span<const CounterRow>(*counters_) : std::span<const CounterRow>();
  }
  std::span<const Flow> flows() const { return flows_ ? std::span<const Flow>(*flows_) : std::span<const Flow>(); }
  bool fades(const SliceRow& row, std::uint32_t slice) const;

  QString empty_text_;
  SharedCore core_ = std::make_shared<TimelineCore>();
  SliceNames names_;
  SliceGroups groups_;
  SliceColors colors_;
  std::vector<int> tops_, counter_tops_;
  std::vector<DeviceRows> device_rows_;
  std::vector<std::size_t> order_;
  std::vector<Summary> summaries_;
  std::vector<Line> lines_;   // those that are joined
  std::vector<bool> joined_;  // by row
  std::size_t num_pinned_ = 0;
  std::vector<Mark> marks_;
  QLineEdit* words_;
  Counters counters_;
  Flows flows_;
  bool all_flows_ = false, dense_ = false;
  int line_height_ = kMostLine;
  TimeRange shown_, whole_;
  std::optional<sim::SimTime> ghost_;
  std::optional<Slice> selected_, hovered_;
  std::optional<std::vector<std::uint32_t>> matches_;
  std::optional<TimeRange> measured_;
  std::optional<QPointF> drag_;
  bool pans_ = false;  // while it drags
  QScrollBar* scroll_;
};

}  // namespace gui
