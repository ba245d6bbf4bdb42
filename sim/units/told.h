// How far a long loop is: called after each of `all`. What it throws ends the loop.
#pragma once

#include <cstdint>
#include <functional>

namespace sim {

using Told = std::function<void(std::int64_t done, std::int64_t all)>;

struct Counted {
  const Told& told;  // may be empty
  std::int64_t all = 0, done = 0;
  void one() {
    ++done;
    if (told) told(done, all);
  }
};

}  // namespace sim
