// Ctrl-C and SIGTERM end the program with 130, whenever they come; of subcommands that take long they set a flag, so that work ends at a good point.
#pragma once

#include <atomic>
#include <optional>
#include <thread>

#include "sim/units/sim_time.h"

namespace cli {

void end_on_signals();  // with 130, at once: until interrupted() is asked

// From the first call on, SIGINT and SIGTERM set the flag; a third signal ends the process at once.
const std::atomic<bool>& interrupted();
bool insisted();  // a second signal came

// Whether a search that has taken so long ends by its budget. It has an answer then: while nothing is found it goes on, a minute at most.
bool is_over(sim::Seconds spent, std::optional<sim::Seconds> budget, bool has_answer);

// Sets the flag when the time is over, or Ctrl-C comes; ends with what it returns.
std::jthread stop_when_over(std::optional<sim::Seconds> budget, const std::atomic<bool>& has_answer, std::atomic<bool>& stop);

}  // namespace cli
