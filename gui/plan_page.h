// Journey 1: the candidates as a table and as a scatter, linked both ways, and the families that are out. Shows what the session found.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/core/candidates.h"

class QLabel;

namespace gui {

class ScatterView;
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

 Q_SIGNALS:
  void candidateChosen(int position);

 private:
  void link();
  std::vector<Candidate> candidates_;
  TablePanel *table_, *exclusions_;
  ScatterView* scatter_;
  QLabel* proof_;
};

}  // namespace gui
