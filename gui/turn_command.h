// One turn of a knob, as a step of undo and redo. Made by the window.
#pragma once

#include <QUndoCommand>

#include "gui/session.h"

namespace gui {

class TurnCommand : public QUndoCommand {
 public:
  TurnCommand(Session& session, sim::ParallelPlan before, sim::ParallelPlan after);
  void undo() override { session_.show(before_, Session::Origin::Turned); }
  void redo() override { session_.show(after_, Session::Origin::Turned); }

 private:
  Session& session_;
  sim::ParallelPlan before_, after_;
};

}  // namespace gui
