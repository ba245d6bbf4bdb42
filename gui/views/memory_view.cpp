#include "gui/views/memory_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

#include "gui/views/key_places.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

constexpr int kRightMargin = 20;
constexpr int kAbovePlot = 20;  // room for words that are on no curve

QString amountText(sim::Bytes bytes) { return QString::fromStdString(sim::to_text(bytes)); }

QColor bandColor(QColor text) {
  text.setAlpha(32);  // fainter than any category
  return text;
}

std::vector<LegendEntry> memoryLegend(const MemoryPicture& picture, const QColor& line_color) {
  std::vector<LegendEntry> entries;
  for (const auto& [name, category] : picture.legend) entries.push_back({name, colorOf(memoryColor(category))});
  if (!entries.empty()) return entries;
  if (!picture.band.empty()) entries.push_back({picture.band.name, bandColor(line_color)});
  if (!picture.measured_name.isEmpty()) entries.push_back({picture.measured_name, line_color});
  for (std::size_t category = 0; category < sim::kNumMemoryCategories; ++category) {
    std::string name(sim::kMemoryCategoryNames[category]);
    std::replace(name.begin(), name.end(), '_', ' ');
    entries.push_back({MemoryView::tr(name.c_str()), colorOf(memoryColor(static_cast<sim::MemoryCategory>(category)))});
  }
  return entries;
}

// Where it is one at all.
QString chanceText(const MemoryBand& band) {
  constexpr double kWorthSaying = 0.001;
  if (band.out_of_memory < kWorthSaying) return {};
  return MemoryView::tr("out of memory with a chance of %1").arg(QString::fromStdString(sim::percent(band.out_of_memory)));
}

}  // namespace

void MemoryView::setPicture(MemoryPicture picture) {
  picture_ = std::move(picture);
  shown_ = picture_.all;
  moment_.reset();
  setAccessibleDescription(described());
  update();
}

QString MemoryView::described() const {
  if (picture_.curve.empty()) return {};
  const auto peak = static_cast<double>(picture_.curve.peak().memory.value());
  QString text = tr("peak %1").arg(amountText(picture_.curve.peak().memory));
  const auto amount = [](double bytes) { return amountText(sim::Bytes(static_cast<std::int64_t>(bytes))); };
  if (!picture_.band.empty())
    text += tr(", %1: %2 to %3").arg(picture_.band.name, amount(picture_.band.low(peak)), amount(picture_.band.high(peak)));
  if (picture_.limit > sim::Bytes(0)) text += tr(", limit %1").arg(amountText(picture_.limit));
  if (const QString chance = chanceText(picture_.band); !chance.isEmpty()) text += QStringLiteral(", ") + chance;
  return text;
}

void MemoryView::setShown(TimeRange range) {
  shown_ = range;
  update();
}

void MemoryView::chooseMoment(sim::SimTime time) {
  moment_ = time;
  update();
  tellCurrent();
  Q_EMIT momentChosen(time);
}

QString MemoryView::current() const {
  if (!moment_ || picture_.curve.empty()) return {};
  return tr("%1 at %2")
      .arg(amountText(sim::total(picture_.curve.at(*moment_))), QString::fromStdString(sim::to_text(sim::to_seconds(*moment_))));
}

QRectF MemoryView::plot(const QSize& size) const {
  const int above = 14 + kAbovePlot + kLegendLine * legendLines(QFontMetricsF(font()), size.width() - 20, memoryLegend(picture_, {}));
  return QRectF(86, above, std::max(10.0, size.width() - 86.0 - kRightMargin), std::max(10, size.height() - above - 32));
}

double MemoryView::xOf(sim::SimTime time) const {
  const QRectF area = plot(size());
  return area.left() + TimeAxis(shown_, {static_cast<std::int32_t>(area.width())}).toX(time);
}

double MemoryView::highest() const {
  const double planned = picture_.band.high(static_cast<double>(picture_.curve.peak().memory.value()));
  const double peak = std::max(planned, static_cast<double>(picture_.measured.peak().memory.value()));
  const auto limit = static_cast<double>(picture_.limit.value());
  return limit > 0 && limit < 6 * peak ? std::max(peak, limit) : peak;  // a limit far above would flatten the curve
}

// The largest power of 1024 bytes below the highest value: ticks are round in it.
double MemoryView::unit() const {
  double unit = 1;
  while (highest() >= unit * 1024) unit *= 1024;
  return unit;
}

Axis MemoryView::vertical() const {
  static constexpr const char* kNames[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  const char* name = kNames[static_cast<int>(std::log2(unit()) / 10 + 0.5)];
  return {QString(), {0, std::max(1.0, highest() * 1.1 / unit())}, [name](double value) {
            return QStringLiteral("%1 %2").arg(value, 0, 'g', 4).arg(name);
          }};
}

void MemoryView::paintStack(QPainter& painter, const QRectF& area, const Axis& axis) const {
  const TimeAxis times(shown_, {static_cast<std::int32_t>(area.width())});
  const auto height = [&, scale = area.height() / (unit() * axis.extent.length())](sim::Bytes bytes) {
    return static_cast<double>(bytes.value()) * scale;
  };
  for (std::int32_t x = 0; x < times.width().value; ++x) {
    const sim::MemoryBreakdown alive = picture_.curve.highest({times.toTime(x), times.toTime(x + 1)});
    double bottom = area.bottom();
    for (std::size_t category = 0; category < alive.size(); ++category) {
      const double tall = height(alive[category]);
      if (tall <= 0) continue;
      const QRectF box(area.left() + x, bottom - tall, 1, tall);
      painter.fillRect(box, colorOf(memoryColor(static_cast<sim::MemoryCategory>(category))));
      paintStripes(painter, box, category, {times.toTime(x), times.toTime(x + 1)});
      bottom -= tall;
    }
  }
}

// Every second layer is darker, so that each is seen.
void MemoryView::paintStripes(QPainter& painter, const QRectF& box, std::size_t category, TimeRange pixel) const {
  std::vector<double> amounts;
  double all = 0;
  for (const MemoryStripe& stripe : picture_.stripes) {
    if (static_cast<std::size_t>(stripe.category) != category) continue;
    amounts.push_back(static_cast<double>(sim::total(stripe.curve.highest(pixel)).value()));
    all += amounts.back();
  }
  const QColor darker = colorOf(memoryColor(static_cast<sim::MemoryCategory>(category))).darker(125);
  double bottom = box.bottom();
  for (std::size_t at = 0; at < amounts.size() && all > 0; ++at) {
    const double tall = box.height() * amounts[at] / all;
    if (at % 2 == 1) painter.fillRect(QRectF(box.left(), bottom - tall, 1, tall), darker);
    bottom -= tall;
  }
}

// In which the planned total may lie.
void MemoryView::paintBand(QPainter& painter, const QRectF& area, const Axis& axis, const Theme& theme) const {
  if (picture_.band.empty()) return;
  const TimeAxis times(shown_, {static_cast<std::int32_t>(area.width())});
  const auto y_of = [&](double bytes) { return area.bottom() - bytes / unit() / axis.extent.length() * area.height(); };
  QPolygonF top;
  for (std::int32_t x = 0; x < times.width().value; ++x) {
    const auto planned = static_cast<double>(sim::total(picture_.curve.highest({times.toTime(x), times.toTime(x + 1)})).value());
    top << QPointF(area.left() + x, y_of(picture_.band.high(planned)));
    painter.fillRect(QRectF(top.last(), QPointF(area.left() + x + 1, y_of(picture_.band.low(planned)))), bandColor(theme.text));
  }
  painter.setPen(QPen(theme.faint, 1));  // narrow as it may be, it is seen
  painter.drawPolyline(top);
}

// What was measured, as a line.
void MemoryView::paintMeasured(QPainter& painter, const QRectF& area, const Axis& axis, const Theme& theme) const {
  const TimeAxis times(shown_, {static_cast<std::int32_t>(area.width())});
  const auto y_of = [&](double bytes) { return area.bottom() - bytes / unit() / axis.extent.length() * area.height(); };
  const auto total_of = [&](const MemoryCurve& curve, std::int32_t x) {
    return static_cast<double>(sim::total(curve.highest({times.toTime(x), times.toTime(x + 1)})).value());
  };
  QPolygonF line;
  for (std::int32_t x = 0; x < times.width().value && !picture_.measured.empty(); ++x)
    line << QPointF(area.left() + x, y_of(total_of(picture_.measured, x)));
  painter.setPen(QPen(theme.text, 2));
  painter.drawPolyline(line);
}

void MemoryView::paintTimes(QPainter& painter, const QRectF& area, const Theme& theme) const {
  const TimeAxis times(shown_, {static_cast<std::int32_t>(area.width())});
  painter.setPen(theme.faint);
  for (const Tick& tick : times.ticks({110})) {
    const double x = area.left() + times.toX(tick.time);
    painter.drawLine(QPointF(x, area.bottom()), QPointF(x, area.bottom() + 4));
    const QString label = QString::fromStdString(tick.label);
    const double half = painter.fontMetrics().horizontalAdvance(label) / 2.0 + 1, middle = std::min(x, area.right() + kRightMargin - half);
    painter.drawText(QRectF(middle - half, area.bottom() + 6, 2 * half, 18), Qt::AlignCenter, label);
  }
  painter.drawLine(area.bottomLeft(), area.bottomRight());
}

// Its words stand at the line where nothing else is, else above the plot.
void MemoryView::paintLimit(QPainter& painter, const QRectF& area, const Axis& axis, const Theme& theme) const {
  const auto y_of = [&](double bytes) { return area.bottom() - bytes / unit() / axis.extent.length() * area.height(); };
  const double limit = y_of(static_cast<double>(picture_.limit.value()));
  if (picture_.limit <= sim::Bytes(0) || limit < area.top()) return;
  painter.setPen(QPen(theme.warning, 1.5, Qt::DashLine));
  painter.drawLine(QPointF(area.left(), limit), QPointF(area.right(), limit));
  const QString text =
      (picture_.limit_name.isEmpty() ? tr("device limit %1") : picture_.limit_name + QStringLiteral(" %1")).arg(amountText(picture_.limit));
  const double most = std::max(picture_.band.high(static_cast<double>(picture_.curve.peak().memory.value())),
                               static_cast<double>(picture_.measured.peak().memory.value()));
  const double y = y_of(most) < limit ? area.top() - kAbovePlot : limit - 19;
  painter.drawText(QRectF(area.left(), y, area.width() - 6, 18), Qt::AlignRight, text);
  painter.drawText(QRectF(area.left() + 6, y, area.width(), 18), Qt::AlignLeft, chanceText(picture_.band));
}

// Named above the plot, where no curve is.
void MemoryView::paintPeak(QPainter& painter, const QRectF& area, const Axis& axis, const Theme& theme) const {
  const MemoryPeak peak = picture_.curve.peak();
  const double x = xOf(peak.time);
  if (x < area.left() || x > area.right()) return;
  const QString text = tr("peak %1").arg(amountText(peak.memory));
  const double y = area.bottom() - static_cast<double>(peak.memory.value()) / unit() / axis.extent.length() * area.height(),
               width = painter.fontMetrics().horizontalAdvance(text) + 10;
  painter.setPen(QPen(theme.text, 1, Qt::DotLine));
  painter.drawLine(QPointF(x, y), QPointF(x, area.top() - 2));
  const QRectF words(std::clamp(x - width / 2, area.left(), area.right() - width), area.top() - kAbovePlot, width, 18);
  painter.fillRect(words, theme.background);
  painter.setPen(theme.text);
  painter.drawText(words, Qt::AlignCenter, text);
}

void MemoryView::paintMarks(QPainter& painter, const QRectF& area, const Axis& axis, const Theme& theme) const {
  paintLimit(painter, area, axis, theme);
  if (moment_) {
    painter.setPen(QPen(theme.text, 1.5));
    painter.drawLine(QPointF(xOf(*moment_), area.top()), QPointF(xOf(*moment_), area.bottom()));
  }
  paintPeak(painter, area, axis, theme);
}

void MemoryView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
  const QRectF area = plot(size);
  painter.setPen(theme.faint);
  if (picture_.curve.empty()) {
    painter.drawText(QRect(QPoint(0, 0), size), Qt::AlignCenter | Qt::TextWordWrap,
                     tr("No plan yet: press Plan (Ctrl+Return), or open a plan file (Ctrl+O)"));
    return;
  }
  const Axis axis = vertical();
  paintVerticalScale(painter, area, axis, theme);
  paintStack(painter, area, axis);
  painter.save();
  painter.setClipRect(area.adjusted(0, -kAbovePlot, 1, 0));
  paintBand(painter, area, axis, theme);
  paintMeasured(painter, area, axis, theme);
  paintMarks(painter, area, axis, theme);
  painter.restore();
  paintTimes(painter, area, theme);
  paintLegend(painter, QRectF(10, 6, size.width() - 20, 20), memoryLegend(picture_, theme.text), theme);
}

void MemoryView::mousePressEvent(QMouseEvent* event) {
  const QRectF area = plot(size());
  if (picture_.curve.empty() || !area.contains(event->position())) return;
  chooseMoment(TimeAxis(shown_, {static_cast<std::int32_t>(area.width())}).toTime(event->position().x() - area.left()));
}

void MemoryView::wheelEvent(QWheelEvent* event) {
  const QRectF area = plot(size());
  const sim::SimTime about = TimeAxis(shown_, {static_cast<std::int32_t>(area.width())}).toTime(event->position().x() - area.left());
  setShown(zoomed(shown_, {about, std::pow(0.8, event->angleDelta().y() / 120.0)}, picture_.all));
}

void MemoryView::keyPressEvent(QKeyEvent* event) {
  const sim::SimTime tenth = shown_.length() / 10, middle = shown_.begin + shown_.length() / 2;
  switch (keyOf(*event)) {
    case Qt::Key_A: return setShown(panned(shown_, -tenth, picture_.all));
    case Qt::Key_D: return setShown(panned(shown_, tenth, picture_.all));
    case Qt::Key_W: return setShown(zoomed(shown_, {middle, 0.7}, picture_.all));
    case Qt::Key_S: return setShown(zoomed(shown_, {middle, 1 / 0.7}, picture_.all));
    case Qt::Key_F: return setShown(picture_.all);
    case Qt::Key_P: return chooseMoment(picture_.curve.peak().time);
    default: View::keyPressEvent(event);
  }
}

}  // namespace gui
