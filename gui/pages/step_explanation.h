// Below the timeline: idle time by cause, the critical path by kind and link by link, and what a range
// adds up to.
#pragma once

#include <QTabWidget>

#include "gui/core/simulated_plan.h"
#include "gui/jobs/background_job.h"
#include "gui/models/table.h"

namespace gui {

class RangePanel;
class TablePanel;

class StepExplanation : public QTabWidget {
  Q_OBJECT
 public:
  explicit StepExplanation(QWidget* parent = nullptr);
  void setPlan(const SharedPlan& plan);
  void addUp(TimeRange range);  // of the timeline, by kind of task
  TablePanel* bubble() const { return bubble_; }
  TablePanel* kinds() const { return kinds_; }
  TablePanel* links() const { return links_; }
  TablePanel* range() const;
  RangePanel* rangePanel() const { return range_; }
  void showFound(const std::vector<std::uint32_t>& spans, Table table);  // by the search; none: nothing was looked for
  TablePanel* found() const { return found_; }

 Q_SIGNALS:
  void spanChosen(int span);  // of the timeline

 private:
  SharedPlan plan_;
  BackgroundJob explaining_;
  TablePanel *bubble_, *kinds_, *links_;
  RangePanel* range_;
  TablePanel* found_;
  std::vector<std::uint32_t> spans_;  // of the rows that were found
};

}  // namespace gui
