// A picture: paints itself at any size onto anything that QPainter can reach, so the screen, PNG, SVG and PDF share one code path.
// Base of every picture of the window; used by share. QT_LOGGING_RULES="meshwright.frames=true" writes into it how long it took to paint.
#pragma once

#include <QWidget>

namespace gui {

class View : public QWidget {
  Q_OBJECT
 public:
  explicit View(QWidget* parent = nullptr);
  virtual void paintPicture(QPainter& painter, const QSize& size) = 0;
  virtual QString current() const { return {}; }  // what is chosen in it, in words; empty: nothing

 protected:
  void paintEvent(QPaintEvent* event) override;
  void tellCurrent();  // to screen readers, when it is another
};

}  // namespace gui
