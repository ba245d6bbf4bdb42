#include "gui/views/view.h"

#include <QPainter>

namespace gui {

View::View(QWidget* parent) : QWidget(parent) {
  setAttribute(Qt::WA_OpaquePaintEvent);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void View::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintPicture(painter, size());
}

}  // namespace gui
