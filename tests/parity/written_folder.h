// The folder that a program of the tests writes into: its one argument, made where it is not. Used by those whose files other tests read.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace parity {

enum class Before : bool { Anything, Nothing };  // what may lie in it already

// A word like --help is no folder, and nothing is ever removed: who wants it empty, empties it. Ends the program with 2, and the reason.
inline std::string written_folder(int argc, char** argv, Before before) {
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  if (argc < 2 || argv[1][0] == '-' || argv[1][0] == '\0') {
    std::fprintf(stderr, "usage: %s FOLDER\n", program.c_str());
    std::exit(2);
  }
  std::error_code failed;
  std::filesystem::create_directories(argv[1], failed);
  if (failed || (before == Before::Nothing && !std::filesystem::is_empty(argv[1], failed)) || failed) {
    std::fprintf(stderr, "%s: %s is %s; name one that is not there yet\n", program.c_str(), argv[1],
                 failed ? "no folder" : "not empty, and what is in it is not removed");
    std::exit(2);
  }
  return argv[1];
}

}  // namespace parity
