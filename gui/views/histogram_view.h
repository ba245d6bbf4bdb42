// How the durations of paired tasks differ: a bar for each range of their ratio, as tall as the time spent there. A click chooses a bar.
#pragma once

#include <vector>

#include "gui/core/comparison_errors.h"
#include "gui/views/chart_axes.h"
#include "gui/views/view.h"

namespace gui {

class HistogramView : public View {
  Q_OBJECT
 public:
  explicit HistogramView(QWidget* parent = nullptr);
  void setBins(std::vector<RatioBin> bins);
  void choose(int bin);  // -1: none
  int chosen() const { return chosen_; }
  QPointF centerOf(int bin) const;  // of its bar, as last painted
  QString current() const override;
  void paintPicture(QPainter& painter, const QSize& size) override;

 Q_SIGNALS:
  void binChosen(int bin);  // -1: none

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QRectF barOf(std::size_t bin) const;
  std::vector<RatioBin> bins_;
  int chosen_ = -1;
  ChartArea chart_;
};

}  // namespace gui
