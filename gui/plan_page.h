// Journey 1: the candidates as a table and as a scatter, linked both ways, and the families that are out. Shows what the session found.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/core/candidates.h"

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
  void setResult(const planner::SearchResult& result, sim::Bytes limit);
  const std::vector<Candidate>& candidates() const { return candidates_; }
  TablePanel* table() const { return table_; }
  TablePanel* exclusions() const { return exclusions_; }
  ScatterView* scatter() const { return scatter_; }
  StartPanel* start() const { return start_; }

 Q_SIGNALS:
  void candidateChosen(int position);

 private:
  QWidget* result();
  void link();
  std::vector<Candidate> candidates_;
  TablePanel *table_, *exclusions_;
  ScatterView* scatter_;
  StartPanel* start_;  // until there is a result
  QLabel* proof_;
  QStackedLayout* shown_;
};

}  // namespace gui
