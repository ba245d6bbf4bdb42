// Journey 3: the timeline of the chosen plan with its figures, what is selected, and a search. Shows one SharedPlan.
#pragma once

#include <QWidget>

#include "gui/core/simulated_plan.h"
#include "gui/core/view_state.h"
#include "gui/jobs/background_job.h"
#include "gui/models/table.h"

class QAction;
class QComboBox;
class QLabel;
class QLineEdit;

namespace gui {

class StepExplanation;
struct FoundSlices;
class Actions;
class TablePanel;
class TimelineView;

struct TimelineActions {  // that others follow, too
  QAction *every_rank, *dense, *matching, *flows;
};

class TimelinePage : public QWidget {
  Q_OBJECT
 public:
  explicit TimelinePage(QWidget* parent = nullptr);
  void setPlan(const SharedPlan& plan, const SharedPlan& before);  // before: its end stays as a ghost; may be null
  void showRank(sim::Rank rank);                                   // selects its first task
  void search(const QString& pattern);                             // a regular expression over task keys; empty: none
  ViewState viewState() const;
  void setViewState(const ViewState& state);                // kept over edits of the plan
  const NotesByPlan& otherNotes() const { return notes_; }  // of plans that are not shown
  void setOtherNotes(NotesByPlan notes) { notes_ = std::move(notes); }
  void showCritical(bool only);                  // the other tasks fade
  void showMatching(bool only);                  // devices without what is looked for hide
  TimelineActions addActions(Actions& actions);  // of the View menu
  void setDense(bool dense);                     // a line a rank; where they are more than fit, a line a group
  void collapse(bool all);                       // each group one line, or each device by itself
  TimelineView* view() const { return view_; }
  TablePanel* figures() const { return figures_; }
  TablePanel* details() const { return details_; }
  StepExplanation* explanation() const { return explanation_; }
  QComboBox* grouping() const { return grouping_; }
  QLineEdit* searchLine() const { return search_; }
  int numMatches() const { return static_cast<int>(matches_.size()); }

 Q_SIGNALS:
  void viewChanged();
  void collapsedChanged(bool any);

 private:
  void build();
  struct Looked {
    TimeRange shown;
    std::optional<std::uint32_t> span;  // of the timeline: what is selected
  };
  std::optional<Looked> lookedAt(const SimulatedPlan& next) const;  // what of the plan shown stays for the next one
  void takeNotes(const sim::ParallelPlan& next);
  void showSlice(int span);
  void nextMatch();
  void fade();
  void showFound(const FoundSlices& found);
  std::vector<std::size_t> devicesShown() const;  // top to bottom
  void orderDevices();
  void pin(std::size_t device);
  std::vector<DeviceGroup> groups(std::span<const std::size_t> order) const;
  void collapseWhatDoesNotFit();
  void collapseGroupOf(std::size_t device);
  void setCollapsed(std::set<std::int32_t> places);

  SharedPlan plan_;
  BackgroundJob looking_;
  std::vector<std::uint32_t> matches_;
  std::size_t match_ = 0;
  bool searching_ = false, only_critical_ = false, only_matching_ = false;
  TimelineView* view_;
  TablePanel *figures_, *details_;
  StepExplanation* explanation_;
  QLineEdit* search_;
  QComboBox* grouping_;
  NotesByPlan notes_;
  ViewState state_;  // without what the widgets hold themselves
  QLabel *summary_, *found_;
};

}  // namespace gui
