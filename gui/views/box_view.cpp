#include "gui/views/box_view.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <utility>

#include "gui/core/ramp.h"
#include "gui/views/theme.h"

namespace gui {
namespace {

constexpr int kHead = 30, kScale = 120;

void paintBox(QPainter& painter, const Box& box, const Theme& theme) {
  if (box.share >= 0)
    painter.fillRect(box.area, colorOf(rampColor(box.share)));
  else if (box.framed) {
    painter.setPen(theme.grid);
    painter.setBrush(theme.band);
    painter.drawRect(box.area);
  }
  const QFontMetrics metrics = painter.fontMetrics();
  if (box.text.isEmpty() || metrics.horizontalAdvance(box.text) + 4 > box.area.width() || metrics.height() > box.area.height() + 4) return;
  painter.setPen(box.share >= 0 ? colorOf(readableOn(rampColor(box.share))) : theme.faint);
  painter.drawText(box.area, Qt::AlignCenter, box.text);
}

}  // namespace

void BoxView::setPicture(BoxPicture picture) {
  picture_ = std::move(picture);
  laid_out_ = QSize();
  update();
}

void BoxView::choose(int rank) {
  if (rank == chosen_) return;
  chosen_ = rank;
  update();
  tellCurrent();
  Q_EMIT rankChosen(rank);
}

QString BoxView::current() const {
  for (const Box& box : boxesAt(size()))
    if (box.rank >= 0 && box.rank == chosen_) return box.tip;
  return {};
}

const std::vector<Box>& BoxView::boxesAt(const QSize& size) const {
  if (std::exchange(laid_out_, size) != size)
    boxes_ = picture_.layout ? picture_.layout(QRectF(12, kHead, size.width() - 24, size.height() - kHead - 10)) : std::vector<Box>();
  return boxes_;
}

void BoxView::paintPicture(QPainter& painter, const QSize& size) {
  const Theme theme = themeOf(palette());
  painter.fillRect(QRect(QPoint(0, 0), size), theme.background);
  if (!picture_.layout) {
    painter.setPen(theme.faint);
    painter.drawText(QRect(QPoint(0, 0), size), Qt::AlignCenter | Qt::TextWordWrap, empty_text_);
    return;
  }
  for (const Box& box : boxesAt(size)) {
    paintBox(painter, box, theme);
    if (box.rank < 0 || box.rank != chosen_) continue;
    painter.setPen(QPen(theme.accent, 3));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(box.area.adjusted(1, 1, -1, -1));
  }
  paintScale(painter, size);
}

void BoxView::paintScale(QPainter& painter, const QSize& size) const {
  const Theme theme = themeOf(palette());
  painter.setPen(theme.text);
  painter.drawText(QRectF(12, 4, size.width() / 2.0, 20), Qt::AlignLeft | Qt::AlignVCenter, picture_.title);
  const double right = size.width() - 12 - painter.fontMetrics().horizontalAdvance(picture_.most) - 6;
  for (int x = 0; x < kScale; ++x)
    painter.fillRect(QRectF(right - kScale + x, 8, 1, 12), colorOf(rampColor(static_cast<double>(x) / (kScale - 1))));
  painter.setPen(theme.faint);
  painter.drawText(QRectF(right - kScale - 206, 4, 200, 20), Qt::AlignRight | Qt::AlignVCenter, picture_.least);
  painter.drawText(QRectF(right + 6, 4, 200, 20), Qt::AlignLeft | Qt::AlignVCenter, picture_.most);
}

int BoxView::rankAt(const QPointF& position) const {
  int rank = -1;
  for (const Box& box : boxesAt(size()))
    if (box.rank >= 0 && box.area.contains(position)) rank = box.rank;
  return rank;
}

QPointF BoxView::centerOf(int rank) const {
  for (const Box& box : boxesAt(size()))
    if (box.rank == rank) return box.area.center();
  return {};
}

void BoxView::mousePressEvent(QMouseEvent* event) {
  if (const int rank = rankAt(event->position()); rank >= 0) choose(rank);
}

void BoxView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (const int rank = rankAt(event->position()); rank >= 0) Q_EMIT rankOpened(rank);
}

void BoxView::mouseMoveEvent(QMouseEvent* event) {
  QString tip;
  for (const Box& box : boxesAt(size()))
    if (!box.tip.isEmpty() && box.area.contains(event->position())) tip = box.tip;
  QToolTip::showText(event->globalPosition().toPoint(), tip, this);
}

void BoxView::keyPressEvent(QKeyEvent* event) {
  int last = -1;
  for (const Box& box : boxesAt(size())) last = std::max(last, box.rank);
  switch (event->key()) {
    case Qt::Key_Right: return choose(std::min(chosen_ + 1, last));
    case Qt::Key_Left: return choose(std::max(chosen_ - 1, std::min(0, last)));
    case Qt::Key_Return:
      if (chosen_ >= 0) Q_EMIT rankOpened(chosen_);
      return;
    default: View::keyPressEvent(event);
  }
}

}  // namespace gui
