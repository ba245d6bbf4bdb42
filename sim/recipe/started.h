// What a command starts, by the name of its script or module: whether that trains, what it trains, and whose defaults it has.
#pragma once

#include <string>

#include "sim/recipe/program.h"

namespace sim {

std::string started_program(const std::string& command);  // what stands behind it are its arguments; "": none

// Scripts that take a program's arguments for another work: they train nothing, have other steps, or another form of network.
void refuse_other_scripts(const std::string& path, const std::string& command, const Program& program, bool is_network_given);

std::string other_machine_of(const std::string& command);  // a script of JAX or XLA, by its name; "": none

// A script that is none of the program's own takes its arguments, and may have other values by itself: what it does not say of those that decide is told.
void tell_own_defaults(const Program& program, const std::string& command, Draft& draft);

}  // namespace sim
