// Ctrl-C and SIGTERM end the program with 130, whenever they come; of subcommands that take long they set a flag, so that work ends at a good point.
#pragma once

#include <atomic>

namespace cli {

void end_on_signals();  // with 130, at once: until interrupted() is asked

// From the first call on, SIGINT and SIGTERM set the flag; a third signal ends the process at once.
const std::atomic<bool>& interrupted();
bool insisted();  // a second signal came

}  // namespace cli
