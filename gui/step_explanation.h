// Below the timeline: idle time by cause, and the critical path by kind and link by link. Used by the Timeline page.
#pragma once

#include <QTabWidget>

#include "gui/core/simulated_plan.h"

namespace gui {

class TablePanel;

class StepExplanation : public QTabWidget {
  Q_OBJECT
 public:
  explicit StepExplanation(QWidget* parent = nullptr);
  void setPlan(const SharedPlan& plan);
  TablePanel* bubble() const { return bubble_; }
  TablePanel* kinds() const { return kinds_; }
  TablePanel* links() const { return links_; }

 Q_SIGNALS:
  void spanChosen(int span);  // of the timeline

 private:
  SharedPlan plan_;
  TablePanel *bubble_, *kinds_, *links_;
};

}  // namespace gui
