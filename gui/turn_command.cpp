#include "gui/turn_command.h"

#include <QCoreApplication>

namespace gui {

TurnCommand::TurnCommand(Session& session, sim::ParallelPlan before, sim::ParallelPlan after, Turned turned)
    : QUndoCommand(QCoreApplication::translate("TurnCommand", "turn a knob")),
      session_(session),
      before_(std::move(before)),
      after_(std::move(after)),
      turned_(turned) {}

}  // namespace gui
