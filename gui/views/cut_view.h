// Which layers each stage has, as one bar from the embedding to the head: a boundary is dragged, or moved by the arrow keys (up and down
// choose it).
#pragma once

#include <vector>

#include "gui/core/knobs.h"
#include "gui/views/view.h"

namespace gui {

class CutView : public View {
  Q_OBJECT
 public:
  explicit CutView(QWidget* parent = nullptr);
  void setPlan(const sim::ParallelPlan& plan);
  double xOf(sim::LayerIndex layer) const;  // of its left edge
  QString current() const override;
  void paintPicture(QPainter& painter, const QSize& size) override;

 Q_SIGNALS:
  void boundaryMoved(const gui::Boundary& boundary);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  std::size_t boundaryAt(double x) const;  // 0: none
  std::vector<sim::LayerIndex> first_;     // by virtual stage
  std::int32_t layers_ = 1, stages_ = 1;
  std::size_t chosen_ = 0;  // boundary in front of that virtual stage; 0: none
  bool dragging_ = false;
  sim::LayerIndex to_;
};

}  // namespace gui
