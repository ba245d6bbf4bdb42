// Arguments of a script or of one of its functions: $1 to $9 and beyond, as they are set, shifted and taken apart.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/recipe/shell_script.h"

namespace sim {

std::vector<std::string> arguments_of(const ShellScope& scope);
void set_arguments(ShellScope& scope, const std::vector<std::string>& values);  // whatever was given from outside
Verdict shift_arguments(ShellScope& scope, const std::string& by);              // `shift`, `shift 2`; No: there are not so many
// `getopts ab: NAME`: the next option into NAME, its value into OPTARG. No: there are no more.
Verdict next_option(ShellScope& scope, const std::string& letters, const std::string& name);
std::string place_of_options(const ShellScope& scope);  // of getopts; "": it was not asked
// ARGS=(--a 1), MORE="--b 2": of a text that only another script uses, as one command.
std::vector<std::string> options_of_variables(const ShellScope& scope);
std::vector<std::string> unused_in(const std::string& text, const ShellScope& scope);  // its variables that the text nowhere takes
// Of a command: how many devices it has, of which kind, and what its code may read. `in_front`: names that stand in front of it.
Texts environment_in(const ShellScope& scope, const std::set<std::string>& in_front);

}  // namespace sim
