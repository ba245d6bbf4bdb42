// Can a process read another one's memory here (cross memory attach)? Then Open MPI moves a message with one copy that the receiver makes
// alone, while the sender computes. Some containers forbid it; Open MPI's own way out needs the sender's help for every message over 4 KiB.
#pragma once

namespace executor {

bool can_read_other_processes();

// Without cross memory attach: lets Open MPI copy messages up to 1 MiB through shared memory at once, so that a receiver does not
// wait for a sender that computes. Settings that the user made (OMPI_MCA_...) are kept.
void choose_shared_memory_copies(bool can_read);

}  // namespace executor
