// Journey 4: the memory of a device over the step, and what is alive at a moment. Planned, or recorded by
// PyTorch.
#pragma once

#include <QWidget>

#include "gui/memory_source.h"

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
  void setSnapshot(const SharedSnapshot& snapshot);
  void chooseDevice(int device);
  MemoryView* view() const { return view_; }
  TablePanel* alive() const { return alive_; }
  QComboBox* devices() const { return devices_; }

 private:
  void build();
  void show(MemorySource source);
  void showMoment(sim::SimTime time);

  MemorySource source_;
  sim::SimTime length_{};
  MemoryView* view_;
  TablePanel* alive_;
  QComboBox* devices_;
  QLabel* moment_;
};

}  // namespace gui
