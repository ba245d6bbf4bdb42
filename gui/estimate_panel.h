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
  TablePanel* table() const { return table_; }
  TablePanel* parts() const { return parts_; }
  TablePanel* assumptions() const { return assumptions_; }
  ScatterView* scatter() const { return scatter_; }
  QLabel* sentence() const { return sentence_; }

 private:
  void build();
  void choose(int position);
  QString verdict() const;

  SharedEstimate estimate_;
  TablePanel *table_, *parts_, *assumptions_;
  ScatterView* scatter_;
  QLabel* sentence_;
};

}  // namespace gui
