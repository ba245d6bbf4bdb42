// What a person does to a timeline with wheel, mouse and keys.
#include <QAction>
#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/views/key_places.h"
#include "gui/views/timeline_view.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

QString textOf(sim::SimTime time) { return QString::fromStdString(sim::to_text(sim::to_seconds(time))); }

}  // namespace

// Up and down zooms about the cursor; to the side, and with Shift, it moves.
void TimelineView::wheelEvent(QWheelEvent* event) {
  const QPointF notches = QPointF(event->angleDelta()) / 120.0;
  if (event->position().x() < kLabels) return scroll_->setValue(scroll_->value() - static_cast<int>(notches.y() * 3 * kRow));
  if (event->modifiers().testFlag(Qt::ShiftModifier) || std::abs(notches.x()) > std::abs(notches.y()))
    return pan(-0.1 * (notches.x() + notches.y()));
  setShown(zoomed(shown_, {axis(size()).toTime(event->position().x() - kLabels), std::pow(0.8, notches.y())}, whole_));
}

void TimelineView::pan(double share) {
  setShown(panned(shown_, sim::SimTime(static_cast<std::int64_t>(share * static_cast<double>(shown_.length().count()))), whole_));
}

void TimelineView::selectFirst() {
  for (RowIndex row{0}; row.value < tops_.size(); ++row.value) {
    const SliceColumns& slices = *core_->row(row).slices;
    if (topOf(row) < scroll_->value() || core_->row(row).repeats) continue;
    const auto first = std::lower_bound(slices.end.begin(), slices.end.end(), shown_.begin.count() + 1) - slices.end.begin();
    if (std::cmp_less(first, slices.end.size())) return select(Slice{row, static_cast<std::uint32_t>(first)});
  }
}

void TimelineView::stepRow(int by) {
  if (!selected_) return selectFirst();
  const sim::SimTime time = core_->extent(*selected_).begin;
  const auto place = [this](RowIndex row) {  // a line of several rows is one step
    return std::pair(topOf(row), isJoined(row) ? 0 : static_cast<std::ptrdiff_t>(row.value));
  };
  const auto from = place(selected_->row);
  std::optional<RowIndex> to;
  for (RowIndex row{0}; row.value < tops_.size(); ++row.value) {
    if (core_->row(row).size() == 0 || core_->row(row).repeats || topOf(row) < 0) continue;
    const bool is_beyond = by > 0 ? place(row) > from : place(row) < from;
    if (is_beyond && (!to || (by > 0 ? place(row) < place(*to) : place(row) > place(*to)))) to = row;
  }
  if (!to) return;
  const std::vector<std::int64_t>& starts = core_->row(*to).slices->start;
  const auto behind = std::upper_bound(starts.begin(), starts.end(), time.count()) - starts.begin();
  select(Slice{*to, static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(0, behind - 1))});
}

void TimelineView::step(int by) {
  if (!selected_) return selectFirst();
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

void TimelineView::measure(std::optional<TimeRange> range) {
  measured_ = range;
  update();
  Q_EMIT rangeMeasured(measured_.value_or(whole_));
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  const sim::SimTime middle = shown_.begin + shown_.length() / 2;
  switch (keyOf(*event)) {
    case Qt::Key_W: return setShown(zoomed(shown_, {middle, 0.7}, whole_));
    case Qt::Key_S: return setShown(zoomed(shown_, {middle, 1 / 0.7}, whole_));
    case Qt::Key_A: return pan(-0.1);
    case Qt::Key_D: return pan(0.1);
    case Qt::Key_F: return fit();
    case Qt::Key_0: return setShown(whole_);
    case Qt::Key_Right:
    case Qt::Key_Period: return step(1);
    case Qt::Key_Left:
    case Qt::Key_Comma: return step(-1);
    case Qt::Key_BracketRight: return hop(true);
    case Qt::Key_BracketLeft: return hop(false);
    case Qt::Key_Up: return stepRow(-1);
    case Qt::Key_Down: return stepRow(1);
    case Qt::Key_PageUp: return scroll_->setValue(scroll_->value() - scroll_->pageStep());
    case Qt::Key_PageDown: return scroll_->setValue(scroll_->value() + scroll_->pageStep());
    case Qt::Key_M: return note(selected_ ? core_->extent(*selected_).begin : middle);
    case Qt::Key_C:
      if (selected_ && !core_->row(selected_->row).repeats) Q_EMIT groupWanted(deviceOf(selected_->row));
      return;
    case Qt::Key_R: return selected_ ? measure(core_->extent(*selected_)) : void();
    case Qt::Key_P:
      if (selected_ && !core_->row(selected_->row).repeats) Q_EMIT pinWanted(deviceOf(selected_->row));
      return;
    case Qt::Key_Escape:
      if (measured_) return measure(std::nullopt);
      if (selected_) return select(std::nullopt);
      return View::keyPressEvent(event);  // the window has something to let go of, too
    default: View::keyPressEvent(event);
  }
}

// As the keys do: a person who looks for them finds the keys, too.
void TimelineView::addOwnActions() {
  const std::pair<QString, Qt::Key> all[] = {{tr("Fit the slice, then everything"), Qt::Key_F},
                                             {tr("Measure the slice"), Qt::Key_R},
                                             {tr("Note here"), Qt::Key_M},
                                             {tr("Pin to the top, or let go"), Qt::Key_P},
                                             {tr("The group as one line, or each by itself"), Qt::Key_C},
                                             {tr("Follow the flow"), Qt::Key_BracketRight},
                                             {tr("Back along the flow"), Qt::Key_BracketLeft}};
  for (const auto& [text, key] : all) {
    auto* action = new QAction(text + '\t' + QKeySequence(key).toString(QKeySequence::NativeText), this);
    connect(action, &QAction::triggered, this, [this, pressed = key] {
      QKeyEvent event(QEvent::KeyPress, pressed, Qt::NoModifier);
      keyPressEvent(&event);
    });
    addAction(action);
  }
}

// Of the slice under the cursor.
void TimelineView::contextMenuEvent(QContextMenuEvent* event) {
  if (event->reason() == QContextMenuEvent::Mouse)
    if (const std::optional<Slice> slice = sliceAt(event->pos())) select(slice);
  auto* menu = new QMenu(this);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->addActions(actions());
  menu->popup(event->globalPos());
}

// The edge of a slice of the row below the cursor, where one is near; else the very moment.
sim::SimTime TimelineView::momentAt(const QPointF& position) const {
  constexpr double kNear = 8;
  const TimeAxis times = axis(size());
  const double x = position.x() - kLabels;
  const sim::SimTime time = times.toTime(x);
  const std::optional<RowIndex> row = rowAt(position.y());
  const std::optional<sim::SimTime> edge = row ? core_->nearestEdge(*row, time) : std::nullopt;
  return edge && std::abs(times.toX(*edge) - x) <= kNear ? *edge : time;
}

// On a label: pins its device, or lets go of it; of a group that is one line shows each by itself.
void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  const std::optional<RowIndex> row = rowAt(event->position().y());
  if (!row || event->position().x() >= kLabels || core_->row(*row).repeats) return;
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& one) { return one.top == topOf(*row); });
  if (line != lines_.end() && !line->name.isEmpty())
    Q_EMIT groupWanted(deviceOf(*row));
  else
    Q_EMIT pinWanted(deviceOf(*row));
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (event->position().x() < kLabels || event->button() == Qt::RightButton) return;
  if (const std::optional<std::size_t> mark = markAt(event->position())) return note(marks_[*mark].time);
  drag_ = event->position();
  pans_ = event->button() == Qt::MiddleButton || event->modifiers().testFlag(Qt::ShiftModifier);
  if (!pans_) measured_.reset();
  update();
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (drag_ && pans_) {
    const TimeAxis times = axis(size());
    setShown(panned(shown_, times.toTime(drag_->x()) - times.toTime(event->position().x()), whole_));
    drag_ = event->position();
    return;
  }
  if (drag_ && event->buttons().testFlag(Qt::LeftButton) && (measured_ || std::abs(event->position().x() - drag_->x()) > 4)) {
    const auto [begin, end] = std::minmax({momentAt(*drag_), momentAt(event->position())});
    measured_ = TimeRange{begin, end};
    return update();
  }
  const std::optional<Slice> under = sliceAt(event->position());
  if (under == hovered_) return;
  hovered_ = under;
  update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  const bool measures = std::exchange(drag_, std::nullopt).has_value() && !std::exchange(pans_, false) && event->button() == Qt::LeftButton;
  if (!measures) return;
  if (!measured_) {
    std::optional<Slice> slice = sliceAt(event->position());
    if (slice && core_->row(slice->row).repeats) slice = core_->find(core_->row(slice->row).spanOf(slice->position));
    select(slice);
  }
  measure(measured_);
}

QString TimelineView::sentenceOf(const Slice& slice) const {
  const SliceRow& row = core_->row(slice.row);
  const TimeRange extent = core_->extent(slice);
  const QString name = names_ ? QString::fromStdString(names_(row.spanOf(slice.position))) : QString();
  const QString place = (deviceText(row) + ' ' + streamText(row)).simplified();
  return tr("%1, %2: %3, at %4")
      .arg(name, place, textOf(extent.length()), QString::fromStdString(momentText({extent.begin, extent.length()})));
}

// A pixel that stands for several slices says for how many.
QString TimelineView::tipAt(const QPointF& position) const {
  std::optional<RowIndex> row;
  std::optional<Run> run;
  for (const RowIndex at : position.x() >= kLabels ? rowsAt(position.y()) : std::vector<RowIndex>()) {
    if (!(run = core_->under(at, position.x() - kLabels, axis(size())))) continue;
    row = at;
    break;
  }
  if (!run) return {};
  const QString sentence = sentenceOf({*row, run->slice});
  return run->count == 1 ? sentence
                         : sentence + '\n' + tr("the longest of %L1 slices that lie here; zoom in to see them (W)").arg(run->count);
}

bool TimelineView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return View::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  QToolTip::showText(help->globalPos(), tipAt(help->pos()), this);
  return true;
}

}  // namespace gui
