// Journey 2: the knobs of the chosen plan. Says what a turn makes illegal, and what it changes against the plan before.
#pragma once

#include <QWidget>

#include "gui/core/knobs.h"
#include "gui/core/simulated_plan.h"

class QCheckBox;
class QComboBox;
class QLabel;
class QSpinBox;

namespace gui {

class CutView;

class KnobsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit KnobsPanel(QWidget* parent = nullptr);
  void setPlan(const sim::ParallelPlan& plan);  // what the knobs stand at
  void showEffect(const SharedPlan& now, const SharedPlan& before);
  void showRefusal();  // the window's message says why
  Knobs knobs() const;
  CutView* cut() const { return cut_; }

 Q_SIGNALS:
  void turned(const gui::Knobs& knobs);
  void cutMoved(const gui::Boundary& boundary);

 private:
  void build();
  QSpinBox *tensor_, *pipeline_, *chunks_, *microbatch_, *zero_, *unit_, *near_;
  QComboBox *schedule_, *accumulation_, *recompute_;
  QCheckBox* sequence_parallel_;
  QCheckBox *offload_optimizer_, *offload_activations_;
  CutView* cut_;
  QLabel *data_, *effect_;
};

}  // namespace gui
