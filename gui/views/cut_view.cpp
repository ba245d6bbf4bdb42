#include "gui/views/cut_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/views/theme.h"

namespace gui {
namespace {

constexpr int kHeight = 30, kNear = 6;

}  // namespace

CutView::CutView(QWidget* parent) : View(parent) {
  setFixedHeight(kHeight);
  setAccessibleName(tr("Stage cut"));
}

void CutView::setPlan(const sim::ParallelPlan& plan) {
  first_ = plan.cut.first;
  layers_ = plan.head().value() + 1;
  stages_ = plan.mesh.pipeline;
  if (chosen_ >= first_.size()) chosen_ = 0;
  update();
}

QString CutView::current() const {
  return chosen_ == 0 ? QString() : tr("boundary %1, in front of unit %2").arg(chosen_).arg((dragging_ ? to_ : first_[chosen_]).value());
}

double CutView::xOf(sim::LayerIndex layer) const { return static_cast<double>(width()) * layer.value() / layers_; }

void CutView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
  for (std::size_t part = 0; part < first_.size(); ++part) {
    const double left = xOf(first_[part]), right = part + 1 < first_.size() ? xOf(first_[part + 1]) : size.width();
    const auto stage = static_cast<int>(part) % stages_;
    QColor fill = theme.accent;
    fill.setAlpha(stage % 2 == 0 ? 120 : 60);
    painter.fillRect(QRectF(left, 0, right - left - 1, size.height()), fill);
    painter.setPen(theme.text);
    const QString text = QString::number(stage);
    if (painter.fontMetrics().horizontalAdvance(text) + 2 < right - left)
      painter.drawText(QRectF(left, 0, right - left, size.height()), Qt::AlignCenter, text);
  }
  if (chosen_ == 0) return;
  const double x = xOf(dragging_ ? to_ : first_[chosen_]);
  painter.fillRect(QRectF(x - 1.5, 0, 3, size.height()), theme.warning);
}

std::size_t CutView::boundaryAt(double x) const {
  std::size_t best = 0;
  double least = kNear;
  for (std::size_t part = 1; part < first_.size(); ++part)
    if (const double away = std::abs(xOf(first_[part]) - x); away < least) {
      least = away;
      best = part;
    }
  return best;
}

void CutView::mousePressEvent(QMouseEvent* event) {
  chosen_ = boundaryAt(event->position().x());
  dragging_ = chosen_ > 0;
  if (dragging_) to_ = first_[chosen_];
  update();
}

void CutView::mouseMoveEvent(QMouseEvent* event) {
  const double x = event->position().x();
  setCursor(dragging_ || boundaryAt(x) > 0 ? Qt::SplitHCursor : Qt::ArrowCursor);
  if (!dragging_) return;
  to_ = sim::LayerIndex(std::clamp(static_cast<std::int32_t>(std::lround(x / width() * layers_)), 1, layers_ - 2));
  update();
}

void CutView::mouseReleaseEvent(QMouseEvent*) {
  const bool moved = dragging_ && to_ != first_[chosen_];
  dragging_ = false;
  if (moved) Q_EMIT boundaryMoved({chosen_, to_});
  update();
}

void CutView::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  if (first_.size() < 2 || (key != Qt::Key_Up && key != Qt::Key_Down && key != Qt::Key_Left && key != Qt::Key_Right))
    return View::keyPressEvent(event);
  if (key == Qt::Key_Up || key == Qt::Key_Down) {
    chosen_ = std::clamp<std::size_t>(key == Qt::Key_Down ? chosen_ + 1 : std::max<std::size_t>(chosen_, 1) - 1, 1, first_.size() - 1);
    return update();
  }
  if (chosen_ > 0) Q_EMIT boundaryMoved({chosen_, sim::LayerIndex(first_[chosen_].value() + (key == Qt::Key_Right ? 1 : -1))});
}

}  // namespace gui
