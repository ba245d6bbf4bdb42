// The memory of a device over the step: categories stacked, the device's limit as a line, the peak named. A click chooses a moment.
#pragma once

#include <optional>
#include <vector>

#include "gui/core/memory_curve.h"
#include "gui/views/chart_axes.h"
#include "gui/views/view.h"

namespace gui {

struct MemoryBand {  // in which the stack may lie: from (1 - share) to (1 + share) of it, and `above` more
  double share = 0;
  sim::Bytes above{};
  QString name{};            // in the legend
  double out_of_memory = 0;  // chance that the peak is above the limit
  double high(double bytes) const { return bytes * (1 + share) + static_cast<double>(above.value()); }
  double low(double bytes) const { return bytes / (1 + share); }
  bool empty() const { return share <= 0 && above <= sim::Bytes(0); }
};
struct MemoryStripe {  // a layer's part of a category
  sim::MemoryCategory category{};
  MemoryCurve curve;
};
struct MemoryPicture {
  MemoryCurve curve;
  TimeRange all;                                                  // the step
  sim::Bytes limit{};                                             // of the device
  QString limit_name{};                                           // empty: the device's
  std::vector<std::pair<QString, sim::MemoryCategory>> legend{};  // empty: the categories of a plan
  MemoryCurve measured{};                                         // a line over the stack; may be empty
  QString measured_name{};
  MemoryBand band{};
  std::vector<MemoryStripe> stripes{};  // by category, from below; empty: none are shown
};

class MemoryView : public View {
  Q_OBJECT
 public:
  using View::View;
  void setPicture(MemoryPicture picture);
  void setShown(TimeRange range);
  TimeRange shown() const { return shown_; }
  TimeRange all() const { return picture_.all; }
  std::size_t numStripes() const { return picture_.stripes.size(); }
  void chooseMoment(sim::SimTime time);
  std::optional<sim::SimTime> moment() const { return moment_; }
  double xOf(sim::SimTime time) const;
  QString current() const override;
  void paintPicture(QPainter& painter, const QSize& size) override;

 Q_SIGNALS:
  void momentChosen(sim::SimTime time);

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  QString described() const;  // for those who do not see it
  QRectF plot(const QSize& size) const;
  double highest() const;
  double unit() const;
  Axis vertical() const;
  void paintStack(QPainter& painter, const QRectF& plot, const Axis& axis) const;
  void paintStripes(QPainter& painter, const QRectF& box, std::size_t category, TimeRange pixel) const;
  void paintPeak(QPainter& painter, const QRectF& plot, const Axis& axis, const Theme& theme) const;
  void paintLimit(QPainter& painter, const QRectF& plot, const Axis& axis, const Theme& theme) const;
  void paintBand(QPainter& painter, const QRectF& plot, const Axis& axis, const Theme& theme) const;
  void paintMeasured(QPainter& painter, const QRectF& plot, const Axis& axis, const Theme& theme) const;
  void paintMarks(QPainter& painter, const QRectF& plot, const Axis& axis, const Theme& theme) const;
  void paintTimes(QPainter& painter, const QRectF& plot, const Theme& theme) const;

  MemoryPicture picture_;
  TimeRange shown_;
  std::optional<sim::SimTime> moment_;
};

}  // namespace gui
