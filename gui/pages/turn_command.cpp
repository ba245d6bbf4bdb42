#include "gui/pages/turn_command.h"

namespace gui {

TurnCommand::TurnCommand(const QString& what, Show show, sim::ParallelPlan before, sim::ParallelPlan after, Turned turned)
    : QUndoCommand(what), show_(std::move(show)), before_(std::move(before)), after_(std::move(after)), turned_(turned) {}

}  // namespace gui
