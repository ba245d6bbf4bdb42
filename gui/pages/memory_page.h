// Journey 4: the memory of a device over the step, and what is alive at a moment. Planned, or recorded by
// PyTorch.
#pragma once

#include <QWidget>

#include "gui/jobs/background_job.h"
#include "gui/pages/memory_source.h"

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
  void setRun(const SharedRun& run);
  enum class Show { Plan, Snapshot, Both };  // Both: the plan, and what was measured as a line over it
  void choose(Show what);
  void chooseDevice(int device);
  MemoryView* view() const { return view_; }
  TablePanel* alive() const { return alive_; }
  QComboBox* sources() const { return sources_; }
  QComboBox* devices() const { return devices_; }
  QComboBox* order() const { return order_; }  // of what is alive: by microbatch, by layer

 private:
  void build();
  void refresh();
  std::optional<MeasuredMemory> measured() const;
  void show(MemorySource source);
  void show(MemoryPicture picture);
  void showMoment(sim::SimTime time);

  SharedPlan plan_;
  SharedSnapshot snapshot_;
  SharedRun run_;
  MemorySource source_;
  BackgroundJob drawing_, listing_;
  sim::SimTime length_{};
  MemoryView* view_;
  TablePanel* alive_;
  QComboBox *sources_, *devices_, *order_;
  QLabel* moment_;
};

}  // namespace gui
