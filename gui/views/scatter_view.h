// What plans are ranked by against memory, a point a candidate, with the Pareto front as a line and the memory limit. The wheel, + and - zoom, 0 or a double
// click fits, L makes the axes logarithmic.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "gui/core/candidates.h"
#include "gui/views/chart_axes.h"
#include "gui/views/view.h"

namespace gui {

struct ScatterPoint {
  double measure = 0;  // by its objective: seconds of a step, of devices, of a training, or joules
  sim::Bytes memory{};
  bool on_front = false;
  Extent interval{0, 0};         // of the measure; empty: not stated
  Extent memory_interval{0, 0};  // of the bytes
};

class ScatterView : public View {
  Q_OBJECT
 public:
  explicit ScatterView(QWidget* parent = nullptr);
  void setCandidates(const std::vector<Candidate>& candidates, sim::Bytes limit, planner::Objective objective = planner::Objective::Step);
  void setPoints(const std::vector<ScatterPoint>& points, sim::Bytes limit);
  void setTips(std::function<QString(int position)> tip_of) { tip_of_ = std::move(tip_of); }
  void setVisible(const std::vector<bool>& visible);  // by position: what the table's filter lets through
  using View::setVisible;
  void choose(int position);  // -1: none
  int chosen() const { return chosen_; }
  void setLogarithmic(bool logarithmic);  // both axes
  bool isLogarithmic() const { return logarithmic_; }
  bool isZoomed() const { return zoom_.has_value(); }
  void fit();  // all plans
  QPointF pointOf(int position) const;
  QString current() const override;
  void paintPicture(QPainter& painter, const QSize& size) override;

 Q_SIGNALS:
  void pointChosen(int position);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;  // fits
  void wheelEvent(QWheelEvent* event) override;             // zooms where the mouse is
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Point {
    QPointF value;  // measure, units of memory
    bool on_front = false, shown = true;
    Extent interval{0, 0}, memory_interval{0, 0};  // as value
  };
  Axes axes() const;
  Axes wholeAxes() const;
  QString measureLabel(double measure) const;
  QPointF scaled(const QPointF& value) const;  // as it lies on the axes
  QPointF place(const QPointF& value) const { return chart_.at(scaled(value)); }
  void zoom(double factor, const QPointF& around);  // of the picture
  void addOwnActions();
  int nearest(const QPointF& pixel) const;
  void paintInterval(QPainter& painter, const ChartArea& chart, const Theme& theme) const;
  void paintFront(QPainter& painter, const ChartArea& chart, const Theme& theme) const;
  void paintPoints(QPainter& painter, const ChartArea& chart, const Theme& theme) const;

  std::vector<Point> points_;
  planner::Objective objective_ = planner::Objective::Step;
  std::function<QString(int position)> tip_of_;
  double unit_ = 1, limit_ = 0;  // bytes: MiB, or GiB where there are any
  int chosen_ = -1, hovered_ = -1;
  struct Zoom {
    Extent x, y;
  };
  std::optional<Zoom> zoom_;  // none: all plans
  bool logarithmic_ = false;
  ChartArea chart_;
};

}  // namespace gui
