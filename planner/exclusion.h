// Why a family of candidates is out: as a value (code and arguments), so that it can be shown in any language. Made by mesh_space,
// search_space and explanation; shown by whoever shows a SearchResult.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/reason.h"

namespace planner {

struct Exclusion {
  std::string family;               // "tensor=16"
  std::string code;                 // "memory", "divisibility", "node_size", "not_runnable", "bound", "shape"
  std::string reason;               // the constraint with its numbers
  std::vector<Argument> arguments;  // the same numbers as values
  std::string rule{};               // the code in full, "divisibility.heads": with the arguments all that a sentence needs (Reason)
  std::string nearest_fix;          // "recompute=full", "tensor=8", ...: checked; empty when no neighbour helps
  double bound = 0;                 // of a family that is beaten: no plan of it has a lower measure
  std::int64_t candidates = 0;      // members of the family; 0: refused before it was enumerated
};

// The reason and the remedy as an exclusion; no candidates are counted yet.
Exclusion exclude(std::string family, const Reason& reason, std::string nearest_fix);

}  // namespace planner
