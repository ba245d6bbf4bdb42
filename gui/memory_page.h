// Journey 4: the memory of a device over the step, and what is alive at a moment. Shows one SharedPlan.
#pragma once

#include <QWidget>

#include "gui/core/simulated_plan.h"

class QComboBox;
class QLabel;

namespace gui {

class MemoryView;
class TablePanel;

class MemoryPage : public QWidget {
  Q_OBJECT
 public:
  explicit MemoryPage(QWidget* parent = nullptr);
  void setPlan(const SharedPlan& plan);
  void chooseDevice(int device);
  MemoryView* view() const { return view_; }
  TablePanel* alive() const { return alive_; }
  QComboBox* devices() const { return devices_; }

 private:
  void build();
  void showMoment(sim::SimTime time);

  SharedPlan plan_;
  MemoryView* view_;
  TablePanel* alive_;
  QComboBox* devices_;
  QLabel* moment_;
};

}  // namespace gui
