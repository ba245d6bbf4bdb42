// Keeps a rank on the cores beside its GPU: those of the NUMA node that the GPU's bus belongs to. Whatever started the rank (mpirun, srun, torchrun), the
// threads that it starts later inherit it. Linux's /sys tells; where it tells nothing, nothing is bound.
#pragma once

#include <c10/core/Device.h>

#include <string>
#include <vector>

namespace executor {

// Cores of the node of a PCI device ("0000:1b:00.0"), of those that `allowed` names; empty: unknown, or none of them may be used.
std::vector<int> cores_beside(const std::string& bus, const std::vector<int>& allowed, const std::string& sys = "/sys");

std::vector<int> allowed_cores();        // of this process
std::string bus_of(c10::Device device);  // of a GPU; empty: not told

// Returns what was done, in words; empty: nothing. A CPU's rank stays where its launcher put it.
std::string bind_beside(c10::Device device);

}  // namespace executor
