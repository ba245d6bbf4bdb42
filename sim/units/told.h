// How far a long loop is: called after each of all. What it throws ends the loop.
#pragma once

#include <cstdint>
#include <functional>

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

}  // namespace sim
