// Named points where a test kills the process (--kill-at), to prove that a run resumes from wherever it died. Nothing outside of tests.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

namespace executor {

class FaultPoints {
 public:
  FaultPoints() = default;
  explicit FaultPoints(std::string kill_at) : kill_at_(std::move(kill_at)) {}

  bool is_armed() const { return !kill_at_.empty(); }
  void reach(std::string_view point) const {
    if (is_armed() && point == kill_at_) std::raise(SIGKILL);
  }

 private:
  std::string kill_at_;  // "save.10.shards", "step.7.s0.c0.m0.l1.forward.attention.none.0"
};

}  // namespace executor
