#include "gui/turn_command.h"

#include <QCoreApplication>

namespace gui {

TurnCommand::TurnCommand(Session& session, sim::ParallelPlan before, sim::ParallelPlan after, Turned turned, Session::Origin origin)
    : QUndoCommand(origin == Session::Origin::Turned ? QCoreApplication::translate("TurnCommand", "turn a knob")
                                                     : QCoreApplication::translate("TurnCommand", "choose a plan")),
      session_(session),
      before_(std::move(before)),
      after_(std::move(after)),
      turned_(turned),
      origin_(origin) {}

}  // namespace gui
