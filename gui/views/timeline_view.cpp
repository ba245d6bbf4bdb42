#include "gui/views/timeline_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/views/timeline_painter.h"

namespace gui {

TimelineView::TimelineView(QWidget* parent)
    : View(parent), empty_text_(tr("Choose a plan to see its timeline")), scroll_(new QScrollBar(Qt::Vertical, this)) {
  connect(scroll_, &QScrollBar::valueChanged, this, [this] { update(); });
  setMinimumHeight(120);
  setAccessibleName(tr("Timeline"));
}

SliceNames taskNames(const std::vector<sim::Span>& spans) {
  return [&spans](std::uint32_t span) { return shortName(spans[span].key); };
}

void TimelineView::setTimeline(SharedCore core, SliceNames names) {
  core_ = std::move(core);
  names_ = std::move(names);
  shown_ = whole_ = core_->range();
  selected_.reset();
  hovered_.reset();
  matches_.reset();
  measured_.reset();
  ghost_.reset();
  counters_.clear();
  flows_.clear();
  layoutRows();
  update();
}

void TimelineView::setExtras(std::vector<Counter> counters, std::vector<Flow> flows) {
  counters_ = std::move(counters);
  flows_ = std::move(flows);
  layoutRows();
  update();
}

void TimelineView::showAllFlows(bool all) {
  all_flows_ = all;
  update();
}

void TimelineView::layoutRows() {
  tops_.clear();
  counter_tops_.clear();
  int top = 0, device = -1;
  const auto add_counters = [&] {  // those of the devices so far
    while (counter_tops_.size() < counters_.size() && counters_[counter_tops_.size()].device.value() <= device) {
      counter_tops_.push_back(top);
      top += kRow;
    }
  };
  for (const SliceRow& row : core_->rows()) {
    if (row.opens_device) {
      add_counters();
      top += kGap;
      device += row.repeats ? 0 : 1;
    }
    tops_.push_back(top);
    top += kRow;
  }
  add_counters();
  const int room = std::max(1, height() - kRuler);
  scroll_->setRange(0, std::max(0, top + kGap - room));
  scroll_->setPageStep(room);
  scroll_->setSingleStep(kRow);
  scroll_->setVisible(scroll_->maximum() > 0);
  scroll_->setGeometry(width() - 14, kRuler, 14, room);
}

void TimelineView::resizeEvent(QResizeEvent*) { layoutRows(); }

TimeAxis TimelineView::axis(const QSize& size) const {
  const int bar = scroll_->maximum() > 0 ? 14 : 0;
  return {shown_, {std::max(10, size.width() - kLabels - bar - 2)}};
}

int TimelineView::topOf(RowIndex row) const { return tops_[row.value]; }

void TimelineView::setShown(TimeRange range) {
  if (range == shown_) return;
  shown_ = range;
  update();
  Q_EMIT rangeChanged(range);
}

void TimelineView::setWhole(TimeRange whole) {
  whole_ = whole;
  setShown(whole);
}

void TimelineView::setGhost(std::optional<sim::SimTime> end) {
  ghost_ = end;
  if (end && *end > whole_.end) setWhole({whole_.begin, *end + *end / 50});
  update();
}

void TimelineView::select(std::optional<Slice> slice) {
  selected_ = slice;
  if (slice) {
    const TimeRange extent = core_->extent(*slice);
    if (extent.end < shown_.begin || extent.begin > shown_.end)
      setShown(panned(shown_, extent.begin - shown_.begin - shown_.length() / 2, whole_));
    const int top = topOf(slice->row);
    if (top < scroll_->value() || top + kRow > scroll_->value() + height() - kRuler) scroll_->setValue(top - (height() - kRuler) / 2);
  }
  update();
  Q_EMIT sliceSelected(slice ? static_cast<int>(core_->row(slice->row).span[slice->position]) : -1);
}

void TimelineView::setMatches(std::optional<std::vector<std::uint32_t>> spans) {
  matches_ = std::move(spans);
  update();
}

bool TimelineView::fades(const SliceRow& row, std::uint32_t slice) const {
  return !std::binary_search(matches_->begin(), matches_->end(), row.span[slice]);
}

QPointF TimelineView::centerOf(const Slice& slice) const {
  const TimeRange extent = core_->extent(slice);
  const TimeAxis times = axis(size());
  return {kLabels + (times.toX(extent.begin) + times.toX(extent.end)) / 2, topOf(slice.row) + kRuler - scroll_->value() + kRow / 2.0 - 1};
}

void TimelineView::paintPicture(QPainter& painter, const QSize& size) { TimelinePainter(*this, painter, size).paint(); }

std::optional<RowIndex> TimelineView::rowAt(double y) const {
  const double inside = y - kRuler + scroll_->value();
  for (std::size_t row = 0; row < tops_.size() && y >= kRuler; ++row)
    if (inside >= tops_[row] && inside < tops_[row] + kRow) return RowIndex{row};
  return std::nullopt;
}

std::optional<Slice> TimelineView::sliceAt(const QPointF& position) const {
  const std::optional<RowIndex> row = rowAt(position.y());
  return row && position.x() >= kLabels ? core_->at(*row, position.x() - kLabels, axis(size())) : std::nullopt;
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  const double notches = (event->angleDelta().y() + event->angleDelta().x()) / 120.0;
  if (event->position().x() < kLabels) return scroll_->setValue(scroll_->value() - static_cast<int>(notches * 3 * kRow));
  if (event->modifiers().testFlag(Qt::ShiftModifier))
    return setShown(
        panned(shown_, sim::SimTime(static_cast<std::int64_t>(-notches * 0.1 * static_cast<double>(shown_.length().count()))), whole_));
  setShown(zoomed(shown_, {axis(size()).toTime(event->position().x() - kLabels), std::pow(0.8, notches)}, whole_));
}

void TimelineView::step(int by) {
  if (!selected_) return;
  if (const std::optional<Slice> next = core_->neighbor(*selected_, by)) select(next);
}

void TimelineView::hop(bool forward) {
  if (!selected_) return;
  const std::uint32_t span = core_->row(selected_->row).span[selected_->position];
  for (const Flow& flow : flows_)
    if ((forward ? flow.from : flow.to) == span) return select(core_->find(forward ? flow.to : flow.from));
}

// The selected slice, or, if that is what is shown, everything.
void TimelineView::fit() {
  if (!selected_) return setShown(whole_);
  const TimeRange closer = around(core_->extent(*selected_), whole_);
  setShown(closer == shown_ ? whole_ : closer);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  const sim::SimTime tenth = shown_.length() / 10;
  const sim::SimTime middle = shown_.begin + shown_.length() / 2;
  switch (event->key()) {
    case Qt::Key_W: return setShown(zoomed(shown_, {middle, 0.7}, whole_));
    case Qt::Key_S: return setShown(zoomed(shown_, {middle, 1 / 0.7}, whole_));
    case Qt::Key_A: return setShown(panned(shown_, -tenth, whole_));
    case Qt::Key_D: return setShown(panned(shown_, tenth, whole_));
    case Qt::Key_F: return fit();
    case Qt::Key_0: return setShown(whole_);
    case Qt::Key_Period: return step(1);
    case Qt::Key_Comma: return step(-1);
    case Qt::Key_BracketRight: return hop(true);
    case Qt::Key_BracketLeft: return hop(false);
    case Qt::Key_Up: return scroll_->setValue(scroll_->value() - kRow);
    case Qt::Key_Down: return scroll_->setValue(scroll_->value() + kRow);
    case Qt::Key_Escape: return select(std::nullopt);
    default: View::keyPressEvent(event);
  }
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (event->position().x() < kLabels) return;
  drag_ = event->position();
  measured_.reset();
  update();
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  const TimeAxis times = axis(size());
  if (drag_ && event->buttons().testFlag(Qt::LeftButton) && std::abs(event->position().x() - drag_->x()) > 4) {
    const auto [left, right] = std::minmax(drag_->x(), event->position().x());
    measured_ = TimeRange{times.toTime(left - kLabels), times.toTime(right - kLabels)};
    return update();
  }
  if (drag_ && event->buttons().testFlag(Qt::MiddleButton)) {
    setShown(panned(shown_, times.toTime(drag_->x()) - times.toTime(event->position().x()), whole_));
    drag_ = event->position();
    return;
  }
  const std::optional<Slice> under = sliceAt(event->position());
  if (under == hovered_) return;
  hovered_ = under;
  update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  if (drag_ && !measured_ && event->button() == Qt::LeftButton) {
    std::optional<Slice> slice = sliceAt(event->position());
    if (slice && core_->row(slice->row).repeats) slice = core_->find(core_->row(slice->row).span[slice->position]);
    select(slice);
  }
  if (drag_ && event->button() == Qt::LeftButton) Q_EMIT rangeMeasured(measured_.value_or(whole_));
  drag_.reset();
}

}  // namespace gui
