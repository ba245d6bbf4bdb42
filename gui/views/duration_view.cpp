#include "gui/views/duration_view.h"

#include <algorithm>
#include <cmath>

#include "sim/units/unit_text.h"

namespace gui {
namespace {

QString lengthLabel(double power) {
  return QString::fromStdString(sim::to_text(sim::to_seconds(sim::SimTime(std::llround(std::pow(10, power))))));
}
QString slicesLabel(double slices) { return QStringLiteral("%L1").arg(slices, 0, 'f', 0); }

bool isFuller(const DurationBin& a, const DurationBin& b) { return a.slices < b.slices; }

}  // namespace

DurationView::DurationView(QWidget* parent) : View(parent) {
  setAccessibleName(tr("How long the slices are"));
  setMinimumSize(160, 80);
}

void DurationView::setBins(std::vector<DurationBin> bins, const QString& of) {
  bins_ = std::move(bins);
  of_ = of;
  update();
  tellCurrent();
}

QString DurationView::current() const {
  if (bins_.empty()) return {};
  const DurationBin& fullest = *std::max_element(bins_.begin(), bins_.end(), isFuller);
  return tr("%1: most of them %2 to %3 (%L4)")
      .arg(of_, QString::fromStdString(sim::to_text(sim::to_seconds(fullest.least))),
           QString::fromStdString(sim::to_text(sim::to_seconds(fullest.most))))
      .arg(fullest.slices);
}

void DurationView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  if (bins_.empty()) {
    painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
    painter.setPen(theme.faint);
    painter.drawText(QRect(QPoint(0, 0), size), Qt::AlignCenter | Qt::TextWordWrap, tr("How long slices are: drag over a timeline"));
    return;
  }
  const auto power = [](sim::SimTime time) { return std::log10(std::max<double>(1, static_cast<double>(time.count()))); };
  const double most = static_cast<double>(std::max_element(bins_.begin(), bins_.end(), isFuller)->slices);
  const QString name = painter.fontMetrics().elidedText(of_, Qt::ElideRight, size.width() - 120);
  const ChartArea chart = paintAxes(painter, QRectF(QPointF(0, 0), size),
                                    {{tr("Duration"), {power(bins_.front().least), power(bins_.back().most)}, lengthLabel},
                                     {tr("Slices: %1").arg(name), {0, most * 1.08}, slicesLabel}},
                                    theme);
  for (const DurationBin& bin : bins_) {
    if (bin.slices == 0) continue;
    const QRectF bar(chart.at({power(bin.least), static_cast<double>(bin.slices)}), chart.at({power(bin.most), 0}));
    painter.fillRect(bar.adjusted(0.5, 0, -0.5, 0), theme.accent);
  }
}

}  // namespace gui
