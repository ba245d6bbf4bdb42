// Named points where a test kills the process (--kill-at), to prove that a run resumes from wherever it died, or where it lets ranks dawdle, to
// prove that no bit depends on who comes first. Nothing outside of tests.
#pragma once

#include <chrono>
#include <csignal>
#include <string>
#include <string_view>
#include <thread>

#include "executor/model/random.h"

namespace executor {

class FaultPoints {
 public:
  FaultPoints() = default;
  explicit FaultPoints(std::string kill_at) : kill_at_(std::move(kill_at)) {}
  // Rests of 0 to 3 ms at one point in eight; which and how long differ by key.
  static FaultPoints dawdling(RandomKey key) {
    FaultPoints points;
    points.rests_ = key;
    return points;
  }

  bool is_armed() const { return !kill_at_.empty() || rests_.value != 0; }
  void reach(std::string_view point) const {
    if (!kill_at_.empty() && point == kill_at_) std::raise(SIGKILL);
    const std::uint64_t bits = rests_.value == 0 ? 1 : random_bits(rests_, label_of(point));
    if (bits % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(bits / 8 % 3000));
  }

 private:
  std::string kill_at_;  // "save.10.shards", "step.7.s0.c0.m0.l1.forward.attention.none.0"
  RandomKey rests_;      // 0: none
};

}  // namespace executor
