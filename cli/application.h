// The program `meshwright` without its main(): parses, calls the subcommand, and is the one place where errors become words.
#pragma once

namespace cli {

int run_application(int argc, const char* const* argv);  // returns the exit code (exit_code.h); throws nothing

}  // namespace cli
