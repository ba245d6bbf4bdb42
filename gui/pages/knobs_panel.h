// Journey 2: the knobs of the chosen plan, a row a field of its layout. Those that say nothing about it hide. Says what a turn makes illegal, and
// what it changes against the plan before.
#pragma once

#include <QWidget>
#include <vector>

#include "gui/core/knobs.h"
#include "gui/core/simulated_plan.h"
#include "gui/jobs/message.h"

class QFormLayout;
class QLabel;

namespace gui {

class CutView;

class KnobsPanel : public QWidget {
  Q_OBJECT
 public:
  explicit KnobsPanel(QWidget* parent = nullptr);
  void setPlan(const sim::ParallelPlan& plan);  // what the knobs stand at
  void showEffect(const SharedPlan& now, const SharedPlan& before);
  void showRefusal();  // the window's message says why
  CutView* cut() const { return cut_; }
  QWidget* knob(std::string_view name) const;  // its number, choice, switch or line

 Q_SIGNALS:
  void edited(const sim::ParallelPlan& plan);
  void failed(const gui::Message& message);  // what was typed is no value

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;  // the wheel scrolls past a knob that nobody has chosen

 private:
  struct Row {
    const Knob* knob = nullptr;
    QWidget* editor = nullptr;
  };
  void build();
  QWidget* makeEditor(const Knob& knob);
  void show(const Row& row);
  void turn(const Knob& knob, sim::FieldValue value);
  void turnTo(const Knob& knob, const QString& typed);

  std::optional<sim::ParallelPlan> plan_;
  std::vector<Row> rows_;
  QFormLayout* form_;
  CutView* cut_;
  QLabel *data_, *effect_;
};

}  // namespace gui
