#include "gui/views/timeline_view.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPainter>
#include <QScrollBar>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/views/timeline_painter.h"

namespace gui {

TimelineView::TimelineView(QWidget* parent)
    : View(parent), empty_text_(tr("No plan yet: press Plan (Ctrl+Return), or open a plan file (Ctrl+O)")), words_(new QLineEdit(this)), scroll_(new QScrollBar(Qt::Vertical, this)) {
  words_->hide();
  words_->setPlaceholderText(tr("Note; empty: none"));
  connect(scroll_, &QScrollBar::valueChanged, this, [this] { update(); });
  setMinimumHeight(64);
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
  counters_.reset();
  flows_.reset();
  order_.clear();
  num_pinned_ = 0;
  layoutRows();
  update();
}

void TimelineView::setExtras(Counters counters, Flows flows) {
  counters_ = std::move(counters);
  flows_ = std::move(flows);
  layoutRows();
  update();
}

void TimelineView::showAllFlows(bool all) {
  all_flows_ = all;
  update();
}

std::size_t TimelineView::deviceOf(RowIndex row) const {
  std::size_t openers = 0;
  for (std::size_t at = 0; at <= row.value; ++at) openers += core_->rows()[at].opens_device && !core_->rows()[at].repeats;
  return openers == 0 ? 0 : openers - 1;
}

bool TimelineView::isPinned(RowIndex row) const {
  const auto last = order_.begin() + static_cast<std::ptrdiff_t>(num_pinned_);
  return num_pinned_ > 0 && !core_->row(row).repeats && std::find(order_.begin(), last, deviceOf(row)) != last;
}

void TimelineView::setDeviceOrder(std::vector<std::size_t> order, std::size_t num_pinned) {
  order_ = std::move(order);
  const bool more = num_pinned > std::exchange(num_pinned_, num_pinned);
  layoutRows();
  if (more) scroll_->setValue(0);  // what was pinned is seen
  update();
}

// What repeats stands above the devices; each device's rows, then its counters.
void TimelineView::layoutRows() {
  tops_.assign(core_->rows().size(), 0);
  counter_tops_.assign(counters().size(), 0);
  std::vector<std::vector<int*>> of_device;
  int top = 0;
  for (std::size_t row = 0; row < core_->rows().size(); ++row) {
    const SliceRow& slices = core_->rows()[row];
    if (slices.repeats) {
      top += slices.opens_device ? kGap : 0;
      tops_[row] = std::exchange(top, top + kRow);
      continue;
    }
    if (slices.opens_device || of_device.empty()) of_device.emplace_back();
    of_device.back().push_back(&tops_[row]);
  }
  for (std::size_t at = 0; at < counters().size(); ++at)
    if (const std::size_t device = counters()[at].device.position(); device < of_device.size()) of_device[device].push_back(&counter_tops_[at]);
  constexpr int kHidden = -1'000'000;
  const bool ordered = !order_.empty() && *std::max_element(order_.begin(), order_.end()) < of_device.size();
  for (const std::vector<int*>& places : of_device)
    for (int* const place : places) *place = kHidden;
  for (std::size_t at = 0; at < (ordered ? order_.size() : of_device.size()); ++at) {
    top += kGap;
    for (int* const place : of_device[ordered ? order_[at] : at]) *place = std::exchange(top, top + kRow);
  }
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

void TimelineView::setMarks(std::vector<Mark> marks) {
  marks_ = std::move(marks);
  std::sort(marks_.begin(), marks_.end(), [](const Mark& a, const Mark& b) { return a.time < b.time; });
  update();
}

std::optional<std::size_t> TimelineView::markAt(const QPointF& position) const {
  constexpr double kNear = 6;
  for (std::size_t at = 0; at < marks_.size() && position.y() < kRuler; ++at)
    if (std::abs(kLabels + axis(size()).toX(marks_[at].time) - position.x()) < kNear) return at;
  return std::nullopt;
}

void TimelineView::note(sim::SimTime time) {
  const auto known = std::find_if(marks_.begin(), marks_.end(), [&](const Mark& mark) { return mark.time == time; });
  words_->disconnect(this);
  words_->setText(known == marks_.end() ? QString() : QString::fromStdString(known->text));
  const int left = kLabels + static_cast<int>(axis(size()).toX(time));
  words_->setGeometry(std::clamp(left, kLabels, std::max(kLabels, width() - 220)), kRuler, 200, 24);
  words_->show();
  words_->setFocus();
  connect(words_, &QLineEdit::editingFinished, this, [this, time] {
    if (words_->isHidden()) return;
    words_->hide();
    std::vector<Mark> marks = marks_;
    std::erase_if(marks, [&](const Mark& mark) { return mark.time == time; });
    if (const std::string text = words_->text().trimmed().toStdString(); !text.empty()) marks.push_back({time, text});
    setMarks(std::move(marks));
    setFocus();
    Q_EMIT marksChanged();
  });
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
  Q_EMIT sliceSelected(slice ? static_cast<int>(core_->row(slice->row).spanOf(slice->position)) : -1);
}

void TimelineView::setMatches(std::optional<std::vector<std::uint32_t>> spans) {
  matches_ = std::move(spans);
  update();
}

bool TimelineView::fades(const SliceRow& row, std::uint32_t slice) const {
  return !std::binary_search(matches_->begin(), matches_->end(), row.spanOf(slice));
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
  const std::uint32_t span = core_->row(selected_->row).spanOf(selected_->position);
  for (const Flow& flow : flows())
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
    case Qt::Key_M: return note(selected_ ? core_->extent(*selected_).begin : middle);
    case Qt::Key_P:
      if (selected_ && !core_->row(selected_->row).repeats) Q_EMIT pinWanted(deviceOf(selected_->row));
      return;
    case Qt::Key_Escape: return select(std::nullopt);
    default: View::keyPressEvent(event);
  }
}

// On a label: pins its device, or lets go of it.
void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  const std::optional<RowIndex> row = rowAt(event->position().y());
  if (row && event->position().x() < kLabels && !core_->row(*row).repeats) Q_EMIT pinWanted(deviceOf(*row));
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (event->position().x() < kLabels) return;
  if (const std::optional<std::size_t> mark = markAt(event->position())) return note(marks_[*mark].time);
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
    if (slice && core_->row(slice->row).repeats) slice = core_->find(core_->row(slice->row).spanOf(slice->position));
    select(slice);
  }
  if (drag_ && event->button() == Qt::LeftButton) Q_EMIT rangeMeasured(measured_.value_or(whole_));
  drag_.reset();
}

}  // namespace gui
