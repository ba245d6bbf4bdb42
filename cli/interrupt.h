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

// Sets the flag when the time is up, or Ctrl-C comes; ends with what it returns.
std::jthread stop_when_over(std::optional<sim::Seconds> budget, std::atomic<bool>& stop);

}  // namespace cli
