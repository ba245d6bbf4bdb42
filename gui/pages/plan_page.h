// Journey 1: the candidates as a table and as a scatter, linked both ways, and the families that are out. Shows what the session found.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/core/candidates.h"
#include "gui/core/last_answer.h"

class QLabel;
class QStackedLayout;

namespace gui {

class ScatterView;
class StartPanel;
class TablePanel;

class PlanPage : public QWidget {
  Q_OBJECT
 public:
  explicit PlanPage(QWidget* parent = nullptr);
  enum class First { Chosen, Listed };  // Chosen: the best is shown on all pages
  void setResult(const PlanAnswer& answer, First best = First::Chosen);
  void markPlan(const sim::ParallelPlan& plan);  // its row, where it is one
  const std::vector<Candidate>& candidates() const { return candidates_; }
  TablePanel* table() const { return table_; }
  TablePanel* exclusions() const { return exclusions_; }
  ScatterView* scatter() const { return scatter_; }
  QLabel* foot() const { return foot_; }
  StartPanel* start() const { return start_; }

 Q_SIGNALS:
  void candidateChosen(int position);
  void runWanted();  // of the chosen plan

 private:
  QWidget* result();
  void link();
  std::vector<Candidate> candidates_;
  std::vector<std::string> hashes_;  // of their plans
  TablePanel *table_, *exclusions_;
  ScatterView* scatter_;
  StartPanel* start_;  // until there is a result
  QLabel* foot_;       // below the tables
  QStackedLayout* shown_;
};

}  // namespace gui
