// A picture: paints itself at any size onto anything that QPainter can reach, so the screen, PNG, SVG and PDF share one code path.
// Base of every picture of the window; used by share.
#pragma once

#include <QWidget>

namespace gui {

class View : public QWidget {
  Q_OBJECT
 public:
  explicit View(QWidget* parent = nullptr);
  virtual void paintPicture(QPainter& painter, const QSize& size) = 0;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace gui
