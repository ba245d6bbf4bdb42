// Journey 8: a trace of a real program: its timeline, the event under the cursor with its arguments, what a range adds up to by name, and a
// search by pattern; its processes pinned, filtered and noted, kept as a file. Shows one SharedTrace.
#pragma once

#include <QWidget>

#include "gui/core/view_state.h"
#include "gui/import/imported_trace.h"
#include "gui/jobs/background_job.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;

namespace gui {

class Actions;
class LegendView;
class OverviewView;
class RangePanel;
class TablePanel;
class TimelineView;
struct TimelineActions;

class TracePage : public QWidget {
  Q_OBJECT
 public:
  explicit TracePage(QWidget* parent = nullptr);
  void setTrace(const SharedTrace& trace);
  void allowComparison(bool with_plan);  // there is a plan to hold the trace against
  void search(const QString& pattern);   // a regular expression over names; empty: none
  ViewState viewState() const;           // pinned: processes, counted from the top of the trace
  void setViewState(const ViewState& state);
  void follow(const TimelineActions& actions);  // of the Timeline page
  void addActions(Actions& actions);            // of the View menu
  QComboBox* coloring() const { return coloring_; }
  void showMatching(bool only);  // processes without what is looked for hide
  TimelineView* view() const { return view_; }
  TablePanel* event() const { return event_; }
  RangePanel* range() const { return range_; }
  TablePanel* statistics() const;
  TablePanel* busy() const { return busy_; }
  QLineEdit* searchLine() const { return search_; }
  QLabel* summary() const { return summary_; }
  std::size_t numMatches() const { return matches_.size(); }
  QPushButton* compareButton() const { return compare_; }

 Q_SIGNALS:
  void comparisonWanted(const gui::SharedTrace& trace);

 private:
  void build();
  void showEvent(int span);
  void addUp(TimeRange range);
  void nextMatch();
  std::vector<bool> devicesThatMatch() const;
  void orderDevices();
  void recolor();
  QString summaryText() const;

  SharedTrace trace_;
  ViewState state_;  // without what the widgets hold themselves
  bool only_matching_ = false, has_plan_ = false;
  std::vector<std::uint32_t> matches_;
  std::size_t match_ = 0;
  BackgroundJob adding_, naming_;
  TimelineView* view_;
  LegendView* legend_;
  RangePanel* range_;
  TablePanel *event_, *busy_;
  QLineEdit* search_;
  QPushButton* compare_;
  QComboBox* coloring_;  // by class, by name
  QLabel *summary_, *found_;
};

}  // namespace gui
