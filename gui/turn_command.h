// Another plan in place of the one that is shown, as a step of undo and redo: a turned knob, another row, a file. Made by the window.
#pragma once

#include <QUndoCommand>
#include <utility>

#include "gui/session.h"

namespace gui {

class TurnCommand : public QUndoCommand {
 public:
  enum class Turned { Now, Already };  // Already: by an earlier window
  TurnCommand(Session& session, sim::ParallelPlan before, sim::ParallelPlan after, Turned turned = Turned::Now,
              Session::Origin origin = Session::Origin::Turned);
  void undo() override { session_.show(before_, origin_); }
  void redo() override {
    if (std::exchange(turned_, Turned::Now) == Turned::Now) session_.show(after_, origin_);
  }
  const sim::ParallelPlan& before() const { return before_; }
  const sim::ParallelPlan& after() const { return after_; }

 private:
  Session& session_;
  sim::ParallelPlan before_, after_;
  Turned turned_;
  Session::Origin origin_;
};

}  // namespace gui
