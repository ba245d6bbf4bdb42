#include "gui/views/timeline_view.h"

#include <QCoreApplication>
#include <QLineEdit>
#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/views/slice_text.h"
#include "gui/views/timeline_painter.h"

namespace gui {

TimelineView::TimelineView(QWidget* parent)
    : View(parent),
      empty_text_(tr("No plan yet: press Plan (Ctrl+Return), or open a plan file (Ctrl+O)")),
      words_(new QLineEdit(this)),
      scroll_(new QScrollBar(Qt::Vertical, this)) {
  words_->hide();
  words_->setPlaceholderText(tr("Note; empty: none"));
  words_->setAccessibleName(tr("Note"));
  connect(scroll_, &QScrollBar::valueChanged, this, [this] { update(); });
  addOwnActions();
  setMinimumHeight(64);
  setAccessibleName(tr("Timeline"));
}

std::uint64_t groupOf(const sim::TaskKey& key) {
  if (!key.microbatch.exists() || sim::moves_data(key.operation)) return 0;
  return (static_cast<std::uint64_t>(key.microbatch.value()) + 1) << 16 |
         (static_cast<std::uint64_t>(key.chunk.exists() ? key.chunk.value() : 0) << 8 & 0xff00) | static_cast<std::uint64_t>(key.phase);
}

SliceNames taskNames(const std::vector<sim::Span>& spans) {
  return [&spans](std::uint32_t span) { return sliceName(spans[span].key).toStdString(); };
}

void TimelineView::setTimeline(SharedCore core, SliceNames names) {
  core_ = std::move(core);
  names_ = std::move(names);
  groups_ = {};
  colors_ = {};
  shown_ = whole_ = core_->range();
  selected_.reset();
  hovered_.reset();
  matches_.reset();
  measured_.reset();
  ghost_.reset();
  counters_.reset();
  flows_.reset();
  device_rows_ = rowsByDevice(*core_);
  order_.clear();
  summaries_.clear();
  num_pinned_ = 0;
  layoutRows();
  update();
  Q_EMIT timelineChanged();
}

void TimelineView::setColors(SliceColors colors) {
  colors_ = std::move(colors);
  update();
  Q_EMIT timelineChanged();
}

Rgb TimelineView::colorOf(const SliceRow& row, std::uint32_t slice) const {
  return colors_ ? colors_(row.spanOf(slice)) : lookOf(row.slices->kind[slice]).color;
}

void TimelineView::setExtras(Counters counters, Flows flows) {
  counters_ = std::move(counters);
  flows_ = std::move(flows);
  layoutRows();
  update();
}

void TimelineView::setDense(bool dense) {
  dense_ = dense;
  layoutRows();
  if (selected_) select(selected_);  // it stays in sight
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

void TimelineView::setDeviceOrder(std::vector<std::size_t> order, std::size_t num_pinned, std::vector<Summary> summaries) {
  order_ = std::move(order);
  summaries_ = std::move(summaries);
  const bool more = num_pinned > std::exchange(num_pinned_, num_pinned);
  layoutRows();
  if (more) scroll_->setValue(0);  // what was pinned is seen
  update();
}

std::vector<TimelineView::Line> TimelineView::linesInOrder() const {
  std::vector<const Summary*> summary_of(device_rows_.size());
  for (const Summary& summary : summaries_)
    for (const std::size_t device : summary.devices)
      if (device < summary_of.size()) summary_of[device] = &summary;
  const bool ordered = !order_.empty() && *std::max_element(order_.begin(), order_.end()) < device_rows_.size();
  std::vector<Line> lines;
  for (std::size_t at = 0; at < (ordered ? order_.size() : device_rows_.size()); ++at) {
    const std::size_t device = ordered ? order_[at] : at;
    const Summary* const summary = summary_of[device];
    if (summary == nullptr)
      lines.push_back({{device}, {}, 0});
    else if (summary->devices.front() == device)
      lines.push_back({summary->devices, summary->name, 0});
  }
  return lines;
}

QStringList TimelineView::lineNames() const {
  QStringList names;
  for (const Line& line : lines_)
    names << (line.name.isEmpty() ? deviceText(core_->row(device_rows_[line.devices.front()].front())) : line.name);
  return names;
}

bool TimelineView::isAllInSight() const { return scroll_->maximum() == 0; }

// What repeats stands above the devices; each device's rows, then its counters; or all of it as one line.
void TimelineView::layoutRows() {
  constexpr int kHidden = -1'000'000;
  const int room = std::max(1, height() - kRuler);
  const std::vector<Line> all = linesInOrder();
  const bool summarized = std::none_of(all.begin(), all.end(), [](const Line& line) { return line.name.isEmpty(); });
  const auto above = std::count_if(core_->rows().begin(), core_->rows().end(), [](const SliceRow& row) { return row.repeats; });
  const int lines = std::max(1, static_cast<int>(all.size()) + static_cast<int>(above));
  line_height_ = std::clamp((room - 3 * kGap) / lines, kLeastLine, summarized ? kRow : kMostLine);
  tops_.assign(core_->rows().size(), kHidden);
  joined_.assign(core_->rows().size(), false);
  counter_tops_.assign(counters().size(), kHidden);
  lines_.clear();
  int top = 0;
  for (std::size_t row = 0; row < core_->rows().size(); ++row) {
    if (!core_->rows()[row].repeats) continue;
    top += core_->rows()[row].opens_device ? kGap : 0;
    tops_[row] = std::exchange(top, top + rowHeight());
  }
  if (dense_ && top > 0) top += kGap;  // what repeats stands apart
  std::vector<std::vector<int*>> counters_of(device_rows_.size());
  for (std::size_t at = 0; at < counters().size(); ++at)
    if (const std::size_t device = counters()[at].device.position(); device < counters_of.size())
      counters_of[device].push_back(&counter_tops_[at]);
  for (const Line& line : all) {
    if (!dense_) top += kGap;
    for (const std::size_t device : line.devices)
      for (const RowIndex row : device_rows_[device]) {
        tops_[row.value] = isJoined(line) ? top : std::exchange(top, top + kRow);
        joined_[row.value] = isJoined(line);
      }
    if (!isJoined(line)) {
      for (int* const place : counters_of[line.devices.front()]) *place = std::exchange(top, top + kRow);
      continue;
    }
    lines_.push_back({line.devices, line.name, top});
    top += rowHeight();
  }
  scroll_->setRange(0, std::max(0, top + kGap - room));
  scroll_->setPageStep(room);
  scroll_->setSingleStep(rowHeight());
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
  Q_EMIT timelineChanged();
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
    if (top < scroll_->value() || top + rowHeight() > scroll_->value() + height() - kRuler)
      scroll_->setValue(top - (height() - kRuler) / 2);
  }
  update();
  tellCurrent();
  Q_EMIT sliceSelected(slice ? static_cast<int>(core_->row(slice->row).spanOf(slice->position)) : -1);
}

void TimelineView::keepIn(ViewState& state) const {
  state.shown = shown();
  state.marks = marks();
}

void TimelineView::lookAgain(const ViewState& state) {
  setMarks(state.marks);
  if (state.shown.length() > sim::SimTime(0)) setShown(state.shown);
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
  return {kLabels + (times.toX(extent.begin) + times.toX(extent.end)) / 2,
          topOf(slice.row) + kRuler - scroll_->value() + rowHeight() / 2.0 - 1};
}

QString TimelineView::deviceText(const SliceRow& row) {
  if (row.repeats) return tr("critical path");
  QString device = QString::fromStdString(row.device);
  if (const QString stage = QStringLiteral("stage"); device.startsWith(stage)) device.replace(0, stage.size(), tr("stage"));
  return device;
}

QString TimelineView::streamText(const SliceRow& row) { return QCoreApplication::translate("Sentence", row.stream.c_str()); }

void TimelineView::paintPicture(QPainter& painter, const QSize& size) { TimelinePainter(*this, painter, size).paint(); }

std::vector<RowIndex> TimelineView::rowsAt(double y) const {
  const double inside = y - kRuler + scroll_->value();
  std::vector<RowIndex> rows;
  for (std::size_t row = 0; row < tops_.size() && y >= kRuler; ++row)
    if (inside >= tops_[row] && inside < tops_[row] + rowHeight()) rows.push_back({row});
  return rows;
}

std::optional<RowIndex> TimelineView::rowAt(double y) const {
  const std::vector<RowIndex> rows = rowsAt(y);
  return rows.empty() ? std::nullopt : std::optional(rows.front());
}

std::optional<Slice> TimelineView::sliceAt(const QPointF& position) const {
  if (position.x() < kLabels) return std::nullopt;
  for (const RowIndex row : rowsAt(position.y()))  // as they lie over each other
    if (const std::optional<Slice> slice = core_->at(row, position.x() - kLabels, axis(size()))) return slice;
  return std::nullopt;
}

}  // namespace gui
