// Reasons of the planner and the simulator in the language of the window: the planner's come as a code with arguments, the simulator's
// violations, and what else is said in English, as sentences whose patterns the translation knows.
#pragma once

#include <QString>
#include <string>
#include <string_view>
#include <vector>

#include "planner/reason.h"
#include "sim/units/input_error.h"

namespace gui {

QString reasonText(const planner::Reason& reason);
QString reasonText(const std::vector<planner::Reason>& reasons);  // the first is the claim
QString sentenceText(const std::string& english);                 // of sim, planner or core; as it is, where nobody translated it
QString nameText(
    std::string_view name);  // of their tables: "optimizer_state" as "optimizer state"; keys ("step.norm_part") as they are searched for

QString notesText(const std::vector<sim::Violation>& notes);  // the first of them, and how many more there are
QString headerText(std::string_view words);                   // the same with a capital: of a column or a field

}  // namespace gui
