// The whole of a timeline on a strip, with the part that is shown framed in it: press or drag to move that part. Devices are lines of two
// pixels; of more than fit, every n-th. Used above the timelines of the Timeline and Trace pages.
#pragma once

#include <QImage>

#include "gui/core/timeline_core.h"
#include "gui/views/view.h"

namespace gui {

class TimelineView;

class OverviewView : public View {
  Q_OBJECT
 public:
  explicit OverviewView(TimelineView* timeline, QWidget* parent = nullptr);
  QRectF frame(const QSize& size) const;  // of what is shown
  QString current() const override;
  void paintPicture(QPainter& painter, const QSize& size) override;

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  TimeAxis axis(const QSize& size) const;
  void moveTo(double x);
  const QImage& strip(const QSize& size);

  TimelineView* timeline_;
  QImage strip_;  // of the timeline that is set, until it is another
};

}  // namespace gui
