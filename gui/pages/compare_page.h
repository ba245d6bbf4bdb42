// Journey 7: two steps on one time axis - a run and its simulation, two runs, the plan of the window - with their errors and the gap
// explained; a run calibrates the profile it was predicted with. Shows one ComparedSteps.
#pragma once

#include <QWidget>

#include "gui/jobs/background_job.h"
#include "gui/models/comparison_tables.h"

class QComboBox;
class QLabel;
class QPushButton;
class QTabWidget;

namespace gui {

class HistogramView;
class LegendView;
class TablePanel;
class TimelineView;
class View;

class ComparePage : public QWidget {
  Q_OBJECT
 public:
  explicit ComparePage(QWidget* parent = nullptr);
  void setRun(const SharedRun& run);  // its simulation against what was measured; later any two of all that were set
  void setTrace(const SharedTraceStep& trace, const SharedPlan& plan);  // beside the plan that it was joined with
  void setPlan(const SharedPlan& plan);                                 // the window's: a side to choose
  struct Places {                                                       // of the sides in the lists
    int left = 0, right = 0;
  };
  void compare(Places places);
  const SharedComparison& comparison() const { return steps_; }  // shown; may be null

  View* shownView() const;
  TimelineView* left() const { return left_; }
  TimelineView* right() const { return right_; }
  TimelineView* overlay() const { return overlay_; }
  TimelineView* difference() const { return difference_; }
  QTabWidget* pictures() const { return pictures_; }
  QTabWidget* lower() const { return lower_; }
  TablePanel* errors() const { return errors_; }
  TablePanel* gap() const { return gap_; }
  TablePanel* largest() const { return largest_; }
  TablePanel* unmatched() const { return unmatched_; }
  HistogramView* histogram() const { return histogram_; }
  QComboBox* sides(bool of_left) const { return of_left ? left_side_ : right_side_; }
  QLabel* summary() const { return summary_; }
  QLabel* chosen() const { return chosen_; }  // the task that is selected, on both sides
  QPushButton* calibrateButton() const { return calibrate_; }

 Q_SIGNALS:
  void calibrationWanted(const gui::SharedRun& run);
  void runWanted();  // to be chosen

 private:
  struct Shown;
  void build();
  QLayout* head();
  QWidget* tables();
  void link();
  void refresh();
  void show(const Shown& shown);
  void sayWhat();
  void follow(TimelineView* from, int span);
  void fadeOthers(int bin);
  void sayChosen(std::optional<std::uint32_t> left, std::optional<std::uint32_t> right);
  QString sideTitle(char letter, const ComparedSide& side) const;

  std::vector<ComparedSide> sides_;  // the window's plan first, where there is one
  bool has_plan_ = false;
  BackgroundJob comparing_;
  SharedComparison steps_;
  std::vector<Pair> largest_pairs_;
  QComboBox *left_side_, *right_side_;
  QPushButton* calibrate_;
  QLabel *summary_, *chosen_, *left_title_, *right_title_;
  LegendView* legend_;
  QTabWidget *pictures_, *lower_;
  TimelineView *left_, *right_, *overlay_, *difference_;
  HistogramView* histogram_;
  TablePanel *errors_, *gap_, *shares_, *largest_, *unmatched_;
  bool following_ = false;
};

}  // namespace gui
