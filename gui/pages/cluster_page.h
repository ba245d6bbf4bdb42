// Journey 5: where the ranks stand, on the machines with the loads of the links and on the mesh of the plan, colored by any metric.
// Shows one SharedPlan; a rank leads to its timeline.
#pragma once

#include <QWidget>

#include "gui/core/simulated_plan.h"

class QComboBox;
class QLabel;

namespace gui {

class BoxView;

class ClusterPage : public QWidget {
  Q_OBJECT
 public:
  explicit ClusterPage(QWidget* parent = nullptr);
  void setPlan(const SharedPlan& plan);
  BoxView* machines() const { return machines_; }
  BoxView* mesh() const { return mesh_; }
  QComboBox* metrics() const { return metrics_; }
  QLabel* rank() const { return rank_; }

 Q_SIGNALS:
  void rankOpened(int rank);

 private:
  void build();
  void refresh();
  void showNoMap();
  void choose(int rank);

  SharedPlan plan_;
  BoxView *machines_, *mesh_;
  QComboBox* metrics_;
  QLabel* rank_;
};

}  // namespace gui
