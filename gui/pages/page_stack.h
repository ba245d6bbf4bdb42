// The pages, one in front: what each has to show, to export and to take the keyboard with.
#pragma once

#include <QTabWidget>
#include <functional>
#include <vector>

#include "gui/core/simulated_plan.h"
#include "sim/units/at.h"

namespace gui {

class Actions;
class AnswersPage;
class ClusterPage;
class ComparePage;
class MemoryPage;
class PlanPage;
class RunPage;
class TablePanel;
class TimelinePage;
class TracePage;
class View;

class PageStack : public QTabWidget {
  Q_OBJECT
 public:
  explicit PageStack(QWidget* parent = nullptr);
  PlanPage* plan() const { return plan_; }
  TimelinePage* timeline() const { return timeline_; }
  MemoryPage* memory() const { return memory_; }
  ClusterPage* cluster() const { return cluster_; }
  ComparePage* compare() const { return compare_; }
  RunPage* run() const { return run_; }
  TracePage* trace() const { return trace_; }
  AnswersPage* answers() const { return answers_; }

  void setPlan(const SharedPlan& now, const SharedPlan& before);  // on all pages
  void addActions(Actions& actions);                              // of the menu View: to turn to a page, to search the one in front
  void turnTo(int page);                                          // and gives it the keyboard: keys of a timeline work at once
  View* shownView() const;         // the picture that a person is in; where that is none, the page's main one
  TablePanel* shownTable() const;  // likewise
  QString shownName() const;       // of files: "timeline"
  bool showsPlan() const;          // the page in front is about the plan

 private:
  struct Row {
    QWidget* page;
    QString title;
    const char* name;
    std::function<View*()> view;
    std::function<TablePanel*()> table;
    QWidget* keys;  // takes the keyboard; null: the picture
  };
  const Row& shown() const { return sim::at(rows_, currentIndex()); }
  template <class Widget>
  Widget* focused() const;

  PlanPage* plan_;
  TimelinePage* timeline_;
  MemoryPage* memory_;
  ClusterPage* cluster_;
  ComparePage* compare_;
  RunPage* run_;
  TracePage* trace_;
  AnswersPage* answers_;
  std::vector<Row> rows_;  // in their order
};

}  // namespace gui
