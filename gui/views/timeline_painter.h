// Paints a TimelineView: ruler, rows, labels, marks. A picture is made of what the view holds; nothing is remembered from one to the next.
#pragma once

#include <QPainter>

#include "gui/views/slice_text.h"
#include "gui/views/timeline_view.h"

namespace gui {

class TimelinePainter {
 public:
  TimelinePainter(const TimelineView& view, QPainter& painter, const QSize& size);
  void paint();

 private:
  struct Label {
    QRectF box;
    std::uint32_t slice = 0;
    WorkKind kind{};
  };
  struct Group {
    std::uint64_t number = 0;
    std::int32_t left = 0, right = 0, widest = 0;  // pixels; of its slices
    std::uint32_t slice = 0;
    WorkKind kind{};
  };
  bool isVector() const;
  bool isVisible(RowIndex row) const;
  int screenTop(RowIndex row) const;
  void paintRuler();
  void paintRows();
  void outlineLine(QImage& image, int top, std::vector<std::uint32_t>& line);
  void paintLine(QImage& image, RowIndex row, std::vector<std::uint32_t>& line);
  void paintRuns(RowIndex row);
  void visitLines(const std::function<void(const std::vector<std::uint32_t>& line, int top)>& paint);
  void paintLines(QImage& image);
  void paintLines();
  void paintLineNames();
  int sliceHeight() const;
  void collect(RowIndex row, const Run& run);
  void join(RowIndex row, const Run& run);
  void paintLabels(RowIndex row);
  void paintGroups(RowIndex row);
  void paintRowNames();
  void paintCounterNames();
  void paintMark(const std::optional<Slice>& slice, const QColor& color);
  void paintGhost();
  void paintMarks();
  void paintCounters();
  void paintFlows();
  void paintFlow(const Flow& flow);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> visibleSpans() const;  // of each visible row: the lowest, the highest
  void paintMeasure();
  std::uint32_t colorOfRun(const SliceRow& row, const Run& run) const;

  const TimelineView& view_;
  QPainter& painter_;
  QSize size_;
  TimeAxis axis_;
  Theme theme_;
  TextFitter fitter_;
  std::vector<std::vector<Group>> groups_;  // by row
  std::vector<std::vector<Label>> labels_;  // by row: runs that are wide enough for text or pattern
};

}  // namespace gui
