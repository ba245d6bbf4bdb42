// Below the timeline: idle time by cause, the critical path by kind and link by link, and what a range
// adds up to.
#pragma once

#include <QTabWidget>

#include "gui/core/simulated_plan.h"
#include "gui/core/slice_statistics.h"
#include "gui/jobs/background_job.h"
#include "gui/models/table.h"

namespace gui {

class DurationView;
class RangePanel;
class TablePanel;

struct FoundSlices {
  std::vector<std::uint32_t> spans{};    // of the timeline, ascending
  Table table{};                         // of the first of them
  std::vector<DurationBin> durations{};  // of all
  QString words{};                       // that were looked for
};

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
  void showFound(const FoundSlices& found);  // by the search; none: nothing was looked for
  TablePanel* found() const { return found_; }
  DurationView* foundDurations() const { return found_durations_; }

 Q_SIGNALS:
  void spanChosen(int span);  // of the timeline

 private:
  SharedPlan plan_;
  BackgroundJob explaining_;
  TablePanel *bubble_, *kinds_, *links_;
  RangePanel* range_;
  TablePanel* found_;
  DurationView* found_durations_;
  std::vector<std::uint32_t> spans_;  // of the rows that were found
};

}  // namespace gui
