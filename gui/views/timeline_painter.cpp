#include "gui/views/timeline_painter.h"

#include <QPaintEngine>
#include <QScrollBar>
#include <algorithm>
#include <cstring>

#include "gui/views/device_line.h"
#include "gui/views/timeline_overlays.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

constexpr int kSlim = 3;          // between rows
constexpr int kPatternWidth = 6;  // narrower slices show their color alone
constexpr int kTextWidth = 24;    // narrower slices have no name of their own
constexpr int kDeviceWidth = 92, kLabelMargin = 10;

std::uint32_t mixed(std::uint32_t color, std::uint32_t with) {  // a quarter of the color
  std::uint32_t result = 0xff000000;
  for (const int shift : {0, 8, 16}) result |= (((color >> shift & 255) + 3 * (with >> shift & 255)) / 4) << shift;
  return result;
}

}  // namespace

TimelinePainter::TimelinePainter(const TimelineView& view, QPainter& painter, const QSize& size)
    : view_(view),
      painter_(painter),
      size_(size),
      axis_(view.axis(size)),
      theme_(themeOf(view.palette())),
      fitter_(painter.fontMetrics()),
      groups_(view.core_->rows().size()),
      labels_(view.core_->rows().size()) {}

bool TimelinePainter::isVector() const {
  const QPaintEngine* engine = painter_.paintEngine();
  return engine != nullptr && engine->type() != QPaintEngine::Raster;
}

int TimelinePainter::sliceHeight() const { return view_.dense_ ? view_.rowHeight() - 1 : TimelineView::kRow - kSlim; }
int TimelinePainter::screenTop(RowIndex row) const { return view_.topOf(row) + TimelineView::kRuler - view_.scroll_->value(); }

bool TimelinePainter::isVisible(RowIndex row) const {
  const int top = screenTop(row);
  return top + view_.rowHeight() > TimelineView::kRuler && top < size_.height();
}

void TimelinePainter::paint() {
  painter_.fillRect(QRect(QPoint(0, 0), size_), theme_.background);
  if (view_.core_->numSlices() == 0) {
    painter_.setPen(theme_.faint);
    painter_.drawText(QRect(QPoint(0, 0), size_), Qt::AlignCenter | Qt::TextWordWrap, view_.empty_text_);
    return;
  }
  painter_.setClipRect(QRect(QPoint(0, 0), size_));
  paintRows();
  painter_.save();
  painter_.setClipRect(
      QRect(TimelineView::kLabels, TimelineView::kRuler, size_.width() - TimelineView::kLabels, size_.height() - TimelineView::kRuler));
  paintCounters();
  paintFlows();
  paintMark(view_.hovered_, theme_.faint);
  paintMark(view_.selected_, theme_.text);
  paintGhost();
  paintMeasure();
  painter_.restore();
  paintRowNames();
  paintCounterNames();
  paintRuler();
  paintMarks();
}

void TimelinePainter::paintRuler() {
  painter_.fillRect(QRect(0, 0, size_.width(), TimelineView::kRuler), theme_.band);
  painter_.setPen(theme_.grid);
  painter_.drawLine(0, TimelineView::kRuler - 1, size_.width(), TimelineView::kRuler - 1);
  for (const Tick& tick : axis_.ticks({110})) {
    const double x = TimelineView::kLabels + axis_.toX(tick.time);
    painter_.setPen(theme_.faint);
    painter_.drawLine(QPointF(x, TimelineView::kRuler - 6), QPointF(x, TimelineView::kRuler - 1));
    const QString label = QString::fromStdString(tick.label);
    if (x + 6 + painter_.fontMetrics().horizontalAdvance(label) > size_.width()) continue;
    painter_.drawText(QRectF(x + 4, 3, 110, 18), Qt::AlignLeft | Qt::AlignVCenter, label);
  }
}

std::uint32_t TimelinePainter::colorOfRun(const SliceRow& row, const Run& run) const {
  const std::uint32_t color = view_.colorOf(row, run.slice).value;
  return view_.matches_ && view_.fades(row, run.slice) ? mixed(color, theme_.band.rgb()) : color;
}

// What lies beside each other and belongs together, across the pixels that keep slices apart.
void TimelinePainter::join(RowIndex row, const Run& run) {
  constexpr std::int32_t kApart = 2;
  if (!view_.groups_.of) return;
  const std::uint64_t number = view_.groups_.of(view_.core_->row(row).spanOf(run.slice));
  std::vector<Group>& groups = groups_[row.value];
  if (groups.empty() || groups.back().number != number || run.left - groups.back().right > kApart)
    groups.push_back({number, run.left, run.right, 0, run.slice, run.kind});
  groups.back().right = run.right;
  groups.back().widest = std::max(groups.back().widest, run.right - run.left);
}

void TimelinePainter::paintGroups(RowIndex row) {
  const SliceRow& slices = view_.core_->row(row);
  for (const Group& group : groups_[row.value]) {
    if (group.number == 0 || group.widest >= kTextWidth || group.right - group.left < kTextWidth) continue;
    const QString text = QString::fromStdString(view_.groups_.names(slices.spanOf(group.slice)));
    if (fitter_.widthOf(text) + 4 > group.right - group.left) continue;
    const bool faded = view_.matches_ && view_.fades(slices, group.slice);
    painter_.setPen(faded ? theme_.faint : colorOf(readableOn(view_.colorOf(slices, group.slice))));
    painter_.drawText(QRectF(TimelineView::kLabels + group.left, screenTop(row), group.right - group.left, TimelineView::kRow - kSlim),
                      Qt::AlignCenter, text);
  }
}

void TimelinePainter::collect(RowIndex row, const Run& run) {
  join(row, run);
  if (run.right - run.left < kPatternWidth) return;
  const QRectF box(TimelineView::kLabels + run.left, screenTop(row), run.right - run.left, TimelineView::kRow - kSlim);
  labels_[row.value].push_back({box, run.slice, run.kind});
}

// One line of pixels, copied to all lines of the row. A slice that is wide enough ends one pixel early, so that equal neighbors stay apart.
void TimelinePainter::paintLine(QImage& image, RowIndex row, std::vector<std::uint32_t>& line) {
  std::fill(line.begin(), line.end(), theme_.band.rgb());
  const SliceRow& slices = view_.core_->row(row);
  view_.core_->visit(row, axis_, [&](const Run& run) {
    const std::int32_t right = run.right - run.left >= kPatternWidth ? run.right - 1 : run.right;
    std::fill(line.begin() + run.left, line.begin() + right, colorOfRun(slices, run));
    collect(row, run);
  });
  const int top = screenTop(row) - TimelineView::kRuler;
  for (int y = std::max(0, top); y < std::min(image.height(), top + sliceHeight()); ++y)
    std::memcpy(image.scanLine(y), line.data(), line.size() * sizeof(std::uint32_t));
  if (theme_.outlined) outlineLine(image, top, line);
}

// However narrow slices are, and however dark: they stand out from the band between two lines.
void TimelinePainter::outlineLine(QImage& image, int top, std::vector<std::uint32_t>& line) {
  std::replace_if(
      line.begin(), line.end(), [band = theme_.band.rgb()](std::uint32_t color) { return color != band; }, theme_.grid.rgb());
  for (const int y : {top, top + sliceHeight() - 1})
    if (y >= 0 && y < image.height()) std::memcpy(image.scanLine(y), line.data(), line.size() * sizeof(std::uint32_t));
}

void TimelinePainter::paintRuns(RowIndex row) {
  const SliceRow& slices = view_.core_->row(row);
  const int top = screenTop(row);
  painter_.fillRect(QRect(TimelineView::kLabels, top, axis_.width().value, sliceHeight()), theme_.band);
  view_.core_->visit(row, axis_, [&](const Run& run) {
    const int gap = run.right - run.left >= kPatternWidth ? 1 : 0;
    painter_.fillRect(QRect(TimelineView::kLabels + run.left, top, run.right - run.left - gap, sliceHeight()),
                      QColor::fromRgb(colorOfRun(slices, run)));
    collect(row, run);
  });
}

// Devices that are one line, alone or with others: the painted line and where it stands.
void TimelinePainter::visitLines(const std::function<void(const std::vector<std::uint32_t>&, int)>& paint) {
  DeviceLines lines(
      *view_.core_, axis_, [this](const SliceRow& row, const Run& run) { return colorOfRun(row, run); }, theme_.band.rgb());
  for (const TimelineView::Line& line : view_.lines_) {
    const RowIndex first = view_.device_rows_[line.devices.front()].front();
    if (!isVisible(first)) continue;
    if (view_.matches_) lines.forget();  // what fades is another thing on each device
    std::vector<const DeviceRows*> devices;
    for (const std::size_t device : line.devices) devices.push_back(&view_.device_rows_[device]);
    paint(devices.size() == 1 ? lines.line(*devices.front()) : lines.mean(devices), screenTop(first));
  }
}

void TimelinePainter::paintLines(QImage& image) {
  visitLines([&](const std::vector<std::uint32_t>& line, int screen_top) {
    const int top = screen_top - TimelineView::kRuler;
    for (int y = std::max(0, top); y < std::min(image.height(), top + sliceHeight()); ++y)
      std::memcpy(image.scanLine(y), line.data(), line.size() * sizeof(std::uint32_t));
  });
}

// Rectangles of one color each.
void TimelinePainter::paintLines() {
  visitLines([&](const std::vector<std::uint32_t>& line, int top) {
    for (std::size_t left = 0, right = 0; left < line.size(); left = right) {
      while (right < line.size() && line[right] == line[left]) ++right;
      painter_.fillRect(QRect(TimelineView::kLabels + static_cast<int>(left), top, static_cast<int>(right - left), sliceHeight()),
                        QColor::fromRgb(line[left]));
    }
  });
}

void TimelinePainter::paintRows() {
  const std::size_t num_rows = view_.core_->rows().size();
  const auto visit = [&](auto&& paint) {
    for (RowIndex row{0}; row.value < num_rows; ++row.value)
      if (isVisible(row) && !view_.isJoined(row)) paint(row);
  };
  if (isVector()) {
    visit([&](RowIndex row) { paintRuns(row); });
    paintLines();
  } else {
    QImage image(axis_.width().value, std::max(1, size_.height() - TimelineView::kRuler), QImage::Format_RGB32);
    image.fill(theme_.background);
    std::vector<std::uint32_t> line(sim::count_of(axis_.width().value));
    visit([&](RowIndex row) { paintLine(image, row, line); });
    paintLines(image);
    painter_.drawImage(TimelineView::kLabels, TimelineView::kRuler, image);
  }
  if (view_.dense_) return;  // too low for words
  visit([&](RowIndex row) {
    paintLabels(row);
    paintGroups(row);
  });
}

void TimelinePainter::paintLabels(RowIndex row) {
  const SliceRow& slices = view_.core_->row(row);
  for (const Label& label : labels_[row.value]) {
    const WorkKindLook& look = lookOf(label.kind);
    const QBrush pattern = view_.colors_ ? QBrush() : patternBrush(look.pattern, look.color);  // it means a kind
    if (pattern.style() != Qt::NoBrush) painter_.fillRect(label.box.adjusted(0, 0, -1, 0), pattern);
    if (theme_.outlined) {
      painter_.setPen(theme_.grid);
      painter_.setBrush(Qt::NoBrush);
      painter_.drawRect(label.box.adjusted(0, 0, -2, -1));
    }
    if (label.box.width() < kTextWidth || !view_.names_) continue;
    const QString text = fitter_.fitted(QString::fromStdString(view_.names_(slices.spanOf(label.slice))), label.box.width() - 4);
    if (text.isEmpty()) continue;
    const bool faded = view_.matches_ && view_.fades(slices, label.slice);
    painter_.setPen(faded ? theme_.faint : colorOf(readableOn(view_.colorOf(slices, label.slice))));
    painter_.drawText(label.box, Qt::AlignCenter, text);
  }
}

void TimelinePainter::paintRowNames() {
  painter_.fillRect(QRect(0, TimelineView::kRuler, TimelineView::kLabels - 1, size_.height() - TimelineView::kRuler), theme_.background);
  painter_.setPen(theme_.grid);
  painter_.drawLine(TimelineView::kLabels - 1, 0, TimelineView::kLabels - 1, size_.height());
  paintLineNames();
  for (RowIndex row{0}; row.value < view_.core_->rows().size(); ++row.value) {
    if (!isVisible(row) || view_.dense_ || view_.isJoined(row)) continue;
    const SliceRow& slices = view_.core_->row(row);
    const int top = screenTop(row);
    int left = kLabelMargin;  // of the stream's name: behind the device's, where there is one
    if (slices.opens_device) {
      painter_.setPen(theme_.grid);
      painter_.drawLine(0, top - TimelineView::kGap / 2 - 1, size_.width(), top - TimelineView::kGap / 2 - 1);
      painter_.setPen(theme_.text);
      QString device = TimelineView::deviceText(slices);
      if (view_.isPinned(row)) device.prepend(QStringLiteral("\u25cf "));
      device = painter_.fontMetrics().elidedText(device, Qt::ElideRight, kDeviceWidth);
      painter_.drawText(QRect(left, top, kDeviceWidth, TimelineView::kRow - kSlim), Qt::AlignLeft | Qt::AlignVCenter, device);
      left += painter_.fontMetrics().horizontalAdvance(device) + kLabelMargin;
    }
    painter_.setPen(theme_.faint);
    const int width = TimelineView::kLabels - kLabelMargin + 2 - left;
    painter_.drawText(QRect(left, top, width, TimelineView::kRow - kSlim), Qt::AlignRight | Qt::AlignVCenter,
                      painter_.fontMetrics().elidedText(TimelineView::streamText(slices), Qt::ElideRight, width));
  }
}

// Where a device is one line, names stand as close as they can be read.
void TimelinePainter::paintLineNames() {
  constexpr int kWide = TimelineView::kLabels - 2 * kLabelMargin;
  const int height = painter_.fontMetrics().height();
  int free = TimelineView::kRuler;
  painter_.setPen(theme_.text);
  const auto paint = [&](int top, const QString& name) {
    if (top < free || top >= size_.height()) return;
    painter_.drawText(QRect(kLabelMargin, top - (height - sliceHeight()) / 2, kWide, height), Qt::AlignLeft | Qt::AlignVCenter,
                      painter_.fontMetrics().elidedText(name, Qt::ElideRight, kWide));
    free = top + height;
  };
  for (RowIndex row{0}; view_.dense_ && row.value < view_.core_->rows().size() && view_.core_->row(row).repeats; ++row.value)
    if (view_.core_->row(row).opens_device) paint(screenTop(row), TimelineView::deviceText(view_.core_->row(row)));
  const QStringList names = view_.lineNames();
  for (std::size_t at = 0; at < view_.lines_.size(); ++at) {
    const RowIndex first = view_.device_rows_[view_.lines_[at].devices.front()].front();
    paint(screenTop(first), (view_.isPinned(first) ? QStringLiteral("\u25cf ") : QString()) + names[static_cast<qsizetype>(at)]);
  }
}

void TimelinePainter::paintCounterNames() {
  painter_.setPen(theme_.faint);
  for (std::size_t at = 0; at < view_.counter_tops_.size(); ++at) {
    const Counter& counter = *view_.counters()[at].counter;
    const int top = view_.counter_tops_[at] + TimelineView::kRuler - view_.scroll_->value();
    if (top < TimelineView::kRuler || top >= size_.height()) continue;
    const QString name =
        QStringLiteral("%1 \u2264 %2").arg(TimelineView::tr(counter.name.c_str()), QString::fromStdString(counter.text(counter.most)));
    painter_.drawText(QRect(10, top, TimelineView::kLabels - 18, TimelineView::kRow - kSlim), Qt::AlignRight | Qt::AlignVCenter, name);
  }
}

void TimelinePainter::paintMark(const std::optional<Slice>& slice, const QColor& color) {
  if (!slice || !isVisible(slice->row)) return;
  const TimeRange extent = view_.core_->extent(*slice);
  const double left = TimelineView::kLabels + axis_.toX(extent.begin), right = TimelineView::kLabels + axis_.toX(extent.end);
  painter_.setPen(QPen(color, 2));
  painter_.setBrush(Qt::NoBrush);
  painter_.drawRect(QRectF(left, screenTop(slice->row) - 1, std::max(2.0, right - left - 1), sliceHeight() + 1));
}

void TimelinePainter::paintCounters() {
  for (std::size_t at = 0; at < view_.counter_tops_.size(); ++at) {
    const int top = view_.counter_tops_[at] + TimelineView::kRuler - view_.scroll_->value();
    if (top + TimelineView::kRow <= TimelineView::kRuler || top >= size_.height()) continue;
    paintCounter(painter_, QRect(TimelineView::kLabels, top, axis_.width().value, TimelineView::kRow - kSlim),
                 *view_.counters()[at].counter, axis_, theme_);
  }
}

// From the end of the slice that hands over to the beginning of the one that takes.
void TimelinePainter::paintFlow(const Flow& flow) {
  const std::optional<Slice> from = view_.core_->find(flow.from), to = view_.core_->find(flow.to);
  if (!from || !to || (!isVisible(from->row) && !isVisible(to->row))) return;
  const auto middle = [&](const Slice& slice) { return screenTop(slice.row) + sliceHeight() / 2.0; };
  const double left = TimelineView::kLabels + axis_.toX(view_.core_->extent(*from).end),
               right = TimelineView::kLabels + axis_.toX(view_.core_->extent(*to).begin);
  if (std::max(left, right) < TimelineView::kLabels || std::min(left, right) > size_.width()) return;
  paintArrow(painter_, {left, middle(*from), right, middle(*to)}, theme_.warning);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> TimelinePainter::visibleSpans() const {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> spans;
  for (RowIndex row{0}; row.value < view_.core_->rows().size(); ++row.value)
    if (const SliceRow& slices = view_.core_->row(row); isVisible(row) && !slices.repeats && slices.size() > 0)
      spans.emplace_back(slices.spanOf(0), slices.spanOf(slices.size() - 1));
  return spans;
}

// Looked up are those alone that begin or end in a row that is seen: a thousand ranks have hundreds of thousands.
void TimelinePainter::paintFlows() {
  constexpr std::size_t kMost = 2000;
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> visible = visibleSpans();
  const auto is_visible = [&](std::uint32_t span) {
    return std::any_of(visible.begin(), visible.end(), [&](const auto& row) { return span >= row.first && span <= row.second; });
  };
  std::optional<std::uint32_t> selected;
  if (view_.selected_) selected = view_.core_->row(view_.selected_->row).spanOf(view_.selected_->position);
  std::size_t painted = 0;
  for (const Flow& flow : view_.flows())
    if ((view_.all_flows_ || flow.from == selected || flow.to == selected) && (is_visible(flow.from) || is_visible(flow.to)) &&
        painted++ < kMost)
      paintFlow(flow);
}

void TimelinePainter::paintGhost() {
  if (!view_.ghost_) return;
  const double x = TimelineView::kLabels + axis_.toX(*view_.ghost_);
  painter_.setPen(QPen(theme_.warning, 1.5, Qt::DashLine));
  painter_.drawLine(QPointF(x, TimelineView::kRuler), QPointF(x, size_.height()));
  const QString text = TimelineView::tr("before: %1").arg(QString::fromStdString(sim::to_text(sim::to_seconds(*view_.ghost_))));
  const double width = painter_.fontMetrics().horizontalAdvance(text) + 12;
  painter_.drawText(QRectF(x + width > size_.width() ? x - width : x + 6, size_.height() - 22, width, 18), Qt::AlignLeft | Qt::AlignVCenter,
                    text);
}

// A flag in the ruler, its line through all rows, its words beside it.
void TimelinePainter::paintMarks() {
  painter_.save();
  painter_.setClipRect(QRect(TimelineView::kLabels, 0, axis_.width().value, size_.height()));
  for (const Mark& mark : view_.marks_) {
    const double x = TimelineView::kLabels + axis_.toX(mark.time);
    const QString text = QString::fromStdString(mark.text);
    const QRectF flag(x, 3, painter_.fontMetrics().horizontalAdvance(text) + 10, TimelineView::kRuler - 7);
    painter_.setPen(QPen(theme_.accent, 1.5));
    painter_.drawLine(QPointF(x, 3), QPointF(x, size_.height()));
    painter_.fillRect(flag, theme_.accent);
    painter_.setPen(colorOf(readableOn({theme_.accent.rgb()})));
    painter_.drawText(flag, Qt::AlignCenter, text);
  }
  painter_.restore();
}

void TimelinePainter::paintMeasure() {
  if (!view_.measured_ || view_.measured_->length() <= sim::SimTime(0)) return;
  const double left = TimelineView::kLabels + axis_.toX(view_.measured_->begin),
               right = TimelineView::kLabels + axis_.toX(view_.measured_->end);
  QColor veil = theme_.accent;
  veil.setAlpha(40);
  painter_.fillRect(QRectF(left, TimelineView::kRuler, right - left, size_.height()), veil);
  painter_.setPen(theme_.text);
  const QString text = QString::fromStdString(sim::to_text(sim::to_seconds(view_.measured_->length())));
  painter_.drawText(QRectF((left + right) / 2 - 80, size_.height() - 22, 160, 18), Qt::AlignCenter, text);
}

}  // namespace gui
