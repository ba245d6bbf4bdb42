// The program `meshwright` without its main(): parses, calls the subcommand, and is the one place where errors become words.
#pragma once

#include <string>
#include <vector>

#include "sim/units/input_error.h"

namespace cli {

std::string error_text(const std::string& file, const std::vector<sim::Violation>& violations);  // a line each, its remedy below it

int run_application(int argc, const char* const* argv);  // returns the exit code (exit_code.h); throws nothing

}  // namespace cli
