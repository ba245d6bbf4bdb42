// Reasons of the planner and the simulator in the language of the window: the planner's come as a code with arguments, the simulator's
// violations as sentences whose patterns the translation knows. Used by tables and messages.
#pragma once

#include <QString>
#include <string>
#include <vector>

#include "planner/reason.h"

namespace gui {

QString reasonText(const planner::Reason& reason);
QString reasonText(const std::vector<planner::Reason>& reasons);  // the first is the claim
QString violationText(const std::string& english);                // as it is, where nobody translated it

}  // namespace gui
