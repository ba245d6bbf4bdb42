// What makes the simulated memory of a run on a GPU less sure than that of runs that were looked at while it was modelled: numbers of
// profiles/behavior/memory.json, each with its source there. Half widths, relative, whose squares add to that of Behavior::memory_interval.
#pragma once

#include <map>
#include <string>

#include "sim/units/json_fwd.h"

namespace sim {

struct ProgramMemory {
  double novelty = 0;             // 0: peaks of its runs are known
  bool holds_reductions = false;  // gradients that tensor ranks reduce beside other kernels may stay until a backward ends
};

struct MemoryNovelty {
  std::map<std::string, ProgramMemory> programs;  // by name of their software profiles
  double unknown_program = 0;                     // of all others
  double slices = 0;                              // samples that pass the pipeline in slices
  double host_activations = 0;                    // activations on the host
  ProgramMemory of(const std::string& program) const;
};

const MemoryNovelty& memory_novelty();  // read once; throws InputError
MemoryNovelty memory_novelty_from_json(const Json& json, const std::string& file);

}  // namespace sim
