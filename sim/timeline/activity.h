// What one rank did in one step, added up: time by task kind, computing, communication and their overlap. The same sums are made of a
// simulated row and of a measured step, so that comparing is subtracting.
#pragma once

#include <map>
#include <span>
#include <string>

#include "sim/timeline/timeline.h"

namespace sim {

struct StepActivity {
  std::map<std::string, SimTime> kinds;  // kind_text -> sum of its spans, as they are: a communication's waiting included
  SimTime computing{};                   // sum of the spans that are no communication and no copy to or from the host
  SimTime busy{};                        // time in which something computes
  SimTime communicating{};               // time in which something communicates
  SimTime hidden{};                      // of it, while something computes
};
StepActivity activity_of(std::span<const Span> spans);

}  // namespace sim
