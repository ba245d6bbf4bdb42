// `lspci`, also with -D, -n, -v: a line a function of a card, "07:00.0 3D controller: NVIDIA Corporation GA100 [A100 SXM4 80GB] (rev a1)".
#pragma once

#include <string>
#include <vector>

#include "sim/cluster/machine_facts.h"

namespace sim {

bool is_lspci(const std::vector<std::string>& lines);

// Counts NVIDIA's and AMD's accelerators, and InfiniBand controllers: their virtual functions where the machine, a guest, sees no others.
// Ethernet says nothing here: which ports carry training isn't written.
void read_lspci(MachineFacts& facts, const std::vector<std::string>& lines);

}  // namespace sim
