#include "gui/views/histogram_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "sim/units/at.h"
#include "sim/units/unit_text.h"

namespace gui {
namespace {

QString ratioLabel(double power) { return QStringLiteral("\u00d7 %1").arg(std::exp2(power), 0, 'g', 2); }
QString percentLabel(double percent) { return QStringLiteral("%1 %").arg(percent, 0, 'g', 3); }

double centerRatio(const RatioBin& bin) { return std::sqrt(bin.least * bin.most); }

}  // namespace

HistogramView::HistogramView(QWidget* parent) : View(parent) {
  setAccessibleName(tr("Ratio of the durations of paired tasks"));
  setMinimumHeight(80);
}

void HistogramView::setBins(std::vector<RatioBin> bins) {
  bins_ = std::move(bins);
  choose(-1);
}

void HistogramView::choose(int bin) {
  chosen_ = bin;
  update();
  tellCurrent();
  Q_EMIT binChosen(bin);
}

QString HistogramView::current() const {
  if (chosen_ < 0) return {};
  const RatioBin& bin = sim::at(bins_, chosen_);
  return tr("%1: pairs %L2, %3")
      .arg(ratioLabel(std::log2(centerRatio(bin))))
      .arg(bin.pairs)
      .arg(QString::fromStdString(sim::to_text(sim::to_seconds(bin.time))));
}

QRectF HistogramView::barOf(std::size_t bin) const {
  sim::SimTime all{};
  for (const RatioBin& one : bins_) all += one.time;
  const double percent = all > sim::SimTime(0) ? 100 * static_cast<double>(bins_[bin].time.count()) / static_cast<double>(all.count()) : 0;
  return QRectF(chart_.at({std::log2(bins_[bin].least), percent}), chart_.at({std::log2(bins_[bin].most), 0})).adjusted(1, 0, -1, 0);
}

QPointF HistogramView::centerOf(int bin) const { return barOf(static_cast<std::size_t>(bin)).center(); }

void HistogramView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  if (bins_.empty()) {
    painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
    painter.setPen(theme.faint);
    painter.drawText(QRect(QPoint(0, 0), size), Qt::AlignCenter | Qt::TextWordWrap,
                     tr("Open a run to see how its tasks differ from their partners"));
    return;
  }
  sim::SimTime all{}, most{};
  for (const RatioBin& bin : bins_) all += bin.time, most = std::max(most, bin.time);
  const double highest = all > sim::SimTime(0) ? 100 * static_cast<double>(most.count()) / static_cast<double>(all.count()) : 1;
  chart_ = paintAxes(painter, QRectF(QPointF(0, 0), size),
                     {{tr("Duration in B / in A"), {std::log2(bins_.front().least), std::log2(bins_.back().most)}, ratioLabel},
                      {tr("Share of the time of B"), {0, highest * 1.08}, percentLabel}},
                     theme);
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    if (bins_[bin].pairs == 0) continue;
    const QRectF bar = barOf(bin);
    const WorkKindLook& look = lookOf(kindOfRatio(centerRatio(bins_[bin])));
    painter.fillRect(bar, colorOf(look.color));
    painter.fillRect(bar, patternBrush(look.pattern, look.color));
    painter.setPen(static_cast<int>(bin) == chosen_ ? QPen(theme.text, 2) : QPen(theme.faint, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(bar);
  }
}

void HistogramView::mousePressEvent(QMouseEvent* event) {
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    QRectF column = barOf(bin);
    column.setTop(chart_.plot.top());
    if (bins_[bin].pairs > 0 && column.contains(event->position()))
      return choose(static_cast<int>(bin) == chosen_ ? -1 : static_cast<int>(bin));
  }
  choose(-1);
}

void HistogramView::keyPressEvent(QKeyEvent* event) {
  const int step = event->key() == Qt::Key_Right ? 1 : event->key() == Qt::Key_Left ? -1 : 0;
  if (event->key() == Qt::Key_Escape) return choose(-1);
  if (step == 0) return View::keyPressEvent(event);
  for (int bin = chosen_ + step; bin >= 0 && bin < static_cast<int>(bins_.size()); bin += step)
    if (sim::at(bins_, bin).pairs > 0) return choose(bin);
}

}  // namespace gui
