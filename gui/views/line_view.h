// A measured number over the steps of a run: loss, tokens a second. Grows while the run goes on.
#pragma once

#include <optional>
#include <vector>

#include "gui/views/chart_axes.h"
#include "gui/views/view.h"

namespace gui {

class LineView : public View {
  Q_OBJECT
 public:
  explicit LineView(const QString& title, QWidget* parent = nullptr) : View(parent), title_(title) { setAccessibleName(title); }
  void setPoints(std::vector<QPointF> points);    // step, value; ascending
  void setExpected(std::optional<double> value);  // of every step, as predicted: a dashed line
  std::optional<double> expected() const { return expected_; }
  std::size_t numPoints() const { return points_.size(); }
  QString current() const override;  // the last point
  void paintPicture(QPainter& painter, const QSize& size) override;

 private:
  QString title_;
  std::vector<QPointF> points_;
  std::optional<double> expected_;
};

}  // namespace gui
