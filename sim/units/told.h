// How far a long loop is: called after each of all. What it throws ends the loop. Of a loop in another process: in a file beside what it writes, "30 120".
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace sim {

struct HowFar {
  std::int64_t done = 0, all = 0;
};
using Told = std::function<void(const HowFar& far)>;

struct Counted {
  const Told& told;  // may be empty
  std::int64_t all = 0, done = 0;
  void one() {
    ++done;
    if (told) told({.done = done, .all = all});
  }
};

std::string told_beside(const std::string& output);  // that file
Told tell_beside(const std::string& output);         // writes it
HowFar how_far_beside(const std::string& output);    // zeros: the loop has not begun, or the file is being written

}  // namespace sim
