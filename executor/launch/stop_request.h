// SIGINT, SIGTERM and SIGUSR1 (which mpirun hands on to every rank) as a wish: finish the step, write a checkpoint, end with 130. SIGUSR2 asks where a
// rank that hangs is: its stack goes to stderr, and it goes on.
#pragma once

namespace executor {

void watch_stop_signals();
bool stop_requested();

}  // namespace executor
