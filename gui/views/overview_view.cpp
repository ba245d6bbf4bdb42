#include "gui/views/overview_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cstring>

#include "gui/views/device_line.h"
#include "gui/views/theme.h"
#include "gui/views/timeline_view.h"
#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

constexpr int kStripHeight = 34, kStripLine = 2, kStripMargin = 3;

}  // namespace

OverviewView::OverviewView(TimelineView* timeline, QWidget* parent) : View(parent), timeline_(timeline) {
  setFixedHeight(kStripHeight);
  setAccessibleName(tr("Overview of the whole step"));
  setToolTip(tr("The whole step; press or drag to move what is shown"));
  connect(timeline, &TimelineView::rangeChanged, this, [this] { update(); });
  connect(timeline, &TimelineView::timelineChanged, this, [this] {
    strip_ = QImage();
    update();
  });
}

TimeAxis OverviewView::axis(const QSize& size) const {
  return {timeline_->whole(), {std::max(10, size.width() - TimelineView::kLabels - 2)}};
}

QRectF OverviewView::frame(const QSize& size) const {
  const TimeAxis times = axis(size);
  const double left = times.toX(timeline_->shown().begin), right = times.toX(timeline_->shown().end);
  return {TimelineView::kLabels + left, 0.5, std::max(3.0, right - left), size.height() - 1.0};
}

QString OverviewView::current() const {
  const auto text = [](sim::SimTime time) { return QString::fromStdString(sim::to_text(sim::to_seconds(time))); };
  return tr("%1 to %2 of %3").arg(text(timeline_->shown().begin), text(timeline_->shown().end), text(timeline_->whole().end));
}

const QImage& OverviewView::strip(const QSize& size) {
  const TimeAxis times = axis(size);
  const QSize wanted(times.width().value, size.height() - 2 * kStripMargin);
  if (strip_.size() == wanted) return strip_;
  const Theme theme = themeOf(palette());
  strip_ = QImage(wanted, QImage::Format_RGB32);
  strip_.fill(theme.band);
  const std::vector<DeviceRows> devices = rowsByDevice(timeline_->core());
  const auto most = sim::count_of(wanted.height() / kStripLine), shown = std::min(most, devices.size());
  DeviceLines lines(
      timeline_->core(), times, [this](const SliceRow& row, const Run& run) { return timeline_->colorOf(row, run.slice).value; },
      theme.band.rgb());
  for (std::size_t at = 0; at < shown; ++at) {
    const std::vector<std::uint32_t>& line = lines.line(devices[at * devices.size() / shown]);
    const auto top = static_cast<int>(at * sim::count_of(wanted.height()) / shown),
               bottom = static_cast<int>((at + 1) * sim::count_of(wanted.height()) / shown);
    for (int y = top; y < std::max(top + 1, bottom - (bottom - top > kStripLine ? 1 : 0)); ++y)
      std::memcpy(strip_.scanLine(y), line.data(), line.size() * sizeof(std::uint32_t));
  }
  return strip_;
}

void OverviewView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
  if (timeline_->core().numSlices() == 0) return;
  painter.drawImage(TimelineView::kLabels, kStripMargin, strip(size));
  const QRectF shown = frame(size);
  QColor veil = theme.background;
  veil.setAlpha(150);
  painter.fillRect(QRectF(TimelineView::kLabels, 0, shown.left() - TimelineView::kLabels, size.height()), veil);
  painter.fillRect(QRectF(shown.right(), 0, size.width() - shown.right(), size.height()), veil);
  painter.setPen(QPen(theme.accent, 1.5));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(shown);
  painter.setPen(theme.faint);
  painter.drawText(QRect(10, 0, TimelineView::kLabels - 20, size.height()), Qt::AlignLeft | Qt::AlignVCenter, tr("the whole step"));
}

void OverviewView::moveTo(double x) {
  const sim::SimTime middle = axis(size()).toTime(x - TimelineView::kLabels);
  const TimeRange shown = timeline_->shown();
  timeline_->setShown(panned(shown, middle - shown.begin - shown.length() / 2, timeline_->whole()));
}

void OverviewView::mousePressEvent(QMouseEvent* event) { moveTo(event->position().x()); }
void OverviewView::mouseMoveEvent(QMouseEvent* event) {
  if (event->buttons().testFlag(Qt::LeftButton)) moveTo(event->position().x());
}

void OverviewView::keyPressEvent(QKeyEvent* event) {
  const sim::SimTime tenth = timeline_->shown().length() / 10;
  switch (event->key()) {
    case Qt::Key_Left: return timeline_->setShown(panned(timeline_->shown(), -tenth, timeline_->whole()));
    case Qt::Key_Right: return timeline_->setShown(panned(timeline_->shown(), tenth, timeline_->whole()));
    default: View::keyPressEvent(event);
  }
}

void OverviewView::changeEvent(QEvent* event) {
  if (event->type() == QEvent::PaletteChange) strip_ = QImage();
  View::changeEvent(event);
}

}  // namespace gui
