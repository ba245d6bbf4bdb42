// Ctrl-C and SIGTERM as a flag, so that work ends at a good point. Used by the subcommands that take long.
#pragma once

#include <atomic>

namespace cli {

// From the first call on, SIGINT and SIGTERM set the flag; a third signal ends the process at once.
const std::atomic<bool>& interrupted();
bool insisted();  // a second signal came

}  // namespace cli
