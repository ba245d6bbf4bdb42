// Journey 7: a run beside the simulation of its plan, on one time axis, with the errors. Shows one SharedRun.
#pragma once

#include <QWidget>

#include "gui/core/measured_run.h"

class QLabel;

namespace gui {

class TablePanel;
class TimelineView;

class ComparePage : public QWidget {
  Q_OBJECT
 public:
  explicit ComparePage(QWidget* parent = nullptr);
  void setRun(const SharedRun& run);
  TimelineView* simulated() const { return simulated_; }
  TimelineView* measured() const { return measured_; }
  TablePanel* errors() const { return errors_; }
  TablePanel* gap() const { return gap_; }

 private:
  void build();
  void link();
  void follow(TimelineView* from, TimelineView* to, const sim::Timeline& there, int span);

  SharedRun run_;
  QLabel* summary_;
  TimelineView *simulated_, *measured_;
  TablePanel *errors_, *gap_, *shares_, *unmatched_;
  bool following_ = false;
};

}  // namespace gui
