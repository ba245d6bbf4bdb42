// How long slices of a selection are: a bar for each range of durations, on a logarithmic scale, as tall as there are slices.
#pragma once

#include <vector>

#include "gui/core/slice_statistics.h"
#include "gui/views/chart_axes.h"
#include "gui/views/view.h"

namespace gui {

class DurationView : public View {
  Q_OBJECT
 public:
  explicit DurationView(QWidget* parent = nullptr);
  void setBins(std::vector<DurationBin> bins, const QString& of);  // of: whose durations
  const std::vector<DurationBin>& bins() const { return bins_; }
  const QString& of() const { return of_; }
  QString current() const override;  // the fullest
  void paintPicture(QPainter& painter, const QSize& size) override;

 private:
  std::vector<DurationBin> bins_;
  QString of_;
};

}  // namespace gui
