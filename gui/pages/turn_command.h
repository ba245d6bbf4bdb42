// Another plan in place of the one that is shown, as a step of undo and redo: a turned knob, another row, a file.
#pragma once

#include <QUndoCommand>
#include <functional>
#include <utility>

#include "sim/plan/parallel_plan.h"

namespace gui {

class TurnCommand : public QUndoCommand {
 public:
  using Show = std::function<void(const sim::ParallelPlan& plan)>;
  enum class Turned { Now, Already };  // Already: by an earlier window
  TurnCommand(const QString& what, Show show, sim::ParallelPlan before, sim::ParallelPlan after, Turned turned = Turned::Now);
  void undo() override { show_(before_); }
  void redo() override {
    if (std::exchange(turned_, Turned::Now) == Turned::Now) show_(after_);
  }
  const sim::ParallelPlan& before() const { return before_; }
  const sim::ParallelPlan& after() const { return after_; }

 private:
  Show show_;
  sim::ParallelPlan before_, after_;
  Turned turned_;
};

}  // namespace gui
