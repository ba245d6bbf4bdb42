// The closed form's layouts as a table and as a scatter with intervals, linked both ways; of the chosen one what it is made of and what was
// assumed. Part of the Plan page.
#pragma once

#include <QWidget>

#include "gui/core/estimate.h"

class QLabel;

namespace gui {

class ScatterView;
class TablePanel;

class EstimatePanel : public QWidget {
  Q_OBJECT
 public:
  explicit EstimatePanel(QWidget* parent = nullptr);
  void setEstimate(const SharedEstimate& estimate);
  void markPlan(const sim::ParallelPlan& plan);  // the row that it is
  const SharedEstimate& shownEstimate() const { return estimate_; }
  TablePanel* table() const { return table_; }
  TablePanel* parts() const { return parts_; }
  TablePanel* assumptions() const { return assumptions_; }
  ScatterView* scatter() const { return scatter_; }
  QLabel* sentence() const { return sentence_; }

 Q_SIGNALS:
  void layoutOpened(int position);  // wanted as a plan

 private:
  void build();
  void choose(int position);
  QString verdict() const;

  SharedEstimate estimate_;
  std::optional<sim::ParallelPlan> plan_;
  std::optional<std::size_t> shown_;  // the row that it is
  TablePanel *table_, *parts_, *assumptions_;
  ScatterView* scatter_;
  QLabel* sentence_;
};

}  // namespace gui
